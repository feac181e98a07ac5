#!/usr/bin/env python3
"""Draws what `purlin perf atom --json` wrote: bandwidth against CTAs, one line a program, and bytes in flight against need.

  bench/gpu/plot_atom.py OUT.svg FILE.json ...
"""
import json
import sys

import matplotlib

matplotlib.use('svg')
import matplotlib.pyplot as plt  # noqa: E402


def size_text(bytes_):
    return '%gKiB' % (bytes_ / 1024) if bytes_ >= 1024 else '%dB' % bytes_


def lines_of(document):
    """{label: [(ctas, GB/s, plain GB/s)]} of one file."""
    lines = {}
    for row in document['rows']:
        label = '%s %d x %s%s' % (row['atom'], row['stages'], size_text(row['stage_bytes']),
                                  ', draining' if document['drain'] else '')
        lines.setdefault(label, []).append((row['ctas'], row['read_GBps'], row['plain_GBps']))
    return lines


def main(out, files):
    figure, axes = plt.subplots(1, len(files), figsize=(6.5 * len(files), 4.5), squeeze=False)
    for axis, name in zip(axes[0], files):
        with open(name, encoding='utf-8') as file:
            document = json.load(file)
        plain = {}
        for label, points in sorted(lines_of(document).items()):
            points.sort()
            axis.plot([p[0] for p in points], [p[1] for p in points], marker='o', label=label)
            plain.update({p[0]: p[2] for p in points if p[2] > 0})
        if plain:
            axis.plot(sorted(plain), [plain[c] for c in sorted(plain)], 'k--', label='plain vector code')
        axis.set_xscale('log', base=2)
        axis.set_xlabel('CTAs')
        axis.set_ylabel('GB/s read')
        axis.set_title('%s of %s, %d source%s' % (document['op'], document['dtype'] if document['op'] == 'reduce' else 'bytes',
                                                  document['sources'], 's' if document['sources'] > 1 else ''))
        axis.grid(True, alpha=0.3)
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(out)


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
