"""The policy that the sweep writes: its rows, each with what it was measured from."""
import textwrap

from instrument import size_text, today
from settings import FOLLOWERS, ROLES, ctas_of

COLLECTIVES = ('all_gather', 'reduce_scatter', 'all_reduce', 'all_to_all', 'all_gather_v', 'reduce_scatter_v',
               'all_to_all_v', 'broadcast', 'reduce', 'scatter', 'gather', 'send_recv', 'custom')


def comment(text, indent=''):
    return textwrap.wrap(text, 112, initial_indent=indent + '# ', subsequent_indent=indent + '# ',
                         break_long_words=False, break_on_hyphens=False)


def rank_ranges(measured):
    """{ranks: the range of its row}. Numbers between two measured ones take the row of the greater."""
    measured = sorted(set(measured))
    texts = {}
    for before, here in zip([None] + measured, measured):
        first = here if before is None else before + 1
        texts[here] = str(here) if first == here else '%d..%d' % (first, here)
    return texts


def setting_text(setting, collective, kind, directed=True):
    parts = ['direction: %s' % setting.direction] if directed else []
    parts.append('chunk: %s' % size_text(setting.chunk))
    if kind == 'cuda':
        parts.append('ctas: {%s}' % ', '.join('%s: %d' % (role, getattr(setting, role)) for role in ROLES[collective]))
        if setting.stages:
            parts.append('stages: %d' % setting.stages)
        if setting.stage_bytes:
            parts.append('stage_bytes: %s' % size_text(setting.stage_bytes))
    return ', '.join(parts)


def names_of(collective, swept):
    follower = FOLLOWERS.get(collective)
    return [collective] + ([follower] if follower and follower not in swept else [])


def times_text(times):
    return ', '.join('%s %.4g' % (size_text(size), time) for size, time in sorted(times.items()))


