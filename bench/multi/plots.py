"""latency.svg and bandwidth.svg of a run, where there is matplotlib."""
import importlib.util
import os

import summary
import tables
from sizes import SEVEN, bandwidth_sizes, latency_sizes

_LINES = [('Purlin', '', 'time_us', '-'), ('NCCL', '', 'nccl_time_us', '--'),
          ('Purlin, registered', 'registered_', 'time_us', '-.'), ('NCCL, symmetric', 'registered_', 'nccl_time_us', ':')]


def draw(session, stage):
    """What the stage of this name has changed of them."""
    host = session.host
    if importlib.util.find_spec('matplotlib') is None:
        session.facts['plots'] = 'none: there is no matplotlib'
    elif stage in ('latency', 'registered'):
        _draw(session, 'latency', latency_sizes(host), 'µs', lambda row, key: row[key]['median'])
    if stage in ('bandwidth', 'registered') and 'plots' not in session.facts:
        _draw(session, 'bandwidth', bandwidth_sizes(host), 'GB/s (bus)', tables.bus_bandwidth)


def _draw(session, label, sizes, unit, of_row):
    import matplotlib
    matplotlib.use('svg')
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(2, 4, figsize=(18, 8))
    for axis, collective in zip(axes.flat, SEVEN):
        for name, prefix, key, style in _LINES:
            points = points_of(session.documents(prefix + label, collective), sizes, key, of_row)
            if points:
                axis.plot([size for size, _ in points], [value for _, value in points], style, marker='.', label=name)
        axis.set_title(collective)
        axis.set_xscale('log', base=2)
        axis.set_xlabel('bytes')
        axis.set_ylabel(unit)
        axis.set_ylim(bottom=0)
        axis.grid(True, alpha=0.3)
        if axis.lines:
            axis.legend(fontsize=8)
    axes.flat[-1].axis('off')
    figure.tight_layout()
    figure.savefig(os.path.join(session.out, label + '.svg'))
    plt.close(figure)


def points_of(documents, sizes, key, of_row):
    return sorted((summary.asked_size(row['size'], sizes), of_row(row, key))
                  for document in documents for row in document['rows'] if key in row)
