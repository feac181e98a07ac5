"""Stages about results: every collective, every byte; the same bits as CPU ranks'."""
from sizes import OTHERS, SEVEN

# Sizes that no power of two divides, buffers off their alignment, fresh inputs for each call.
_ODD = ['-b', '24', '-e', '3000000', '-f', '37', '--check', '--iters', '20']


def threads(session):
    """Every collective over odd sizes: graphs, then calls one by one; in place; all types and operations."""
    for collective in SEVEN + OTHERS:
        check(session, 'odd', collective, *odd(collective))
    for collective in SEVEN:
        skew = ['--random-counts', '--placement', 'reversed'] if collective.endswith('_v') else []
        check(session, 'eager', collective, '-b', '1000', '-e', '100000', '-f', '10', '-d', 'bf16', '--misalign', '2',
              '--check', '--iters', '10', '--eager', '--path', 'throughput', *skew)
    for collective in ('all_reduce', 'all_gather', 'reduce_scatter'):
        check(session, 'in_place', collective, '-b', '1000', '-e', '3000000', '-f', '50', '-d', 'bf16', '--in-place',
              '--check', '--iters', '20')
    for collective in ('all_reduce', 'reduce_scatter'):
        check(session, 'types', collective, '-b', '5000', '-e', '5000', '-d', 'all', '-o', 'all', '--check', '--iters', '4')


def odd(collective):
    if collective == 'barrier':
        return ['--iters', '20']
    skew = ['--skew', 'zipf:1', '--placement', 'gapped'] if collective.endswith('_v') else []
    return _ODD + ['-d', 'bf16,f32', '--misalign', '4'] + skew


def check(session, label, collective, *arguments, **more):
    document = session.perf(label, collective, *arguments, **more)
    if document is None:
        return None
    rows = document['rows']
    wrong = document['wrong']
    session.facts['checked_rows'] = session.facts.get('checked_rows', 0) + len(rows)
    session.facts['wrong'] = session.facts.get('wrong', 0) + wrong
    if wrong:
        session.fail('%s %s: %d wrong elements' % (collective, label, wrong))
    return document


def processes(session):
    """A process for each rank, as frameworks have them."""
    for collective in SEVEN + ['send_recv', 'broadcast']:
        check(session, 'processes', collective, *odd(collective), processes=True)


def same_bits(session):
    """The same calls by CPU ranks: equal digests of every buffer of every rank."""
    compared = 0
    for collective in SEVEN + OTHERS[:-1]:
        done = session.documents('odd', collective)
        twin = check(session, 'host', collective, *odd(collective), host=True) if done else None
        if twin is None:
            continue
        for row, other in zip(done[0]['rows'], twin['rows'], strict=True):
            compared += 1
            if row['digest'] != other['digest']:
                session.fail('%s %s of %d bytes: digest %s, of CPU ranks %s' % (
                    collective, row['type'], row['size'], row['digest'], other['digest']))
    session.facts['rows_with_bits_of_cpu_ranks'] = compared
    if compared == 0:
        session.fail('nothing could be compared: no checked row of the stage before')
