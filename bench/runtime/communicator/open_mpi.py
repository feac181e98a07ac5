#!/usr/bin/env python3
"""Purlin's host ranks against Open MPI on this machine; writes bench/results/host_open_mpi.{json,md}.

usage: open_mpi.py BENCH_OPEN_MPI [--rounds N] [--results FOLDER]

Both libraries run in the same processes, turn about, on the same buffers (see open_mpi.cc). A round starts
the program once for each setting of Open MPI. A figure is the lowest of the rounds' medians: other work on
the machine only ever adds. Purlin is measured anew beside each setting, so both figures of a ratio are the
lowest of equally many runs, the same ones; of the two ratios the one that is worse for Purlin counts. Needs mpirun of Open MPI 4.1 or newer.
"""
import argparse
import json
import os
import platform
import random
import statistics
import subprocess

SETTINGS = {'default': [], 'coll_sm': ['--mca', 'coll_sm_priority', '90']}
SIZES = {2: [2 ** k for k in range(3, 27)], 8: [2 ** k for k in range(5, 23, 2)]}


def command(program, ranks, setting, seed, repetitions):
    # One core a rank where there are as many; else the system places them.
    place = ['--bind-to', 'core'] if ranks <= os.cpu_count() else ['--oversubscribe', '--bind-to', 'none']
    return (['mpirun', '-n', str(ranks)] + place + SETTINGS[setting] +
            [program, str(seed), str(repetitions)] + [str(size) for size in SIZES[ranks]])


def run(program, ranks, setting, seed, repetitions):
    """The program's lines: what it is first, then one for each collective and size."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')
    done = subprocess.run(command(program, ranks, setting, seed, repetitions), env=environment,
                          stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]


def best(medians):
    """Lowest of the rounds."""
    return round(min(medians), 3)


def table(rows, ranks):
    lines = ['| collective | bytes | Purlin µs | Open MPI default µs | Purlin µs | with coll_sm µs | worse ratio |',
             '|---|---|---|---|---|---|---|']
    for row in rows:
        if row['ranks'] == ranks:
            lines.append('| {collective} | {bytes} | {purlin_by_default_us} | {default_us} | '
                         '{purlin_by_coll_sm_us} | {coll_sm_us} | {ratio:.2f} × |'
                         .format(**row))
    return '\n'.join(lines)


def geometric(rows, ranks, collective, low, high):
    ratios = [row['ratio'] for row in rows
              if row['ranks'] == ranks and row['collective'] == collective and low <= row['bytes'] <= high]
    return statistics.geometric_mean(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--repetitions', type=int, default=7)
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 20))
    parser.add_argument('--results', default=os.path.join(os.path.dirname(__file__), '../../results'))
    options = parser.parse_args()
    medians = {}
    loads = []
    versions = {}
    for round_number in range(options.rounds):
        for ranks in SIZES:
            for setting in SETTINGS:
                loads.append(os.getloadavg()[0])
                seed = options.seed + round_number
                first, *rest = run(options.program, ranks, setting, seed, options.repetitions)
                versions = first
                for line in rest:
                    key = (ranks, line['collective'], line['bytes'])
                    for column, name in (('purlin_us', 'purlin_by_' + setting + '_us'), ('mpi_us', setting + '_us')):
                        medians.setdefault(key, {}).setdefault(name, []).append(
                            statistics.median(line[column]))
    rows = []
    for (ranks, collective, size), columns in sorted(medians.items()):
        row = {'ranks': ranks, 'collective': collective, 'bytes': size}
        row.update({name: best(values) for name, values in columns.items()})
        row['ratio'] = min(round(row[setting + '_us'] / row['purlin_by_' + setting + '_us'], 3)
                           for setting in SETTINGS)
        row['medians_us'] = columns
        rows.append(row)
    about = {
        'purlin': versions['purlin'], 'mpi': versions['mpi'].split(', package')[0],
        'machine': '{} cores, {}, Linux {}'.format(os.cpu_count(), processor(), platform.release()),
        'command': 'open_mpi.py bench_open_mpi --rounds {} --repetitions {} --seed {}'.format(
            options.rounds, options.repetitions, options.seed),
        'load': 'load average {:.1f} to {:.1f} when the runs began'.format(min(loads), max(loads)),
    }
    base = os.path.join(options.results, 'host_open_mpi')
    with open(base + '.json', 'w', encoding='utf-8') as file:
        json.dump({'about': about, 'rows': rows}, file, indent=1)
        file.write('\n')
    with open(base + '.md', 'w', encoding='utf-8') as file:
        file.write(text(about, rows))
    print(text(about, rows))


def text(about, rows):
    summary = '\n'.join(
        '| {} | {} | {} | {:.2f} × |'.format(ranks, collective, name, geometric(rows, ranks, collective, low, high))
        for ranks in SIZES for collective in ('all_reduce', 'all_gather')
        for name, low, high in (('up to 2 KiB', 0, 2 << 10), ('4 KiB … 16 KiB', 4 << 10, 16 << 10),
                                ('32 KiB and more', 32 << 10, 1 << 40)))
    return ('# Host ranks against Open MPI\n\n'
            'f32, sum, ranks as processes; microseconds of one call, calls back to back. How it is measured:\n'
            '`bench/runtime/communicator/open_mpi.py`. Ratios above 1 mean that Purlin is faster than both '
            'settings of Open MPI, each beside it in the same processes.\n\n'
            'Inputs change from block to block, not from call to call: where input is copied straight from the '
            'peer, as both do in\nall_gather from some KiB to some MiB, its lines are still in the reader\'s cache. '
            'The load below is that\nof other work on the same cores; large ratios of all_reduce owe '
            'something to it.\n\n' +
            '\n'.join('* {}: {}'.format(key, value) for key, value in about.items()) +
            '\n\n| ranks | collective | sizes | geometric mean of the ratios |\n|---|---|---|---|\n' + summary +
            ''.join('\n\n## {} ranks\n\n{}'.format(ranks, table(rows, ranks)) for ranks in SIZES) + '\n')


def processor():
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        return next((line.split(':')[1].strip() for line in file if line.startswith('model name')),
                    platform.machine())


if __name__ == '__main__':
    main()
