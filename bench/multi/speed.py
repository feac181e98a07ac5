"""Stages about time: all seven collectives against NCCL, Atoms, grids, creation."""
import json
import os
import sys

from session import ROOT, Skip
from sizes import KIB, MIB, SEVEN, SYMMETRIC, asked, bandwidth_sizes, latency_sizes, skewed

ATOMS = ['hopper', 'ampere', 'generic']


def peer(session):
    """Whether NCCL can be compared with: a small call of both."""
    document = session.perf('peer', 'all_reduce', '-b', KIB, '-e', KIB, '--iters', '20', versus='nccl', optional=True)
    if document is None:
        session.nccl_refusal = '%s cannot be compared with; see peer.log' % session.nccl
        session.say('%s; figures without it' % session.nccl_refusal)
        return
    session.nccl_version = document['nccl']
    session.say('NCCL %s, %s' % (session.nccl_version, session.nccl))


def latency(session):
    """1 KiB … 512 KiB in graphs, against NCCL in the same process."""
    against_nccl(session, 'latency', latency_sizes(session.host))


def bandwidth(session):
    """1 MiB … 1 GiB in graphs, against NCCL in the same process."""
    against_nccl(session, 'bandwidth', bandwidth_sizes(session.host))


def against_nccl(session, label, sizes, collectives=SEVEN, **more):
    for collective in collectives:
        session.perf(label, collective, *asked(sizes), '-d', 'bf16', *few(session), *skewed(collective),
                     *more.get('extra', []), versus=more.get('versus', session.nccl_version and 'nccl'),
                     limit=more.get('limit', 90))


def few(session):
    return ['--iters', '20'] if session.host else []


def registered(session):
    """Registered buffers; beside them NCCL's symmetric windows."""
    symmetric = session.nccl_version and 'nccl-sym'
    for label, sizes in (('latency', latency_sizes(session.host)), ('bandwidth', bandwidth_sizes(session.host))):
        against_nccl(session, 'registered_' + label, sizes, SYMMETRIC, versus=symmetric, extra=['--registered'])
    against_nccl(session, 'registered_bandwidth', bandwidth_sizes(session.host)[1::2], SEVEN[4:], versus=None,
                 extra=['--registered'])


def atoms(session):
    """Every Atom of this architecture at a few sizes."""
    names = ['host'] if session.host else ATOMS
    sizes = [KIB, 32 * KIB, MIB] if session.host else [KIB, 32 * KIB, MIB, 32 * MIB, 1024 * MIB]
    for name in names:
        for collective in SYMMETRIC:
            session.perf('atom_' + name, collective, *asked(sizes), '-d', 'bf16', *few(session), atom=name)


def grids(session):
    """Bandwidth over the most CTAs that a call may have."""
    size = MIB if session.host else 256 * MIB
    for ctas in (8, 16, 24, 32, 48, 64):
        for collective in ('all_reduce', 'all_gather', 'all_to_all'):
            session.perf('ctas_%d' % ctas, collective, '-b', size, '-e', size, '-d', 'bf16', '--ctas', ctas,
                         *few(session), limit=30)


def creation(session):
    """Time to create the communicators, with no program cached and with all; memory of the device."""
    cache = os.path.join(session.scratch, 'cache')
    os.makedirs(cache, mode=0o700)
    for state in ('cold', 'cached'):
        session.perf('creation_' + state, 'all_reduce', '-b', KIB, '-e', KIB, '--iters', '20',
                     PURLIN_CACHE_DIR=cache)


def crossovers(session):
    """Where one-shot, two-shot and throughput calls meet."""
    most = MIB if session.ranks <= 2 else 4 * MIB // (2 * session.ranks)  # what packets of one half can carry
    least = 64 * KIB
    for label, limit in (('one_shot', most), ('two_shot', 0)):
        policy = os.path.join(session.scratch, label + '.yaml')
        with open(policy, 'w', encoding='utf-8') as file:
            file.write('version: 1\nname: %s\ncrossover: {rows: [{collectives: [all_reduce], value: %d}]}\n'
                       'one_shot_limit: %d\nstaging: {latency_bytes: 4MiB}\n' % (label, most, limit))
        session.perf(label, 'all_reduce', '-b', KIB, '-e', power_below(most), '-d', 'bf16', *few(session),
                     '--path', 'latency', '--policy', policy)
    for collective in SYMMETRIC:
        session.perf('by_throughput', collective, '-b', least, '-e', 2 * MIB, '-d', 'bf16', *few(session),
                     '--path', 'throughput')
        if collective != 'all_reduce' and not session.host:
            session.perf('by_latency', collective, '-b', least, '-e', 2 * MIB, '-d', 'bf16', '--path', 'latency',
                         optional=True)


def power_below(size):
    return 1 << (size.bit_length() - 1)


def links(session):
    """What a copy between two GPUs can reach, pulled and pushed, by the Atom alone."""
    session.need_gpus()
    found = {}
    for direction in ('pull', 'push'):
        file = os.path.join(session.scratch, direction + '.json')
        ended = session.run([session.purlin, 'perf', 'atom', '--peer', '1', '--direction', direction, '--ctas',
                             '8,16,32,64', '--json', file], 40)
        if ended.status != 0:
            session.fail('perf atom --peer 1 --direction %s: %s' % (direction, ended.text.strip()[-300:]))
            continue
        found[direction] = best_of_atom(file)
        session.say('%s: %.1f GB/s' % (direction, found[direction]))
    session.facts['link_GBps'] = found


def best_of_atom(file):
    with open(file, encoding='utf-8') as written:
        return max(row['read_GBps'] for row in json.load(written)['rows'])


def tuned(session):
    """The policy that bench/sweep writes in the minutes it is given, against NCCL like the first."""
    sweep = os.path.join(ROOT, 'bench', 'sweep')
    policy = session.options.tuned
    if not policy:
        if not os.path.exists(os.path.join(sweep, '__main__.py')):
            raise Skip('there is no bench/sweep, and --tuned names no policy')
        policy = os.path.join(session.out, 'tuned.yaml')
        minutes = session.options.sweep_minutes
        ended = session.run([sys.executable, '-B', sweep, '--out', policy, '--purlin', session.purlin, '--ranks',
                             str(session.ranks), '--minutes', str(minutes), '--device',
                             'host' if session.host else 'cuda'], minutes * 60 + 40)
        if ended.status != 0 or not os.path.exists(policy):
            session.fail('bench/sweep: %s' % ended.text.strip()[-300:])
            return
    for label, sizes in (('latency', latency_sizes(session.host)), ('bandwidth', bandwidth_sizes(session.host))):
        against_nccl(session, 'tuned_' + label, sizes, SYMMETRIC, extra=['--policy', policy])
