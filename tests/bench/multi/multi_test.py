"""bench/multi.sh: a whole rehearsal with CPU ranks, and what it makes of figures, failures and limits."""
import json
import os
import subprocess
import sys
import tempfile
import time
import types
import unittest

import level

_BUILD = os.environ['PURLIN_BINARY_DIR']
_FOLDER = os.path.join(level.ROOT, 'bench', 'multi')
sys.path.insert(0, _FOLDER)
import command  # noqa: E402
import decoder  # noqa: E402
import sizes  # noqa: E402
import summary  # noqa: E402
import tables  # noqa: E402


def run(out, *arguments, build=_BUILD):
    return subprocess.run([os.path.join(level.ROOT, 'bench', 'multi.sh'), '2', '--host', '--build', build, '--out', out,
                           *arguments], capture_output=True, text=True, timeout=280, check=False)


def read(folder, name='summary.json'):
    with open(os.path.join(folder, name), encoding='utf-8') as file:
        return json.load(file)


class Rehearsal(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.out = os.path.join(scratch.name, 'x2')

    def verdicts(self):
        return {stage['stage']: stage['verdict'] for stage in read(self.out)['stages']}

    def test_every_stage_with_cpu_ranks(self):
        if os.environ.get('PURLIN_SANITIZE'):
            level.skip('figures of sanitized code; the commands have tests of their own')
            return
        done = run(self.out, '--part', 'figures', '--minutes', '4', '--tuned', os.path.join(level.ROOT, 'config/host.yaml'))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found, verdicts = read(self.out), self.verdicts()
        level.count_cases(len(verdicts))
        self.assertEqual({name for name, verdict in verdicts.items() if verdict == 'skipped'} - {'symmetric_memory'}, {'links'})
        self.assertNotIn('failed', verdicts.values())
        for collective in sizes.SEVEN:
            self.assertGreater(found[collective]['latency_ratio'], 0)
            self.assertGreater(found[collective]['bandwidth_ratio'], 0)
        self.assertEqual(found['facts']['wrong'], 0)
        self.assertGreater(found['facts']['checked_rows'], 300)
        self.assertGreater(found['facts']['rows_with_bits_of_cpu_ranks'], 90)
        for key in ('command', 'commit', 'date'):
            self.assertTrue(found[key], key)
        for name in ('summary.md', 'rows.jsonl', 'logs.tar.gz'):
            self.assertGreater(os.path.getsize(os.path.join(self.out, name)), 1000)
        self.assertLessEqual(len(os.listdir(self.out)), 8)

    def test_a_command_that_fails_loses_only_its_own_figures(self):
        build = os.path.join(os.path.dirname(self.out), 'build')
        os.makedirs(os.path.join(build, 'bin'))
        with open(os.path.join(build, 'bin', 'purlin'), 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\ncase "$*" in *all_gather\\ *) echo "all_gather stumbled" >&2; exit 1 ;; esac\n'
                       'exec %s "$@"\n' % os.path.join(_BUILD, 'bin', 'purlin'))
        os.chmod(file.name, 0o755)
        done = run(self.out, '--stages', 'peer,latency,creation', '--nccl', os.path.join(_BUILD, 'lib', 'libnccl.so.2'),
                   build=build)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(self.verdicts(), {'peer': 'done', 'latency': 'failed', 'creation': 'done'})
        found = read(self.out)
        self.assertIsNone(found['all_gather']['latency_ratio'])
        self.assertGreater(found['all_reduce']['latency_ratio'], 0)
        said = next(stage for stage in found['stages'] if stage['stage'] == 'latency')['said']
        self.assertEqual(len(said), 1)
        self.assertIn('all_gather stumbled', said[0])

    def test_stages_that_no_time_is_left_for_are_skipped(self):
        done = run(self.out, '--minutes', '0.02')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        verdicts = self.verdicts()
        self.assertEqual({name for name, verdict in verdicts.items() if verdict == 'done'}, {'machine'})
        self.assertEqual(verdicts['decoder'], 'skipped')

    def test_wrong_command_lines(self):
        for arguments, part in ((['--stages', 'latncy'], 'latncy is no stage'), (['--part', 'all', '--build', '/'], 'bin/purlin')):
            done = run(self.out, *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(part, done.stderr)


class Figures(unittest.TestCase):
    def test_means_are_geometric_and_need_every_size(self):
        level.count_cases(4)
        rows = [{'size': size - 1, 'nccl_ratio': ratio} for size, ratio in ((1024, 2.0), (2048, 8.0))]
        found = summary.ratios([{'rows': rows}], [1024, 2048])
        self.assertEqual(found, {1024: 2.0, 2048: 8.0})
        self.assertAlmostEqual(summary.whole_mean(found, [1024, 2048]), 4.0)
        self.assertIsNone(summary.whole_mean(found, [1024, 2048, 4096]))
        self.assertIsNone(summary.geometric_mean([]))

    def test_sizes_of_a_real_run(self):
        self.assertEqual(sizes.latency_sizes(False), [1024 << shift for shift in range(10)])
        self.assertEqual([size >> 20 for size in sizes.bandwidth_sizes(False)], [1, 4, 16, 64, 256, 1024])
        self.assertEqual(sizes.asked(sizes.bandwidth_sizes(False)), ['-b', 1 << 20, '-e', 1 << 30, '-f', 4])

    def test_goals_name_every_collective(self):
        for measure in ('latency_ratio', 'bandwidth_ratio'):
            self.assertEqual(set(summary.goals()[measure]), set(sizes.SEVEN))
        self.assertEqual(tables.judged(1.5, 1.2, None), 'met')
        self.assertEqual(tables.judged(1.5, 1.2, 1.5), 'stretch met')
        self.assertEqual(tables.judged(0.9, 1.2, 1.5), 'missed by 25 %')
        self.assertEqual(tables.judged(None, 1.2, 1.5), 'not measured')

    def test_the_best_symmetric_peer_counts(self):
        documents = {('latency', 'all_reduce'): [('time_us', 2.0)], ('registered_latency', 'all_reduce'): [('nccl_time_us', 8.0)],
                     ('torch_one_shot', None): [('time_us', 4.0)]}

        def of(label, collective=None):
            found = documents.get((label, collective), [])
            return [{'rows': [{'size': 1024, key: {'median': value}}]} for key, value in found]

        session = types.SimpleNamespace(documents=of)
        self.assertAlmostEqual(summary.symmetric_latency(session, 'all_reduce', [1024]), 2.0)
        del documents[('torch_one_shot', None)]
        self.assertAlmostEqual(summary.symmetric_latency(session, 'all_reduce', [1024]), 4.0)


class Tokens(unittest.TestCase):
    def judged(self, purlin, nccl, size=2):
        level.count_cases(1)
        return decoder.judge(1, {'purlin': 2.0, 'nccl': 3.0}, {'purlin': set(purlin), 'nccl': set(nccl)}, size)

    def test_equal_tokens_are_right(self):
        row = self.judged(['[[1, 2]]'], ['[[1, 2]]'])
        self.assertTrue(row['right'])
        self.assertEqual(row['ratio'], 1.5)

    def test_others_are_not_with_two_ranks(self):
        row = self.judged(['[[1, 2]]'], ['[[1, 3]]'])
        self.assertFalse(row['right'])
        self.assertIn('token 1', row['said'])
        self.assertTrue(self.judged(['[[1, 2]]'], ['[[1, 3]]'], size=4)['right'])
        self.assertFalse(self.judged(['[[1, 2]]', '[[2, 2]]'], ['[[1, 2]]'], size=4)['right'])


class Commands(unittest.TestCase):
    def test_nothing_outlives_its_limit(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, 'log')
            fifo = os.path.join(folder, 'fifo')
            os.mkfifo(fifo)
            reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
            begun = time.monotonic()
            ended = command.run(['bash', '-c', 'exec 9>%s; sleep 200 & echo begun; wait' % fifo], log, 1, os.environ)
            os.set_blocking(reader, True)
            self.assertEqual(os.read(reader, 1), b'')  # comes when the last process that has the other end is gone
            os.close(reader)
            self.assertLess(time.monotonic() - begun, 60)
            self.assertEqual((ended.status, ended.text), (None, 'begun\n'))
            self.assertEqual(command.run(['bash', '-c', 'echo two; exit 3'], log, 10, os.environ)[::2], (3, 'two\n'))
            self.assertEqual(command.run(['/nowhere/x'], log, 10, os.environ).status, 127)
        level.count_cases(3)


if __name__ == '__main__':
    level.main()
