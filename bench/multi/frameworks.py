"""Stages about programs that know NCCL alone: nccl-tests, PyTorch."""
import json
import os
import shutil
import sys

import machine
from session import ROOT, Skip, last_line

_HERE = os.path.dirname(os.path.abspath(__file__))
_PROGRAMS = 'all_reduce all_gather reduce_scatter alltoall alltoallv sendrecv broadcast reduce gather scatter hypercube'


def nccl_tests(session):
    """nccl-tests, unmodified: -g, -t, -G, -R, all types and operations."""
    folder = session.options.nccl_tests
    if not folder or not os.path.exists(os.path.join(folder, 'all_reduce_perf')):
        raise Skip('needs the folder of nccl-tests\' binaries, --nccl-tests FOLDER')
    if session.host or session.gpus == 0:
        raise Skip('nccl-tests allocates on GPUs')
    n = session.ranks
    shapes = '-g {0}|-t {0} -g 1|-g {0} -R 1|-g {0} -R 2|-g {0} -G 10'.format(n)
    # First every program; then all types and operations of those that reduce, over fewer sizes.
    sizes = '-b 8 -e 256M -f 32 -n 2 -w 1 -c 1'
    _nccl_tests(session, 'programs', SHAPES='-g %d' % n, ALL_TYPES='-d float -o sum', SIZES=sizes, PROGRAMS=_PROGRAMS)
    _nccl_tests(session, 'shapes', SHAPES=shapes.split('|', 1)[1], ALL_TYPES='-d float -o sum', SIZES=sizes,
                PROGRAMS='all_reduce all_gather reduce_scatter alltoall sendrecv')
    _nccl_tests(session, 'types', SHAPES='-g %d' % n, ALL_TYPES='-d all -o all', SIZES='-b 8 -e 256M -f 4096 -n 1 -w 1 -c 1',
                PROGRAMS='all_reduce reduce_scatter reduce')
    _several_processes(session, folder, sizes)


def _nccl_tests(session, name, **variables):
    if session.left() < 20:
        session.fail('nccl-tests, %s: no time left in this stage' % name)
        return
    out = os.path.join(session.logs, 'nccl-tests-' + name)
    ended = session.run(['bash', os.path.join(ROOT, 'tests/nccl/run_nccl_tests.sh'), session.options.nccl_tests, out],
                        session.left(), BUILD=os.path.abspath(session.options.build), LIMIT='60',
                        REAL_GPUS='0' if session.rehearsal else '1', **variables)
    summary = os.path.join(out, 'summary.json')
    results = []
    if os.path.exists(summary):
        with open(summary, encoding='utf-8') as file:
            results = json.load(file)
    good = sum(result['good'] for result in results)
    session.facts['nccl_tests_' + name] = {'right': good, 'runs': len(results), 'rows': sum(r['rows'] for r in results)}
    for result in results:
        if not result['good']:
            session.fail('nccl-tests %s %s: %s' % (result['program'], result['arguments'], result['first_error']))
    if ended.status is None or not results:
        session.fail('nccl-tests, %s: %s' % (name, 'over its limit' if ended.status is None else last_line(ended.text)))
    session.say('nccl-tests, %s: %d of %d runs right' % (name, good, len(results)))


def _several_processes(session, folder, sizes):
    """A process a rank takes binaries built with MPI."""
    program = os.path.join(folder, 'all_reduce_perf')
    linked = session.run(['ldd', program], 10)
    if 'libmpi' not in linked.text or not shutil.which('mpirun'):
        session.say('nccl-tests of several processes: skipped, %s is built without MPI' % program)
        session.facts['nccl_tests_processes'] = 'skipped: built without MPI'
        return
    session.need_gpus()
    ended = session.run(['mpirun', '--allow-run-as-root', '-n', str(session.ranks), '-x', 'LD_PRELOAD=' + session.drop_in,
                         program, '-g', '1', *sizes.split()], 60)
    if ended.status != 0:
        session.fail('nccl-tests, a process a rank: %s' % last_line(ended.text))


def need_torch(session):
    if not machine.has_module('torch'):
        raise Skip('needs PyTorch, which this Python (%s) does not have' % sys.executable)


def training(session):
    """DDP and FSDP of a small model, a process a rank, over the drop-in: the losses of one process."""
    need_torch(session)
    if session.host:
        raise Skip('PyTorch\'s NCCL backend takes GPUs only')
    out = os.path.join(session.scratch, 'training.json')
    ended = session.run([sys.executable, '-B', os.path.join(ROOT, 'tests/nccl/torch_two_ranks.py'), '--only', 'training',
                         '--ranks', str(session.ranks), '--build', session.options.build, '--out', out], 150)
    if os.path.exists(out):
        with open(out, encoding='utf-8') as file:
            session.facts['training'] = json.load(file)['training']
    session.say(last_line(ended.text))
    if ended.status != 0:
        session.fail('DDP and FSDP: %s' % ('over its limit' if ended.status is None else last_line(ended.text)))


def decoder(session):
    """A tensor-parallel decoder in CUDA graphs: tokens and time per token, Purlin's and NCCL's in one process."""
    need_torch(session)
    out = os.path.join(session.scratch, 'decoder.json')
    asked = [sys.executable, '-B', os.path.join(_HERE, 'decoder.py'), '--ranks', str(session.ranks), '--out', out,
             '--purlin', session.drop_in]
    if session.nccl_version:
        asked += ['--nccl', session.nccl]
    if session.host:
        asked += ['--device', 'cpu', '--shape', 'tiny', '--batches', '1,4', '--tokens', '4', '--passes', '1']
    elif session.rehearsal:
        asked += ['--shape', 'small', '--one-gpu']
    ended = session.run(asked, 240)
    if ended.status != 0 or not os.path.exists(out):
        session.fail('decoder: %s' % ('over its limit' if ended.status is None else last_line(ended.text)))
        return
    with open(out, encoding='utf-8') as file:
        found = json.load(file)
    session.facts['decoder'] = found
    for row in found['rows']:
        session.say('batch %(batch)d: %(said)s' % row)
        if not row['right']:
            session.fail('decoder, batch %(batch)d: %(said)s' % row)


def symmetric_memory(session):
    """PyTorch's symmetric memory, one-shot and two-shot all_reduce in graphs."""
    need_torch(session)
    session.need_gpus()
    out = os.path.join(session.scratch, 'symmetric.json')
    ended = session.run([sys.executable, '-B', os.path.join(_HERE, 'torch_symmetric.py'), '--ranks', str(session.ranks),
                         '--out', out], 90)
    if ended.status != 0 or not os.path.exists(out):
        session.fail('PyTorch symmetric memory: %s' % ('over its limit' if ended.status is None else last_line(ended.text)))
        return
    with open(out, encoding='utf-8') as file:
        for label, document in json.load(file).items():
            session.keep(label, 'all_reduce', document)
