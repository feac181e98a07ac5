"""One collective at one number of ranks: what was measured of it, and what to measure next."""
import statistics

import choose
from instrument import candidate_policy
from settings import ctas_of, neighbours

TWO_STEPS = ('all_reduce', 'broadcast', 'reduce')
PACKET_BYTES, PAYLOAD_BYTES = 16, 8


def packet_capacity(collective, ranks, latency_bytes, one_shot):
    """Largest T that packets carry; docs/policy.md, Capacity."""
    steps = 2 if collective in TWO_STEPS and not one_shot else 1
    pair = latency_bytes // ranks // PACKET_BYTES // steps * PAYLOAD_BYTES
    return pair if one_shot else ranks * pair


class Group:
    def __init__(self, collective, ranks, sizes, limits, starts, bench):
        """`starts`: [(why, setting)]. `bench`: instrument, kind, atom and staging of the sweep."""
        self.collective, self.ranks, self.sizes = collective, ranks, sizes
        self.limits, self.bench = limits, bench
        self.starts, self.why = [], {}
        for why, setting in starts:
            if setting not in self.why and limits.allows(setting, collective):
                self.starts.append(setting)
                self.why[setting] = why
        self.samples = {}  # setting: {size: [microseconds]}
        self.refused = {}  # setting: what was said
        self.one, self.two = {}, {}  # packets: {size: microseconds}; only all_reduce has a one-shot form
        self.fine = {}, {}  # packets and chunks at sizes around the crossover: {size: microseconds}
        self.latency_failed = None

    def name(self):
        return '%s, %d ranks' % (self.collective, self.ranks)

    # ---- Measuring ----------------------------------------------------------------------------

    def perf(self, path, policy, sizes, repetition=0):
        return self.bench.instrument.perf(self.collective, self.ranks, path, policy, sizes, repetition)

    def policy_of(self, setting=None, limits=None):
        return candidate_policy(self.bench.kind, self.bench.atom, self.bench.staging, self.collective, setting, limits)

    def measure_setting(self, setting, repetition=0):
        times = self.perf('throughput', self.policy_of(setting), self.sizes, repetition)
        if isinstance(times, str):
            self.refused[setting] = times
            return
        for size, time in times.items():
            self.samples.setdefault(setting, {}).setdefault(size, []).append(time)

    def carried(self, sizes, one_shot):
        most = packet_capacity(self.collective, self.ranks, self.bench.staging[0], one_shot)
        return [size for size in sizes if size <= most]

    def packets(self, sizes, one_shot):
        """{size: microseconds} of the latency path."""
        sizes = self.carried(sizes, one_shot)
        if not sizes:
            return {}
        limits = (sizes[-1], sizes[-1] if one_shot else 0) if self.collective == 'all_reduce' else None
        times = self.perf('latency', self.policy_of(limits=limits), sizes)
        if isinstance(times, str):
            self.latency_failed = times
            return {}
        return times

    def begin(self):
        """The starting points and the latency path."""
        for setting in self.starts:
            self.measure_setting(setting)
        self.two = self.packets(self.sizes, False)
        if self.collective == 'all_reduce':
            self.one = self.packets(self.sizes, True)

    def climb(self):
        """Measures one neighbour of what is best so far; false when all have been."""
        for _, _, setting in self.rows():
            for what, candidate in neighbours(setting, self.collective, self.limits, self.bench.kind == 'cuda'):
                if candidate not in self.samples and candidate not in self.refused:
                    self.why[candidate] = what
                    self.measure_setting(candidate)
                    return True
        return False

    def confirm(self):
        """Measures once more what was chosen, so that luck does not decide; false when nothing is new."""
        once = [setting for _, _, setting in self.rows() if min(map(len, self.samples[setting].values())) < 2]
        for setting in once:
            self.measure_setting(setting, repetition=1)
            for size, times in self.samples[setting].items():
                if len(times) < 2:  # refused the second time: what it took once counts
                    times.append(times[0])
        return bool(once)

    def refine(self):
        """Both paths at all powers of two around the crossover."""
        limit, _ = self.crossover()
        if limit is None or not self.samples:
            return
        around = self.carried([limit << shift >> 1 for shift in range(5)], False)
        if len(around) < 2:
            return
        packets = self.packets(around, False)
        if self.collective == 'all_reduce':
            one = self.packets(around, True)
            packets = choose.joined(one, packets, self.one_shot_limit())
        chunks = self.perf('throughput', self.policy_of(self.setting_at(limit << 1)), around)
        if packets and not isinstance(chunks, str):
            self.fine = packets, chunks

    # ---- What follows ---------------------------------------------------------------------------

    def times(self, setting):
        return {size: statistics.mean(times) for size, times in self.samples[setting].items()}

    def measured(self):
        return {setting: self.times(setting) for setting in self.samples}

    def is_measured(self):
        return bool(self.samples)

    def one_shot_limit(self):
        """T up to which one shot is faster; None: at no size measured."""
        return choose.threshold(self.one, self.two)[0] if self.one else None

    def latency(self):
        return choose.joined(self.one, self.two, self.one_shot_limit())

    def throughput(self):
        """{size: microseconds} of the rows' settings."""
        return {size: time for first, last, setting in self.all_rows()
                for size, time in self.times(setting).items() if first <= size <= last}

    def both_paths(self):
        """{size: microseconds} by packets and by chunks, at all sizes measured."""
        return {**self.latency(), **self.fine[0]}, {**self.throughput(), **self.fine[1]}

    def crossover(self):
        """(T up to which packets serve, regret); None: chunks are faster from the least size on."""
        return choose.threshold(*self.both_paths())

    def all_rows(self):
        return choose.ranges(self.sizes, self.measured(), lambda setting: ctas_of(setting, self.collective))

    def rows(self):
        """[(first size, last size, setting)] for the sizes above the crossover, and one size below it."""
        if not self.samples:
            return []
        limit, _ = choose.threshold(self.latency(), self.throughput())
        sizes = [size for size in self.sizes if limit is None or size >= limit]
        return choose.ranges(sizes, self.measured(), lambda setting: ctas_of(setting, self.collective))

    def setting_at(self, size):
        rows = self.rows()
        return next((setting for _, last, setting in rows if size <= last), rows[-1][2])
