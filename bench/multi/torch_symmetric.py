#!/usr/bin/env python3
"""Times PyTorch's symmetric memory: all_reduce of bf16, one-shot and two-shot, replays of graphs of 20 calls.

  python3 bench/multi/torch_symmetric.py --ranks 2 --out symmetric.json

Writes {"torch_one_shot": document, "torch_two_shot": document}, rows as `purlin perf --json` has them: the median of
each rank's replays, of which the slowest rank's counts. The switch's multicast stays off.
"""
import argparse
import json
import os
import statistics
import sys

import ranks
from sizes import MIB, bandwidth_sizes, latency_sizes

_CALLS = 20
_FORMS = {'torch_one_shot': MIB, 'torch_two_shot': bandwidth_sizes(False)[-1]}  # the largest size of each


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ranks', type=int, required=True)
    parser.add_argument('--out', required=True)
    ranks.add_options(parser)
    return parser.parse_args()


def work(given):
    import torch
    import torch.distributed._symmetric_memory as symmetric
    dist = ranks.join(given.rank, given.size, given.store)
    torch.cuda.set_device(given.rank)
    group = dist.group.WORLD
    sizes = latency_sizes(False) + bandwidth_sizes(False)
    block = symmetric.empty(sizes[-1] // 2, dtype=torch.bfloat16, device='cuda:%d' % given.rank)
    symmetric.rendezvous(block, group)
    documents = {}
    for form, most in _FORMS.items():
        rows = [row_of(torch, dist, given, form, block, size, group.group_name) for size in sizes if size <= most]
        documents[form] = {'collective': 'all_reduce', 'ranks': given.size, 'rows': rows}
    if given.rank == 0:
        with open(given.out, 'w', encoding='utf-8') as file:
            json.dump(documents, file)
    dist.barrier()
    dist.destroy_process_group()
    return 0


def row_of(torch, dist, given, form, block, size, name):
    part = block[:size // 2]

    def call():
        if form == 'torch_one_shot':
            return torch.ops.symm_mem.one_shot_all_reduce(part, 'sum', name)
        return torch.ops.symm_mem.two_shot_all_reduce_(part, 'sum', name)

    part.fill_(given.rank + 1)
    dist.barrier()
    found = call()
    torch.cuda.synchronize()
    wrong = int((found != given.size * (given.size + 1) / 2).sum())
    part.zero_()
    torch.cuda.synchronize()
    dist.barrier()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode='thread_local'):
        for _ in range(_CALLS):
            call()
    dist.barrier()
    replays = max(3, min(50, int(2e8 / size)))
    events = [torch.cuda.Event(enable_timing=True) for _ in range(replays + 1)]
    graph.replay()  # not timed
    for index, event in enumerate(events):
        event.record()
        if index < replays:
            graph.replay()
    torch.cuda.synchronize()
    median = statistics.median(one.elapsed_time(other) * 1000 / _CALLS for one, other in zip(events, events[1:]))
    everywhere = ranks.of_all(dist, (median, wrong))
    slowest = max(rank[0] for rank in everywhere)
    bandwidth = size / slowest / 1000
    return {'size': size, 'time_us': {'median': slowest}, 'algbw_GBps': bandwidth,
            'busbw_GBps': bandwidth * 2 * (given.size - 1) / given.size, 'wrong': sum(rank[1] for rank in everywhere)}


def main():
    given = options()
    if given.rank >= 0:
        return work(given)
    return ranks.start(os.path.abspath(__file__), given.ranks, sys.argv[1:])


if __name__ == '__main__':
    sys.exit(main())
