#!/usr/bin/env python3
"""What a communicator costs on one GPU: creation, memory, staging, a call beside an empty kernel, and where a small call's time goes.

  bench/gpu/costs.py OUT [--purlin COMMAND] [--device cuda|host] [--seconds 170]

Writes OUT/costs.jsonl, one document of `purlin perf --json` a line with `what` it was for, and OUT/summary.md. Parts come
in order of importance; what the time does not reach is named. --device host rehearses with CPU ranks.
"""
import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

KIB, MIB = 1 << 10, 1 << 20
LATENCY_SIZES = (KIB, 16 * KIB, 64 * KIB)


def size_text(size):
    return '%d MiB' % (size // MIB) if size >= MIB else '%d KiB' % (size // KIB) if size >= KIB else '%d B' % size


class Costs:
    def __init__(self, given, work):
        self.given, self.work = given, work
        self.gpu = given.device == 'cuda'
        self.end = time.monotonic() + given.seconds
        self.documents, self.failures, self.skipped = [], [], []
        self.cache = os.path.join(work, 'cache')

    def perf(self, what, *arguments, policy=None, facts=None):
        """The document of one run, kept with `what` and `facts`; None if it failed or there is no time."""
        left = self.end - time.monotonic()
        command = [self.given.purlin, 'perf', *map(str, arguments), '--device', self.given.device, '--timeout', '10']
        if left < 2:
            self.skipped.append(what)
            return None
        if policy:
            path = os.path.join(self.work, 'policy.yaml')
            with open(path, 'w', encoding='utf-8') as file:
                file.write(policy)
            command += ['--policy', path]
        document = os.path.join(self.work, 'row.json')
        try:
            done = subprocess.run(command + ['--json', document], capture_output=True, text=True, check=False,
                                  timeout=min(60, left), env={**os.environ, 'PURLIN_CACHE_DIR': self.cache})
        except subprocess.TimeoutExpired:
            self.failures.append('%s: not ended in time: %s' % (what, ' '.join(command)))
            return None
        if done.returncode != 0:
            self.failures.append('%s: %s' % (what, done.stderr.strip()[-400:]))
            return None
        with open(document, encoding='utf-8') as file:
            found = json.load(file)
        found.update(what=what, arguments=' '.join(map(str, arguments)), **(facts or {}))
        self.documents.append(found)
        return found

    # ---- The parts --------------------------------------------------------------------------------

    def creation(self):
        """Seconds and bytes: nothing linked yet, and everything cached."""
        for ranks in (2, 8):
            for state in ('cold', 'cached', 'cached', 'cached'):
                if state == 'cold':
                    shutil.rmtree(self.cache, ignore_errors=True)
                self.perf('creation', 'all_reduce', '-n', ranks, '-b', KIB, '-e', KIB, '--iters', 20,
                          facts={'cache': state})

    def split(self):
        """The calls whose differences say where a small all_reduce's time goes."""
        behind = ['--behind'] if self.gpu else []
        for size in LATENCY_SIZES:
            for name, arguments in (('one rank', ['-n', 1]), ('two ranks', ['-n', 2]),
                                    ('one rank alone', ['-n', 1, '--alone', 0]),
                                    ('two ranks, one alone', ['-n', 2, '--alone', 0])):
                self.perf('split', 'all_reduce', *arguments, '-b', size, '-e', size, '--path', 'latency', *behind,
                          '--check', policy=self.policy(one_shot=True), facts={'calls': name})
        self.perf('split', 'barrier', '-n', 1, *behind, policy=self.policy(), facts={'calls': 'barrier of one rank'})

    def overhead(self):
        """Calls back to back and behind an empty kernel."""
        for collective in ('barrier', 'all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all'):
            sizes = [] if collective == 'barrier' else ['-b', KIB, '-e', 256 * KIB, '-f', 16]
            for behind in ([], ['--behind']) if self.gpu else ([],):
                self.perf('overhead', collective, '-n', 2, *sizes, *behind, policy=self.policy())

    def staging(self):
        """Bandwidth against the staging of one half."""
        size = 128 * MIB if self.gpu else 8 * MIB
        for ranks in (2, 8):
            for collective in ('all_reduce', 'all_gather'):
                for half in (32 * MIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 64 * MIB):
                    self.perf('staging', collective, '-n', ranks, '-b', size, '-e', size, '--path', 'throughput',
                              '--iters', 40 if self.gpu else 5, policy=self.policy(staging=half, ranks=ranks),
                              facts={'throughput_bytes': half})

    def policy(self, staging=32 * MIB, ranks=2, one_shot=False):
        chunk = min(128 * KIB, staging // (2 * ranks))
        kind, one = self.given.device, 64 * KIB if one_shot else 4 * KIB
        return '\n'.join([
            'version: 1', 'name: written by costs.py', 'match: {kind: %s}' % kind,
            'crossover: %s' % ('256KiB' if self.gpu else '1KiB'), 'one_shot_limit: %d' % one if self.gpu else '',
            'staging: {latency_bytes: 4MiB, throughput_bytes: %d}' % staging,
            'tuning: {default: {chunk: %d}}' % chunk,
            'programs: [{kind: copy}, {kind: reduce, dtypes: [f32], ops: [sum]}]']) + '\n'

    # ---- What it comes to ---------------------------------------------------------------------------

    def of(self, what, **facts):
        return [d for d in self.documents if d['what'] == what and all(d.get(k) == v for k, v in facts.items())]

    def median(self, what, size=None, **facts):
        """Microseconds of the first row, or of that of `size`; None if it was not measured."""
        for document in self.of(what, **facts):
            for row in document['rows']:
                if size is None or row['size'] == size:
                    return row['time_us']['median']
        return None

    def empty(self):
        times = [row['empty_us'] for d in self.documents for row in d['rows'] if row.get('empty_us')]
        return sorted(times)[len(times) // 2] if times else None

    def creation_table(self):
        lines = ['| ranks | cold, ms | cached, ms (least of three) | bytes of GPU memory, all ranks |', '|---|---|---|---|']
        for ranks in (2, 8):
            cold = [d['communicator'] for d in self.of('creation', ranks=ranks, cache='cold')]
            cached = [d['communicator'] for d in self.of('creation', ranks=ranks, cache='cached')]
            if cold and cached:
                lines.append('| %d | %.0f | %.0f | %s |' % (
                    ranks, cold[0]['create_ms'], min(c['create_ms'] for c in cached), cached[0].get('device_bytes', '')))
        return lines

    def overhead_table(self):
        lines = ['| collective | size | back to back | behind | of that the empty kernel | the call behind it |',
                 '|---|---|---|---|---|---|']
        for document in self.of('overhead'):
            if '--behind' in document['arguments']:
                continue
            behind = [row for d in self.of('overhead', collective=document['collective'])
                      if '--behind' in d['arguments'] for row in d['rows']]
            for row in document['rows']:
                pair = next((b for b in behind if b['size'] == row['size']), None)
                cells = ['%.2f' % pair['time_us']['median'], '%.2f' % pair['empty_us'],
                         '%.2f' % (pair['time_us']['median'] - pair['empty_us'])] if pair else ['', '', '']
                lines.append('| %s | %s | %.2f | %s |' % (document['collective'], size_text(row['size']),
                                                          row['time_us']['median'], ' | '.join(cells)))
        return lines

    def split_table(self):
        """Differences, so each row's parts add up to the whole."""
        empty = self.empty() or 0.0
        barrier = self.median('split', calls='barrier of one rank')
        lines = ['| size | launch | epoch | load and store | send, look, reduce | flight and wait | together |',
                 '|---|---|---|---|---|---|---|']
        for size in LATENCY_SIZES:
            one, two, one_alone, two_alone = (self.median('split', size, calls=calls) for calls in (
                'one rank', 'two ranks', 'one rank alone', 'two ranks, one alone'))
            if None in (one, two, one_alone, two_alone, barrier):
                continue
            parts = [empty, barrier - 2 * empty, one - barrier, two_alone - one_alone,
                     two - one - (two_alone - one_alone)]
            lines.append('| %s | %s | %.2f |' % (size_text(size), ' | '.join('%.2f' % p for p in parts), two - empty))
        return lines

    def staging_table(self):
        lines = ['| ranks | collective | us by staging of one half | least within 2 % of the best |', '|---|---|---|---|']
        for ranks in (2, 8):
            for collective in ('all_reduce', 'all_gather'):
                times = {d['throughput_bytes']: d['rows'][0]['time_us']['median']
                         for d in self.of('staging', ranks=ranks, collective=collective)}
                if times:
                    best = min(times.values())
                    lines.append('| %d | %s | %s | %s |' % (
                        ranks, collective, ', '.join('%s %.0f' % (size_text(h), times[h]) for h in sorted(times)),
                        size_text(min(h for h, t in times.items() if t <= 1.02 * best))))
        return lines

    def summary(self, machine):
        named = sorted(set(self.skipped))
        return '\n'.join([
            '# What a communicator costs', '', '| | |', '|---|---|', '| command | `bench/gpu/costs.py %s` |' % self.given.out,
            '| machine | %s |' % machine, '| purlin | %s |' % (self.documents[0]['purlin'] if self.documents else '?'),
            '| date | %s |' % datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d'), '',
            'Microseconds a call, medians of the slowest rank; ranks share one device.', '',
            '## Creation, with the policy found by search', '', *self.creation_table(), '',
            '## Two ranks beside an empty kernel in graphs of 20', '', *self.overhead_table(), '',
            '## Where a one-shot all_reduce of two ranks spends its time', '',
            'Differences of whole calls%s: launch is an empty kernel; epoch a barrier of one rank beyond that; load and store an'
            % (', each behind an empty kernel' if self.gpu else ''),
            'all_reduce of one rank beyond the barrier; send, look and reduce what a rank alone takes with a peer beyond without',
            'one, packets being there already; flight and wait what is left of two ranks together.', '',
            *self.split_table(), '', '## Throughput staging', '', *self.staging_table(), '',
            'Not reached in time: %s. Failed: %s.' % (', '.join(named) or 'nothing', '; '.join(self.failures) or 'nothing'),
            '']) + '\n'


def machine_text(gpu):
    if gpu:
        try:
            done = subprocess.run(['nvidia-smi', '--query-gpu=name,driver_version,clocks.max.sm',
                                   '--format=csv,noheader'], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            return 'unknown: nvidia-smi: %s' % error
        return done.stdout.strip().splitlines()[0]
    return '%d processors, CPU ranks (a rehearsal)' % os.cpu_count()


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out')
    parser.add_argument('--purlin', default=os.path.join(root, 'build', 'release', 'bin', 'purlin'))
    parser.add_argument('--device', choices=['cuda', 'host'], default='cuda')
    parser.add_argument('--seconds', type=float, default=170)
    given = parser.parse_args()
    os.makedirs(given.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        costs = Costs(given, work)
        for part in (costs.creation, costs.split, costs.overhead, costs.staging):
            part()
    with open(os.path.join(given.out, 'costs.jsonl'), 'w', encoding='utf-8') as file:
        file.writelines(json.dumps(document) + '\n' for document in costs.documents)
    text = costs.summary(machine_text(costs.gpu))
    with open(os.path.join(given.out, 'summary.md'), 'w', encoding='utf-8') as file:
        file.write(text)
    print(text)
    for failure in costs.failures:
        print('costs.py: ' + failure, file=sys.stderr)
    return 1 if costs.failures else 0


if __name__ == '__main__':
    sys.exit(main())
