"""Everything about N GPUs of one host in one bounded run; see docs/perf.md.

  bench/multi.sh 2 --out bench/results/h200-x2

Stages run in the order below, the most important first; each has its own limit, a failure of one leaves the others
alone, and what no time is left for is skipped and said so. With fewer GPUs than N the ranks share them: a rehearsal,
whose figures say nothing of links. --host rehearses without a GPU.

Writes OUT/summary.json, summary.md, rows.jsonl, latency.svg, bandwidth.svg and logs.tar.gz, anew after each stage.
Exit status: 0 no stage failed, 1 some did, 2 a wrong command line.
"""
import argparse
import collections
import os
import sys
import time

import frameworks
import machine
import plots
import right
import speed
import summary
from session import ROOT, Session, Skip

Stage = collections.namedtuple('Stage', 'name part limit least work')  # limit, least: seconds


def describe(session):
    """GPUs, links, peer access."""
    session.facts['peers'] = machine.peer_facts(session.gpus)
    for arguments in (['topo', '-m'], ['nvlink', '--status']):
        if not session.host:
            session.run(['nvidia-smi'] + arguments, 20)
    unreachable = [pair for pair in session.facts['peers'] if pair['access'] != 1]
    if unreachable:
        session.say('without peer access: %s' % unreachable)


STAGES = [
    Stage('machine', 'figures', 45, 1, describe),
    Stage('peer', 'figures', 60, 10, speed.peer),
    Stage('threads', 'figures', 120, 20, right.threads),
    Stage('latency', 'figures', 120, 20, speed.latency),
    Stage('bandwidth', 'figures', 200, 30, speed.bandwidth),
    Stage('links', 'figures', 60, 15, speed.links),
    Stage('registered', 'figures', 120, 30, speed.registered),
    Stage('symmetric_memory', 'figures', 90, 30, frameworks.symmetric_memory),
    Stage('processes', 'figures', 60, 15, right.processes),
    Stage('same_bits', 'figures', 40, 10, right.same_bits),
    Stage('creation', 'figures', 40, 10, speed.creation),
    Stage('crossovers', 'figures', 60, 15, speed.crossovers),
    Stage('decoder', 'drop-in', 240, 60, frameworks.decoder),
    Stage('nccl_tests', 'drop-in', 240, 60, frameworks.nccl_tests),
    Stage('training', 'drop-in', 150, 60, frameworks.training),
    Stage('atoms', 'figures', 90, 20, speed.atoms),
    Stage('grids', 'figures', 90, 20, speed.grids),
    Stage('tuned', 'figures', 300, 60, speed.tuned),
]


def arguments():
    stages = '\n'.join('  %-17s%-8s  %4d s  %s' % (stage.name, stage.part, stage.limit, stage.work.__doc__.split('\n')[0])
                       for stage in STAGES)
    parser = argparse.ArgumentParser(prog='bench/multi.sh', description=__doc__, epilog='stages, part, limit:\n' + stages,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('ranks', type=int, help='ranks, one a GPU')
    parser.add_argument('--out', default='', help='folder of the results (build/multi-xN)')
    parser.add_argument('--minutes', type=float, default=9, help='for the whole run (9)')
    parser.add_argument('--part', choices=['figures', 'drop-in', 'all'], default='all', help='which stages (all)')
    parser.add_argument('--stages', default='', help='these alone, a list')
    parser.add_argument('--host', action='store_true', help='rehearse with CPU ranks')
    parser.add_argument('--build', default=os.path.join(ROOT, 'build', 'release'), help='holds bin/purlin (build/release)')
    parser.add_argument('--nccl', default='', help='the libnccl.so.2 to compare with (the one of this Python\'s PyTorch)')
    parser.add_argument('--nccl-tests', default='', help='folder of nccl-tests\' binaries')
    parser.add_argument('--policy', default='', help='policy of all figures (found by search)')
    parser.add_argument('--tuned', default='', help='policy of the stage tuned (bench/sweep writes one)')
    parser.add_argument('--sweep-minutes', type=float, default=1.5, help='that bench/sweep may take (1.5)')
    given = parser.parse_args()
    if not 2 <= given.ranks <= 64:
        parser.error('ranks: from 2 to 64, not %d' % given.ranks)
    given.stages = [name for name in given.stages.split(',') if name]
    unknown = [name for name in given.stages if name not in [stage.name for stage in STAGES]]
    if unknown:
        parser.error('--stages: %s is no stage; --help lists them' % unknown[0])
    given.out = given.out or os.path.join(ROOT, 'build', 'multi-x%d' % given.ranks)
    if not os.access(os.path.join(given.build, 'bin', 'purlin'), os.X_OK):
        parser.error('--build: %s has no bin/purlin; build it, or name another folder' % given.build)
    return given


def wanted(stage, options):
    if options.stages:
        return stage.name in options.stages
    return options.part in ('all', stage.part)


def run(stage, session):
    begun = time.monotonic()
    session.failures, session.log_name = [], stage.name
    session.stage_end = min(session.deadline, begun + stage.limit)
    verdict, said = 'done', []
    print('== [%4d s] %s: %s' % (begun - session.begun, stage.name, stage.work.__doc__.split('\n')[0]), flush=True)
    try:
        if session.left_in_all() < stage.least:
            raise Skip('no time: %d s are left of %g minutes' % (session.left_in_all(), session.options.minutes))
        stage.work(session)
    except Skip as reason:
        verdict, said = 'skipped', [str(reason)]
        print('  SKIP %s' % reason, flush=True)
    if session.failures:
        verdict, said = 'failed', session.failures
    session.stages.append({'stage': stage.name, 'verdict': verdict, 'seconds': round(time.monotonic() - begun, 1),
                           'said': said})


def main():
    session = Session(arguments())
    if not session.host and session.gpus == 0:
        sys.exit('bench/multi.sh: the CUDA driver shows no GPU; --host rehearses with CPU ranks')
    if session.rehearsal and not session.host:
        print('Rehearsal: %d ranks share %d GPU%s; the figures say nothing of links.' % (
            session.ranks, session.gpus, 's' if session.gpus > 1 else ''))
    try:
        for stage in STAGES:
            if wanted(stage, session.options):
                run(stage, session)
                session.save()
                summary.write(session)
                plots.draw(session, stage.name)
    finally:
        session.close()
    print(summary.closing(session))
    return 1 if any(stage['verdict'] == 'failed' for stage in session.stages) else 0


if __name__ == '__main__':
    sys.exit(main())