class Writer:
    def __init__(self, groups, facts):
        """`facts`: name, kind, atom, architecture, staging, base (name and setting), machine, purlin, command,
        ranks, rule, minutes and sizes of the sweep."""
        self.facts = facts
        self.groups = [group for group in groups if group.is_measured()]
        self.missing = [group.name() for group in groups if not group.is_measured()]
        self.swept = {group.collective for group in self.groups}
        self.rank_ranges = {collective: rank_ranges(group.ranks for group in self.groups
                                                    if group.collective == collective)
                            for collective in self.swept}

    def text(self):
        return '\n'.join(self.heading() + self.body()) + '\n'

    def heading(self):
        facts = self.facts
        lines = comment('%s: written by bench/sweep on %s. Keys: docs/policy.md; the figures: docs/perf.md.'
                        % (facts['name'], today()))
        for key in ('command', 'machine', 'purlin', 'ranks', 'rule'):
            lines += comment('%s: %s' % (key, facts[key]))
        others = [c for c in COLLECTIVES if c not in {n for s in self.swept for n in names_of(s, self.swept)}]
        lines += comment('Not measured: %s, which take the defaults of %s; numbers of ranks that no row names; the '
                         'staging sizes; sizes below %s and above %s.' % (
                             ', '.join(others), facts['base'][0], size_text(facts['sizes'][0]),
                             size_text(facts['sizes'][-1])))
        if self.missing:
            lines += comment('Asked for, and not reached in %g minutes: %s.' % (facts['minutes'],
                                                                                '; '.join(self.missing)))
        return lines

    def body(self):
        facts = self.facts
        match = 'kind: %s' % facts['kind']
        if facts['architecture']:
            match += ', architecture: [%s]' % facts['architecture']
        lines = ['version: 1', 'name: %s' % facts['name'], 'match: {%s}' % match]
        if facts['atom']:
            lines.append('datapath: {prefer: [%s, auto]}' % facts['atom'])
        lines.append('reduction: score')
        lines += self.crossovers() + self.one_shots()
        lines.append('staging: {latency_bytes: %s, throughput_bytes: %s}' % tuple(map(size_text, facts['staging'])))
        return lines + self.tunings()

    def scope(self, group):
        return 'collectives: [%s], ranks: %s' % (', '.join(names_of(group.collective, self.swept)),
                                                 self.rank_ranges[group.collective][group.ranks])

    def crossovers(self):
        lines, values = [], []
        for group in self.groups:
            limit, regret = group.crossover()
            packets, chunks = group.both_paths()
            chunks = {size: time for size, time in chunks.items() if size in packets}
            if not packets:
                lines += comment('%s: packets were not measured: %s' % (
                    group.name(), group.latency_failed or 'none of these sizes fits them'), '    ')
                continue
            value = limit if limit is not None else min(packets) // 2
            values.append(value)
            lines += comment('%s: us by packets %s; by chunks %s; the choice loses %.1f %% summed over these sizes%s'
                             % (group.name(), times_text(packets), times_text(chunks), 100 * regret,
                                '' if limit is not None else '; chunks win from the least size on, what is below is '
                                'a guess'), '    ')
            lines.append('    - {%s, value: %s}' % (self.scope(group), size_text(value)))
        if not values:
            return []
        return ['crossover:'] + comment('For what was not measured: the least that was.', '  ') + \
            ['  default: %s' % size_text(min(values)), '  rows:'] + lines

    def one_shots(self):
        lines = []
        for group in self.groups:
            limit = group.one_shot_limit()
            if group.collective != 'all_reduce' or not group.one:
                continue
            value = limit if limit is not None else min(group.one) // 2
            lines += comment('%d ranks: us in one shot %s; in two %s' % (group.ranks, times_text(group.one),
                                                                         times_text(group.two)), '    ')
            lines.append('    - {ranks: %s, value: %s}' % (self.rank_ranges['all_reduce'][group.ranks],
                                                           size_text(value)))
        return ['one_shot_limit:', '  rows:'] + lines if lines else []

    def tunings(self):
        lines = []
        for group in self.groups:
            rows = group.rows()
            tried = len(group.samples)
            start = group.times(next(s for s in group.starts if s in group.samples)) \
                if any(s in group.samples for s in group.starts) else {}
            for index, (first, last, setting) in enumerate(rows):
                times = {size: time for size, time in group.times(setting).items() if first <= size <= last}
                gains = [start[size] / time for size, time in times.items() if size in start]
                lines += comment(
                    '%s: us %s; %d runs each; the best of %d settings (%d more refused), %d CTAs; the first starting '
                    'point took %s times as long' % (
                        group.name(), times_text(times), min(len(s) for s in group.samples[setting].values()), tried,
                        len(set(group.refused) - set(group.samples)), ctas_of(setting, group.collective),
                        '..'.join(sorted({'%.2f' % gain for gain in (min(gains), max(gains))})) if gains else '?'),
                    '    ')
                low = '0' if index == 0 else size_text(rows[index - 1][1])
                high = '' if index == len(rows) - 1 else size_text(last)
                lines.append('    - {%s, bytes: %s..%s, %s}' % (
                    self.scope(group), low, high, setting_text(setting, group.collective, self.facts['kind'])))
        base = setting_text(self.facts['base'][1], 'all_reduce', self.facts['kind'], directed=False)
        return ['tuning:'] + comment('Of %s.' % self.facts['base'][0], '  ') + ['  default: {%s}' % base,
                                                                               '  rows:'] + lines

    def expected(self):
        """[(collective, ranks, size, setting or None for packets)] that `purlin explain` must confirm."""
        checks = []
        for group in self.groups:
            limit, _ = group.crossover()
            for _, last, setting in group.rows():
                checks.append((group.collective, group.ranks, last,
                               None if limit is not None and last <= limit else setting))
            if limit is not None and group.latency():
                checks.append((group.collective, group.ranks, limit, None))
        return checks
