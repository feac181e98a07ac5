"""What is measured: collectives, sizes, how the V forms are skewed."""
SEVEN = ['all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'all_gather_v', 'reduce_scatter_v', 'all_to_all_v']
OTHERS = ['broadcast', 'reduce', 'scatter', 'gather', 'send_recv', 'barrier']
SYMMETRIC = SEVEN[:4]  # those that NCCL's users make with one call
KIB, MIB = 1 << 10, 1 << 20
SKEW = 'zipf:0.125'


def latency_sizes(host):
    return [KIB << shift for shift in range(0, 10, 3 if host else 1)]


def bandwidth_sizes(host):
    return [MIB << shift for shift in range(0, 4 if host else 11, 2)]


def asked(sizes):
    """The options of `purlin perf` for such a series."""
    factor = sizes[1] // sizes[0] if len(sizes) > 1 else 2
    return ['-b', sizes[0], '-e', sizes[-1], '-f', factor]


def skewed(collective, skew=SKEW):
    return ['--skew', skew] if collective.endswith('_v') else []


def size_text(size):
    for unit, shift in (('GiB', 30), ('MiB', 20), ('KiB', 10)):
        if size and size % (1 << shift) == 0:
            return '%d %s' % (size >> shift, unit)
    return '%d B' % size
