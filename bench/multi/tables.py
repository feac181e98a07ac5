"""summary.md: the tables that people read."""
import summary
from sizes import SEVEN, SYMMETRIC, bandwidth_sizes, latency_sizes, size_text


def number(value, digits=2):
    return '' if value is None else '%.*f' % (digits, value)


def table(heads, rows):
    yield '| ' + ' | '.join(heads) + ' |'
    yield '|' + '---|' * len(heads)
    for row in rows:
        yield '| ' + ' | '.join(str(cell) for cell in row) + ' |'
    yield ''


def document(session, found, standing, goal):
    title = '%d ranks on %s' % (session.ranks, 'CPUs' if session.host else '%d %s' % (
        session.gpus, session.machine.get('gpu') or 'GPU'))
    yield '# ' + title + (', a rehearsal' if session.rehearsal else '')
    yield ''
    yield from table(['', ''], facts_of_run(session, found))
    if session.rehearsal:
        yield 'Ranks share a GPU, or have none: the figures say nothing of links.\n'
    yield from stages(session)
    yield from goals(standing)
    for label, title, sizes, of_row in (
            ('latency', 'Latency, µs', latency_sizes(session.host), lambda row, key: row[key]['median']),
            ('bandwidth', 'Bus bandwidth, GB/s', bandwidth_sizes(session.host), bus_bandwidth)):
        yield '## %s\n' % title
        yield from series(session, label, sizes, of_row)
    yield from rest(session, found)
    if session.ranks == 8:
        yield '## Published for 8 GPUs\n'
        yield from table(['measure', 'published'], goal['published_for_8_gpus'].items())


def facts_of_run(session, found):
    machine = session.machine
    yield 'command', '`%s`' % found['command']
    yield 'Purlin', found['purlin']
    yield 'NCCL', found['nccl'] or session.nccl_refusal
    yield 'machine', '%s, driver %s, %s, %s processors' % (machine.get('gpu'), machine.get('driver'),
                                                         machine['processor'], machine['processors'])
    yield 'date', found['date']
    yield 'checked', '%d rows bit for bit, %d wrong elements; %d rows with the digests of CPU ranks' % (
        session.facts.get('checked_rows', 0), session.facts.get('wrong', 0),
        session.facts.get('rows_with_bits_of_cpu_ranks', 0))


def stages(session):
    yield '## Stages\n'
    yield from table(['stage', 'verdict', 's', ''], [
        (stage['stage'], stage['verdict'], stage['seconds'], '; '.join(stage['said']).replace('|', '/'))
        for stage in session.stages])


def goals(standing):
    if not standing:
        return
    yield '## Against the goals\n'
    yield 'Times of the peer over Purlin\'s: above 1 Purlin is faster.\n'
    yield from table(['measure', 'collective', 'found', 'target', 'stretch', ''], [
        (measure, collective, number(found), number(target), number(stretch), judged(found, target, stretch))
        for measure, collective, found, target, stretch in standing])


def judged(found, target, stretch):
    if found is None:
        return 'not measured'
    if stretch is not None and found >= stretch:
        return 'stretch met'
    return 'met' if found >= target else 'missed by %.0f %%' % (100 * (1 - found / target))


def bus_bandwidth(row, key):
    return row['busbw_GBps'] * row['time_us']['median'] / row[key]['median']


def series(session, label, sizes, of_row):
    """For each collective: Purlin, NCCL, ratio; with registered buffers beside symmetric windows."""
    rows = []
    for collective in SEVEN:
        for name, source, key in (('Purlin', label, 'time_us'), ('NCCL', label, 'nccl_time_us'),
                                  ('Purlin, registered', 'registered_' + label, 'time_us'),
                                  ('NCCL, symmetric', 'registered_' + label, 'nccl_time_us')):
            rows.append((collective, name, *cells(session.documents(source, collective), sizes, key, of_row)))
        found = summary.ratios(session.documents(label, collective), sizes)
        rows.append((collective, 'ratio', *(number(found.get(size)) for size in sizes)))
    for name in ('torch_one_shot', 'torch_two_shot'):
        rows.append(('all_reduce', name.replace('_', ' '), *cells(session.documents(name), sizes, 'time_us', of_row)))
    yield from table(['collective', ''] + [size_text(size) for size in sizes], [row for row in rows if any(row[2:])])


def cells(documents, sizes, key, of_row):
    found = {summary.asked_size(row['size'], sizes): of_row(row, key)
             for document in documents for row in document['rows'] if key in row}
    return [number(found.get(size)) for size in sizes]


def rest(session, found):
    labels = sorted({record['label'] for record in session.records})
    yield '## Atoms, grids, paths: µs\n'
    kept = [label for label in labels if label.startswith(('atom_', 'ctas_', 'one_shot', 'two_shot', 'by_', 'tuned_'))]
    rows, sizes = [], set()
    for label in kept:
        for record in session.records:
            if record['label'] == label:
                medians = {row['size']: row['time_us']['median'] for row in record['document']['rows']}
                sizes.update(medians)
                rows.append((label, record['collective'], medians))
    order = sorted(sizes)
    yield from table(['', 'collective'] + [size_text(size) for size in order], [
        (label, collective, *(number(medians.get(size), 1) for size in order)) for label, collective, medians in rows])
    yield from decoder(session)
    made = {name: value for name, value in found['creation'].items() if value is not None}
    yield '## Creation and memory\n'
    yield from table(['what', 'value'], [(name, number(value, 1)) for name, value in made.items()])


def decoder(session):
    said = session.facts.get('decoder')
    if not said:
        return
    yield '## Tensor-parallel decoder\n'
    yield '%s\n' % said['shape']
    yield from table(['batch', 'Purlin, ms a token', 'NCCL, ms a token', 'ratio', 'tokens'], [
        (row['batch'], number(row['purlin_ms'], 3), number(row['nccl_ms'], 3), number(row['ratio'], 3), row['said'])
        for row in said['rows']])
