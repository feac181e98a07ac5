"""Measures and writes the rows of a policy: crossover, one-shot limit, chunk, CTAs, stages, direction.

  python3 bench/sweep --out my.yaml [--ranks 2,8] [--minutes 20]

Begins where the rule says: bytes in flight (CTAs x stages x stage bytes) of at least bandwidth x round trip,
with the fewest CTAs; then walks to whatever neighbour is faster, each size range by itself. Every figure is kept
in OUT.jsonl, and a second run with the same --out goes on from there. docs/perf.md says how to read the result.
"""
import argparse
import os
import platform
import shlex
import subprocess
import sys
import time

from group import Group
from instrument import Failed, Instrument, size_text, today
from policy import Writer
from settings import FOLLOWERS, ROLES, Limits, Setting, rule_ctas, with_ctas

SWEPT = ['all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all']
CLIMB_UNTIL = 0.75  # of the time; the rest is for confirming, refining and verifying
UNITS = {'KiB': 10, 'MiB': 20, 'GiB': 30}


def parse_size(text):
    for unit, shift in UNITS.items():
        if text.endswith(unit):
            return int(text[:-len(unit)]) << shift
    return int(text)


def arguments():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(prog='python3 bench/sweep', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', required=True, help='the policy to write; the journal is this name and .jsonl')
    parser.add_argument('--purlin', default=os.path.join(root, 'build', 'release', 'bin', 'purlin'))
    parser.add_argument('--minutes', type=float, default=20, help='stop after so many (20)')
    parser.add_argument('--ranks', default='', help='numbers of ranks, a list (one a GPU; 2 with fewer GPUs)')
    parser.add_argument('--collectives', default=','.join(SWEPT), help='a list (%s)' % ','.join(SWEPT))
    parser.add_argument('--device', choices=['cuda', 'host'], default='cuda')
    parser.add_argument('--atom', default='', help='the Atom to tune (what the policy chooses)')
    parser.add_argument('--base', default='', help='policy to begin from (found by search)')
    parser.add_argument('--begin', default='4KiB', help='least size, a power of two (4KiB)')
    parser.add_argument('--end', default='64MiB', help='greatest size (64MiB)')
    parser.add_argument('--factor', type=int, default=4, help='from one size to the next, a power of two (4)')
    parser.add_argument('--iters', type=int, default=0, help='calls timed a size (as many as fit 60 ms)')
    parser.add_argument('--name', default='', help='name of the policy (the device)')
    given = parser.parse_args()
    try:
        begin, end = parse_size(given.begin), parse_size(given.end)
        given.ranks = sorted({int(n) for n in given.ranks.split(',') if n})
    except ValueError as error:
        parser.error('--ranks, --begin, --end: %s' % error)
    powers = [begin, given.factor]
    if any(p < 2 or p & (p - 1) for p in powers) or end < begin:
        parser.error('--begin and --factor must be powers of two of at least 2, and --end not below --begin')
    if any(n < 2 or n > 64 for n in given.ranks):
        parser.error('--ranks: each must be from 2 to 64')
    given.sizes = [begin]
    while given.sizes[-1] * given.factor <= end:
        given.sizes.append(given.sizes[-1] * given.factor)
    given.collectives = given.collectives.split(',')
    wrong = [c for c in given.collectives if c not in ROLES]
    if wrong:
        parser.error('--collectives: %s is none of %s' % (wrong[0], ', '.join(ROLES)))
    return given


class Bench:
    """What all groups share."""

    def __init__(self, given):
        self.given, self.kind = given, given.device
        self.instrument = Instrument(given.purlin, given.device, given.out + '.jsonl', given.iters)
        self.gpus, self.driver, self.gpu_name = gpus() if self.kind == 'cuda' else (0, '', '')
        self.ranks = given.ranks or [max(2, self.gpus)]
        status, out, err = self.instrument.run('--version')
        if status != 0:
            raise Failed('purlin --version: ' + err.strip())
        self.version = out.strip()
        self.machine = {'processor': processor(), 'processors': os.cpu_count(), 'gpu': self.gpu_name,
                        'gpus': self.gpus, 'driver': self.driver, 'purlin': self.version}
        self.instrument.begin(self.machine)
        self.atom = given.atom
        self.architecture, self.multiprocessors, self.facts = '', 0, None
        if self.kind == 'cuda':
            self.measure_atom()
        device = self.architecture or 'host'
        self.base = {c: self.instrument.explain(c, given.sizes[-1], self.ranks[0], device, given.base)
                     for c in given.collectives}
        first = self.base[given.collectives[0]]
        if not self.atom and self.kind == 'cuda':
            self.atom = first['atom']['name']
        self.base_name = first['policy']['file']
        self.staging = tuple(int(first['settings']['staging.' + key]) for key in ('latency_bytes', 'throughput_bytes'))

    def measure_atom(self):
        peer = 1 if self.gpus > 1 and max(self.ranks) <= self.gpus else 0
        size = 256 << 20
        document = self.instrument.atom(self.atom, peer, [4, 8, 16, 32, 64, 128], size)
        self.architecture, self.multiprocessors = document['architecture'], document['multiprocessors']
        rows = document['rows']
        best = max(row['read_GBps'] for row in rows)
        enough = min(row['ctas'] for row in rows if row['read_GBps'] >= 0.95 * best)
        stages, stage_bytes = rows[0]['stages'], rows[0]['stage_bytes']
        fewest = rule_ctas(best, document['round_trip_ns'], stages, stage_bytes)
        self.facts = {'bandwidth': best, 'round_trip_ns': document['round_trip_ns'], 'stages': stages,
                      'stage_bytes': stage_bytes, 'fewest': fewest, 'enough': enough}

    def rule_text(self):
        if self.facts is None:
            return 'host ranks have no pipeline to fill; the sweep began from %s' % self.base_name
        f = self.facts
        return ('bandwidth %.0f GB/s x round trip %.0f ns = %s KiB in flight, which %d CTAs of %d x %s hold; by '
                'themselves the Atom needs %d CTAs for 95 %% of that bandwidth. The sweep began from both and from %s'
                % (f['bandwidth'], f['round_trip_ns'], round(f['bandwidth'] * f['round_trip_ns'] / 1024), f['fewest'],
                   f['stages'], size_text(f['stage_bytes']), f['enough'], self.base_name))

    def ranks_text(self):
        if self.kind == 'host':
            return 'threads of one process in host memory'
        return '; '.join('%d, %s' % (n, 'one a GPU' if n <= self.gpus else '%d a GPU (figures of one device, not of '
                                     'links)' % -(-n // self.gpus)) for n in self.ranks)

    def base_setting(self, collective):
        settings = self.base[collective]['settings']
        number = {key: int(value) if value.isdigit() else 0 for key, value in settings.items()}
        return Setting(settings['direction'], number['chunk'], number['ctas.stage'], number['ctas.reduce'],
                       number['ctas.gather'], number['stages'], number['stage_bytes'])

    def group(self, collective, ranks):
        f = self.facts
        base = self.base_setting(collective)
        if f:
            base = base._replace(stages=base.stages or f['stages'], stage_bytes=base.stage_bytes or f['stage_bytes'])
        ctas = self.multiprocessors // -(-ranks // self.gpus) if self.gpus else 3
        limits = Limits(ranks, self.staging[1], ctas)
        while base.chunk > limits.chunk:
            base = base._replace(chunk=base.chunk // 2)
        starts = [('base', base)]
        if f:
            for why, each in (('enough CTAs', f['enough']), ('rule', f['fewest'])):
                starts.insert(0, (why, with_ctas(base, collective, each, limits.ctas)))
            starts[-1] = ('base', scaled_down(base, collective, limits.ctas))
        return Group(collective, ranks, self.given.sizes, limits, starts, self)


def scaled_down(setting, collective, limit):
    """As the library does it: the roles in proportion."""
    total = sum(getattr(setting, role) for role in ROLES[collective])
    if total <= limit:
        return setting
    return setting._replace(**{r: max(1, getattr(setting, r) * limit // total) for r in ROLES[collective]})


def gpus():
    """(number, driver, name)"""
    try:
        done = subprocess.run(['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader'],
                              capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failed('nvidia-smi: %s; --device host rehearses without a GPU' % error) from error
    rows = [line.split(', ') for line in done.stdout.strip().splitlines()]
    return len(rows), rows[0][1], rows[0][0]


def processor():
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        names = [line.split(':', 1)[1].strip() for line in file if line.startswith('model name')]
    return names[0] if names else platform.machine()


def sweep(bench, deadline):
    """Measures until all is known or three quarters of the time are gone, then settles what was chosen."""
    begun = time.monotonic()
    climb_end = begun + CLIMB_UNTIL * (deadline - begun)
    groups = [bench.group(collective, ranks) for ranks in bench.ranks for collective in bench.given.collectives]
    for group in groups:
        if time.monotonic() < climb_end:
            group.begin()
            tell(group)
    climbing = [group for group in groups if group.is_measured()]
    while climbing and time.monotonic() < climb_end:
        group = climbing.pop(0)
        if group.climb():
            climbing.append(group)
        else:
            tell(group)
    for group in groups:
        for _ in range(3):
            if time.monotonic() >= deadline or not group.confirm():
                break
        if time.monotonic() < deadline:
            group.refine()
    return groups


def tell(group):
    rows = ['%s..%s %s' % (size_text(first), size_text(last), tuple(setting)) for first, last, setting in group.rows()]
    print('%s: %d settings measured, %d refused; %s' % (group.name(), len(group.samples), len(group.refused),
                                                        '; '.join(rows) or 'nothing serves'), flush=True)


def verify(bench, path, expected):
    """`purlin explain` finds each row, and results under the policy are right."""
    device = bench.architecture or 'host'
    for collective, ranks, size, setting in expected:
        answer = bench.instrument.explain(collective, size, ranks, device, path)
        wanted = 'latency' if setting is None else 'throughput'
        if answer['path'] != wanted:
            raise Failed('%s of %s at %d ranks takes path %s where %s was measured' % (
                collective, size_text(size), ranks, answer['path'], wanted))
        if setting and int(answer['settings']['chunk']) != setting.chunk:
            raise Failed('%s of %s at %d ranks has chunk %s where %d was measured' % (
                collective, size_text(size), ranks, answer['settings']['chunk'], setting.chunk))
    for collective, ranks in sorted({(c, n) for c, n, _, _ in expected}):
        sizes = [size for c, n, size, _ in expected if (c, n) == (collective, ranks)]
        for name in [collective] + ([FOLLOWERS[collective]] if collective in FOLLOWERS else []):
            status, out, err = bench.instrument.run(
                'perf', name, '-n', ranks, '--device', bench.kind, '-b', min(sizes), '-e', min(max(sizes), 16 << 20),
                '-f', 16, '--check', '--iters', 2, '--policy', path)
            if status != 0:
                raise Failed('perf %s --check with %s: %s' % (name, path, (err or out).strip()[-600:]))


def main():
    given = arguments()
    begun = time.monotonic()
    bench = Bench(given)
    groups = sweep(bench, begun + 60 * given.minutes)
    machine = ', '.join('%s %s' % (key, value) for key, value in bench.machine.items() if value and key != 'purlin')
    writer = Writer(groups, {
        'name': given.name or bench.gpu_name or 'host', 'kind': bench.kind, 'atom': bench.atom,
        'architecture': bench.architecture, 'staging': bench.staging,
        'base': (bench.base_name, bench.base_setting(given.collectives[0])),
        'machine': machine, 'purlin': bench.version, 'command': 'python3 bench/sweep ' + shlex.join(sys.argv[1:]),
        'ranks': bench.ranks_text(), 'rule': bench.rule_text(), 'minutes': given.minutes, 'sizes': given.sizes})
    if not writer.groups:
        raise Failed('nothing was measured; %s' % next((text for group in groups for text in group.refused.values()),
                                                       'give it more --minutes'))
    part = given.out + '.part.yaml'
    with open(part, 'w', encoding='utf-8') as file:
        file.write(writer.text())
    verify(bench, part, writer.expected())
    os.replace(part, given.out)
    print('%s: written and verified at %s; %d commands were run, %d were known' % (
        given.out, today(), bench.instrument.commands, len(bench.instrument.known) - bench.instrument.commands))


if __name__ == '__main__':
    try:
        main()
    except Failed as error:
        sys.exit('sweep: %s' % error)
