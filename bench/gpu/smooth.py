#!/usr/bin/env python3
"""Whether time grows evenly with size: four sizes an octave, and odd sizes at misaligned addresses.

  bench/gpu/smooth.py OUT [--purlin COMMAND] [--device cuda|host] [--ranks 2] [--collectives all_reduce,all_gather]

Two things are bad: a size that takes more than 1.15 times what the next larger one takes, and an odd size (one element
more, buffers 4 bytes past an aligned address) that takes more than 1.15 times what the even size takes. Writes OUT/smooth.jsonl
(one document of `purlin perf --json` a line) and OUT/smooth.md.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

LIMIT = 1.15
STEPS = (4, 5, 6, 7)  # quarters of the octave's first size
ELEMENT = 4


def measure(given, collective, begin, end, odd):
    """Median times by size, and the document."""
    with tempfile.TemporaryDirectory() as work:
        document = os.path.join(work, 'row.json')
        command = [given.purlin, 'perf', collective, '-n', str(given.ranks), '-d', 'f32', '-b', str(begin), '-e', str(end),
                   '--device', given.device, '--timeout', '20', '--json', document]
        if odd:
            command += ['--misalign', '4']
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit('%s: %s' % (' '.join(command), done.stderr.strip()))
        with open(document, encoding='utf-8') as file:
            found = json.load(file)
    return {row['size']: row['time_us']['median'] for row in found['rows']}, found


def curve(given, collective, log):
    """(size, even time, odd time) in order of size."""
    even, odd = {}, {}
    for quarters in STEPS:
        begin = given.begin // 4 * quarters
        times, document = measure(given, collective, begin, given.end, False)
        even.update(times)
        log.write(json.dumps(document) + '\n')
        # One element more for each rank's part, so that parts stay equal; it doubles with the size.
        begin += ELEMENT * given.ranks
        times, document = measure(given, collective, begin, begin << len(times) - 1, True)
        odd.update(times)
        log.write(json.dumps(document) + '\n')
    return [(size, even[size], odd[other]) for size, other in zip(sorted(even), sorted(odd), strict=True)]


def judge(rows):
    """(what, size, ratio) of the worst size against the next and the worst odd one; all that exceed the limit."""
    steps = [('even', rows[i][0], rows[i][1] / rows[i + 1][1]) for i in range(len(rows) - 1)]
    odds = [('odd', size, odd / even) for size, even, odd in rows]
    worst = [max(steps, key=lambda one: one[2]), max(odds, key=lambda one: one[2])]
    return worst, [one for one in steps + odds if one[2] > LIMIT]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out')
    parser.add_argument('--purlin', default='build/release/bin/purlin')
    parser.add_argument('--device', default='cuda', choices=['cuda', 'host'])
    parser.add_argument('--ranks', type=int, default=2)
    parser.add_argument('--collectives', default='all_reduce,all_gather')
    parser.add_argument('--begin', type=int, default=1 << 10)
    parser.add_argument('--end', type=int, default=1 << 26)
    given = parser.parse_args()
    os.makedirs(given.out, exist_ok=True)
    text = ['| collective | sizes | worst against the next larger | worst odd against even | above %.2f |' % LIMIT,
            '|---|---|---|---|---|']
    details = []
    with open(os.path.join(given.out, 'smooth.jsonl'), 'w', encoding='utf-8') as log:
        for collective in given.collectives.split(','):
            rows = curve(given, collective, log)
            (step, odd), above = judge(rows)
            text.append('| %s | %d | %.2f at %d | %.2f at %d | %s |' % (
                collective, len(rows), step[2], step[1], odd[2], odd[1],
                ', '.join('%s %d: %.2f' % one for one in above) or 'none'))
            details += ['', '| %s, bytes | even, us | odd, us |' % collective, '|---|---|---|']
            details += ['| %d | %.2f | %.2f |' % row for row in rows]
    with open(os.path.join(given.out, 'smooth.md'), 'w', encoding='utf-8') as file:
        file.write('\n'.join(text + details) + '\n')
    print('\n'.join(text))


if __name__ == '__main__':
    main()
