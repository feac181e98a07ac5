"""bench/sweep: on CPU ranks, against a model of two GPUs whose best settings are known, and its pure parts."""
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

import level

HERE = os.path.dirname(os.path.abspath(__file__))
SWEEP = os.path.join(level.ROOT, 'bench', 'sweep')
PURLIN = os.path.join(os.environ['PURLIN_BINARY_DIR'], 'bin', 'purlin')
sys.path[:0] = [SWEEP, HERE]

import choose  # noqa: E402
import stand_in  # noqa: E402
from settings import Limits, Setting, ctas_of, neighbours, rule_ctas, with_ctas  # noqa: E402

START = Setting('pull', 128 << 10, 16, 24, 16, 6, 32768)


def run(*arguments, environment=None):
    """(exit status, all output) of one sweep."""
    done = subprocess.run([sys.executable, '-B', SWEEP, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
                          env={**os.environ, **(environment or {})})
    level.count_cases(1)
    return done.returncode, done.stdout


def purlin(*arguments):
    return subprocess.run([PURLIN, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def obeys_schema(path):
    """Whether the policy obeys config/policy.schema.json; None where that cannot be asked."""
    try:
        import json

        import jsonschema
        import yaml
    except ImportError as missing:
        level.skip('no validation against the schema: %s' % missing)
        return None
    schema = json.loads(read(os.path.join(level.ROOT, 'config', 'policy.schema.json')))
    jsonschema.validate(yaml.safe_load(read(path)), schema)
    return True


class Choices(unittest.TestCase):
    def test_a_threshold_loses_no_more_than_any_other(self):
        chance = random.Random(level.SEED)
        for _ in range(200):
            sizes = [1 << k for k in range(10, 10 + chance.randint(1, 8))]
            large = {size: chance.uniform(1, 9) for size in sizes}
            small = {size: chance.uniform(1, 9) for size in sizes[:chance.randint(1, len(sizes))]}
            limit, regret = choose.threshold(small, large)
            for other in [None] + list(small):
                served = choose.joined(small, large, other)
                loss = sum(math.log(served[s] / min(t[s] for t in (small, large) if s in t)) for s in sizes)
                self.assertLessEqual(regret, loss + 1e-9, (small, large, limit, other))
            level.count_cases(1)

    def test_packets_that_always_win_serve_all_that_they_carry(self):
        self.assertEqual(choose.threshold({1: 1.0, 2: 1.0}, {1: 2.0, 2: 2.0, 4: 2.0}), (2, 0.0))
        self.assertEqual(choose.threshold({1: 3.0, 2: 3.0}, {1: 2.0, 2: 2.0, 4: 2.0}), (None, 0.0))

    def test_ranges_are_whole_in_order_and_not_slower_than_one_setting_for_all(self):
        chance = random.Random(level.SEED + 1)
        for _ in range(100):
            sizes = [1 << k for k in range(12, 12 + chance.randint(1, 7))]
            settings = [START._replace(chunk=8192 << k) for k in range(chance.randint(1, 5))]
            measured = {s: {size: chance.uniform(1, 4) for size in sizes} for s in settings}
            rows = choose.ranges(sizes, measured, lambda s: ctas_of(s, 'all_reduce'))
            self.assertEqual(rows[0][0], sizes[0])
            self.assertEqual(rows[-1][1], sizes[-1])
            for (_, last, _), (first, _, _) in zip(rows, rows[1:]):
                self.assertEqual(sizes.index(first), sizes.index(last) + 1)
            served = sum(math.log(measured[s][size]) for first, last, s in rows for size in sizes if first <= size <= last)
            for setting in settings:
                alone = sum(math.log(measured[setting][size]) for size in sizes)
                self.assertLessEqual(served, alone + len(sizes) * choose.TOLERANCE + choose.ROW_PRICE, rows)
            level.count_cases(1)

    def test_of_equal_times_the_fewest_ctas_count(self):
        few, many = START._replace(gather=8), START
        measured = {many: {4096: 10.0, 8192: 20.0}, few: {4096: 10.1, 8192: 20.1}}
        self.assertEqual(choose.ranges([4096, 8192], measured, lambda s: ctas_of(s, 'all_gather')),
                         [(4096, 8192, few)])

    def test_the_rule_has_the_fewest_ctas_that_fill_the_link(self):
        for bandwidth, delay, stages, size in ((336, 1800, 8, 16384), (1900, 600, 6, 32768), (1, 1, 64, 1 << 20)):
            ctas = rule_ctas(bandwidth, delay, stages, size)
            self.assertGreaterEqual(ctas * stages * size, bandwidth * delay)
            self.assertLess((ctas - 1) * stages * size, bandwidth * delay)

    def test_neighbours_stay_within_limits_and_can_go_back(self):
        limits = Limits(2, 32 << 20, 66)
        for collective in ('all_reduce', 'all_gather', 'reduce_scatter'):
            start = with_ctas(START, collective, 64, 66)
            self.assertTrue(limits.allows(start, collective))
            found = list(neighbours(start, collective, limits, True))
            self.assertTrue(found)
            for _, setting in found:
                self.assertTrue(limits.allows(setting, collective), setting)
            back = [s for _, s in neighbours(start._replace(chunk=start.chunk * 2), collective, limits, True)]
            self.assertIn(start, back)


class OnCpuRanks(unittest.TestCase):
    def test_a_rehearsal_writes_a_policy_that_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, 'host.yaml')
            arguments = ['--out', out, '--device', 'host', '--purlin', PURLIN, '--ranks', '2,3', '--collectives',
                         'all_reduce,all_to_all', '--begin', '1KiB', '--end', '64KiB', '--iters', 3, '--minutes', 2]
            status, text = run(*arguments)
            self.assertEqual(status, 0, text)
            written = read(out)
            for part in ('# command: python3 bench/sweep --out', '# machine: processor', 'commit', 'Not measured:',
                         'collectives: [all_to_all, all_to_all_v], ranks: 3', 'collectives: [all_reduce], ranks: 2'):
                self.assertIn(part, written)
            obeys_schema(out)
            for collective in ('all_reduce', 'all_to_all_v', 'broadcast'):
                done = purlin('explain', collective, '--bytes', '64KiB', '--ranks', 3, '--device', 'host', '--policy', out)
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(os.listdir(folder).count('host.yaml.part.yaml'), 0)

    def test_mistakes_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, 'host.yaml')
            for arguments, part in ((['--ranks', '1'], 'from 2 to 64'), (['--collectives', 'al_reduce'], 'is none of'),
                                    (['--begin', '3KiB'], 'powers of two'), (['--begin', 'x'], '--begin'),
                                    (['--purlin', '/nowhere'], 'cannot be run'),
                                    (['--minutes', '0'], 'nothing was measured')):
                status, text = run('--out', out, '--device', 'host', '--purlin', PURLIN, *arguments)
                self.assertNotEqual(status, 0)
                self.assertIn(part, text)
                self.assertFalse(os.path.exists(out))


class OnAModelOfGpus(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name in ('purlin', 'nvidia-smi'):
            path = os.path.join(self.folder.name, name)
            with open(path, 'w', encoding='utf-8') as file:
                file.write('#!/bin/sh\nexec %s -B %s %s "$@"\n' % (sys.executable, os.path.join(HERE, 'stand_in.py'), name))
            os.chmod(path, 0o755)
        self.environment = {'PATH': self.folder.name + ':' + os.environ['PATH'], 'REAL_PURLIN': PURLIN}
        self.out = os.path.join(self.folder.name, 'model.yaml')

    def sweep(self, *arguments):
        return run('--out', self.out, '--purlin', os.path.join(self.folder.name, 'purlin'), '--begin', '16KiB',
                   *arguments, environment=self.environment)

    def test_the_known_best_is_found_and_told_with_its_evidence(self):
        if purlin('plugins', '--device', 'sm_90').returncode != 0:
            level.skip('no Atom for sm_90 was built, so that no policy can be explained for it')
            return
        status, text = self.sweep('--minutes', 2)
        self.assertEqual(status, 0, text)
        written = read(self.out)
        obeys_schema(self.out)
        needed = stand_in.LINK_GBPS * stand_in.ROUND_TRIP_NS
        self.assertIn('round trip 1200 ns = %d KiB in flight' % round(needed / 1024), written)
        rows = re.findall(r'collectives: \[(\w+).*?bytes: (\S+?), direction: (\w+), chunk: (\w+), ctas: \{(.*?)\}, '
                          r'stages: (\d+), stage_bytes: (\w+)', written)
        self.assertEqual({row[0] for row in rows}, {'all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all'}, written)
        for collective, sizes, direction, chunk, ctas, stages, stage_bytes in rows:
            if not sizes.endswith('..'):
                continue
            self.assertEqual(direction, 'push' if collective == 'all_to_all' else 'pull', written)
            self.assertEqual(chunk, '256KiB', written)
            count = int(re.search(r'%s: (\d+)' % ('reduce' if collective == 'reduce_scatter' else 'gather'), ctas).group(1))
            in_flight = count * int(stages) * int(stage_bytes.replace('KiB', '')) * 1024
            self.assertGreaterEqual(in_flight, 0.97 * needed, written)
            self.assertLess(in_flight, 2.5 * needed, written)
        crossover = re.search(r'collectives: \[all_gather, all_gather_v\], ranks: 2, value: (\w+)', written).group(1)
        self.assertEqual(crossover, '128KiB', written)
        self.assertIn('do not fit', read(self.out + '.jsonl'))
        status, text = self.sweep('--minutes', 2)
        self.assertEqual(status, 0, text)
        self.assertIn('; 0 commands were run', text)

    def test_what_time_does_not_reach_is_named(self):
        if purlin('plugins', '--device', 'sm_90').returncode != 0:
            level.skip('no Atom for sm_90 was built, so that no policy can be explained for it')
            return
        status, text = self.sweep('--minutes', 0.001)
        if status != 0:  # not even the first group
            self.assertIn('nothing was measured', text)
            return
        self.assertIn('not reached in 0.001 minutes: ', read(self.out))

    def test_a_journal_of_another_machine_is_refused(self):
        with open(self.out + '.jsonl', 'w', encoding='utf-8') as file:
            file.write('{"machine": {"gpu": "another"}}\n')
        status, text = self.sweep('--minutes', 1)
        self.assertEqual(status, 1)
        self.assertIn('was measured with another processor', text)


if __name__ == '__main__':
    level.main()
