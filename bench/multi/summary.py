"""summary.json: ratios to NCCL as geometric means, what they are made of, and how they stand to the goals."""
import datetime
import json
import math
import os

import tables
from sizes import KIB, SEVEN, SYMMETRIC, bandwidth_sizes, latency_sizes

_GOALS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'goals.json')


def goals():
    with open(_GOALS, encoding='utf-8') as file:
        return json.load(file)


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else None


def ratios(documents, sizes):
    """{asked size: NCCL's time over Purlin's}; a size that does not divide into whole counts was rounded down."""
    found = {}
    for document in documents:
        for row in document['rows']:
            if row.get('nccl_ratio'):
                found[asked_size(row['size'], sizes)] = row['nccl_ratio']
    return found


def asked_size(size, sizes):
    return min((asked for asked in sizes if asked >= size), default=size)


def whole_mean(found, sizes):
    """The geometric mean over all these sizes; None where one is missing."""
    return geometric_mean([found[size] for size in sizes]) if all(size in found for size in sizes) else None


def times(documents, sizes, key='time_us'):
    """{asked size: median in µs}"""
    return {asked_size(row['size'], sizes): row[key]['median']
            for document in documents for row in document['rows'] if key in row}


def symmetric_latency(session, collective, sizes):
    """The best symmetric peer's time over Purlin's for ordinary buffers, as a mean over all sizes."""
    own = times(session.documents('latency', collective), sizes)
    peers = [times(session.documents('registered_latency', collective), sizes, 'nccl_time_us')]
    if collective == 'all_reduce':
        peers += [times(session.documents(label), sizes) for label in ('torch_one_shot', 'torch_two_shot')]
    found = {}
    for size in sizes:
        best = [peer[size] for peer in peers if size in peer]
        if best and own.get(size):
            found[size] = min(best) / own[size]
    return whole_mean(found, sizes)


def of_collective(session, collective):
    latency, bandwidth = latency_sizes(session.host), bandwidth_sizes(session.host)
    small = ratios(session.documents('latency', collective), latency)
    large = ratios(session.documents('bandwidth', collective), bandwidth)
    said = {'latency_ratio': whole_mean(small, latency), 'bandwidth_ratio': whole_mean(large, bandwidth),
            'largest_size_ratio': large.get(bandwidth[-1])}
    if session.rehearsal:
        few = [size for size in latency if size <= 256 * KIB]
        said['latency_ratio_to_256KiB'] = whole_mean(small, few)
    if collective in SYMMETRIC:
        said['symmetric_latency_ratio'] = symmetric_latency(session, collective, latency)
    return said


def creation(session):
    said = {}
    for state in ('cold', 'cached'):
        for document in session.documents('creation_' + state):
            said[state + '_ms'] = document['communicator']['create_ms']
    for document in session.documents('latency')[:1]:
        said['device_bytes'] = document['communicator'].get('device_bytes')
        peer = document.get('nccl_communicator', {})
        said['nccl_ms'], said['nccl_device_bytes'] = peer.get('create_ms'), peer.get('device_bytes')
    return said


def collect(session):
    found = {collective: of_collective(session, collective) for collective in SEVEN}
    return {**found,
            'command': session.command_line(), 'commit': commit(session.version),
            'date': datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d'),
            'purlin': session.version, 'nccl': session.nccl_version, 'ranks': session.ranks, 'gpus': session.gpus,
            'rehearsal': session.rehearsal, 'machine': session.machine, 'creation': creation(session),
            'facts': session.facts, 'stages': session.stages}


def commit(version):
    """Of `purlin --version`, which says what was measured; the source tree may have moved on."""
    words = version.split('commit ')
    return words[1].split(',')[0] if len(words) > 1 else None


def standing(session, found):
    """(measure, collective, found, target, stretch) of every goal that these figures speak about: none of CPU ranks'."""
    if session.host:
        return
    goal = goals()
    measures = ['latency_ratio', 'bandwidth_ratio', 'largest_size_ratio', 'symmetric_latency_ratio']
    for collective in SEVEN:
        for measure in measures:
            if measure in found[collective]:
                aim = goal[measure]
                aim = aim[collective] if isinstance(aim, dict) else aim
                yield measure, collective, found[collective][measure], *aim
    if session.rehearsal:
        for collective in SEVEN:
            yield ('latency_ratio_to_256KiB', collective, found[collective]['latency_ratio_to_256KiB'],
                   *goal['one_gpu_latency_ratio_to_256KiB'])


def write(session):
    found = collect(session)
    with open(os.path.join(session.out, 'summary.json'), 'w', encoding='utf-8') as file:
        json.dump(found, file, indent=1)
        file.write('\n')
    with open(os.path.join(session.out, 'summary.md'), 'w', encoding='utf-8') as file:
        file.write('\n'.join(tables.document(session, found, list(standing(session, found)), goals())) + '\n')


def closing(session):
    """The last lines of the run's output."""
    found = collect(session)
    lines = ['', '%-17s %8s %10s' % ('', 'latency', 'bandwidth')]
    for collective in SEVEN:
        lines.append('%-17s %8s %10s' % (collective, tables.number(found[collective]['latency_ratio']),
                                         tables.number(found[collective]['bandwidth_ratio'])))
    counts = {verdict: sum(stage['verdict'] == verdict for stage in session.stages)
              for verdict in ('done', 'failed', 'skipped')}
    lines.append('%(done)d stages done, %(failed)d failed, %(skipped)d skipped' % counts + '; %s' % session.out)
    return '\n'.join(lines)
