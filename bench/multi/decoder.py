#!/usr/bin/env python3
"""Decodes with random weights over tensor-parallel ranks, by Purlin and by NCCL in turn in the same processes.

  python3 bench/multi/decoder.py --ranks 2 --purlin build/release/lib/libnccl.so.2 --nccl libnccl.so.2 --out decoder.json

Steps are CUDA graphs that hold the libraries' calls. The tokens of all ranks must be the same; those of both libraries
too where there are two ranks, since then both add the same two numbers. With more ranks NCCL adds in an order of its
own, so the first token that differs is told. Times are milliseconds a token, of the slowest rank, the median of passes
that alternate.
"""
import argparse
import json
import os
import statistics
import sys
import time

import ranks


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ranks', type=int, required=True)
    parser.add_argument('--purlin', required=True, help='its libnccl.so.2')
    parser.add_argument('--nccl', default='', help='NCCL\'s; without it Purlin is timed alone')
    parser.add_argument('--out', required=True)
    parser.add_argument('--device', choices=['cuda', 'cpu'], default='cuda')
    parser.add_argument('--shape', default='8b', help='8b, small or tiny')
    parser.add_argument('--batches', default='1,4,16,64')
    parser.add_argument('--tokens', type=int, default=48, help='tokens a pass')
    parser.add_argument('--passes', type=int, default=5)
    parser.add_argument('--one-gpu', action='store_true', help='all ranks on one GPU')
    ranks.add_options(parser)
    return parser.parse_args()


class Steps:
    """One library's: the step, captured where there is a GPU."""

    def __init__(self, name, path, given, model, dist):
        import torch
        from nccl_calls import Communicator
        self.name, self.model, self.torch, self.on_gpu = name, model, torch, given.device == 'cuda'
        self.comm = Communicator(path, given.rank, given.size, ranks.from_rank_0(dist))
        self.graph = None

    def stream(self):
        return self.torch.cuda.current_stream().cuda_stream if self.on_gpu else None

    def all_reduce(self, tensor):
        self.comm.all_reduce(tensor, self.stream())
        return tensor

    def step(self):
        self.model.step(self.all_reduce, lambda out, part: self.comm.all_gather(out, part, self.stream()))

    def prepare(self, dist):
        """Steps that are not timed, then the graph: what is loaded at first use must not be part of it."""
        self.graph = None
        if not self.on_gpu:
            return
        torch = self.torch
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(2):
                self.step()
        torch.cuda.synchronize()
        dist.barrier()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream, capture_error_mode='thread_local'):
            self.step()
        torch.cuda.synchronize()

    def decode(self, tokens, dist):
        """(milliseconds a token, the tokens)"""
        self.model.rewind()
        self.wait()
        dist.barrier()
        begun = time.perf_counter()
        for _ in range(tokens):
            if self.graph:
                self.graph.replay()
            else:
                self.step()
        self.wait()
        return (time.perf_counter() - begun) * 1000 / tokens, self.model.made[:, :tokens].cpu().tolist()

    def wait(self):
        if self.on_gpu:
            self.torch.cuda.synchronize()


def work(given):
    import torch
    from decoder_model import SHAPES, Decoder
    dist = ranks.join(given.rank, given.size, given.store)
    device = 'cpu'
    if given.device == 'cuda':
        device = 'cuda:%d' % (0 if given.one_gpu else given.rank)
        torch.cuda.set_device(device)
    shape = SHAPES[given.shape]
    with torch.inference_mode():
        model = Decoder(shape, given.rank, given.size, device, torch.bfloat16, given.tokens + 8)
        libraries = [('purlin', given.purlin)] + ([('nccl', given.nccl)] if given.nccl else [])
        steps = [Steps(name, path, given, model, dist) for name, path in libraries]
        rows = [measure(int(batch), given, model, steps, dist) for batch in given.batches.split(',')]
        for one in steps:
            one.graph = None
            one.comm.destroy()
    if given.rank == 0:
        text = '%s; bf16, random weights, %d ranks, %d tokens a pass, %d passes' % (shape, given.size, given.tokens,
                                                                               given.passes)
        with open(given.out, 'w', encoding='utf-8') as file:
            json.dump({'shape': text, 'rows': rows}, file, indent=1)
    dist.barrier()
    dist.destroy_process_group()
    return 0


def measure(batch, given, model, steps, dist):
    model.start(batch)
    for one in steps:
        one.prepare(dist)
    times, tokens = {one.name: [] for one in steps}, {one.name: set() for one in steps}
    for _ in range(given.passes):
        for one in steps:
            took, made = one.decode(given.tokens, dist)
            everywhere = ranks.of_all(dist, (took, json.dumps(made)))
            times[one.name].append(max(rank[0] for rank in everywhere))
            tokens[one.name].update(rank[1] for rank in everywhere)
    return judge(batch, {name: statistics.median(all_) for name, all_ in times.items()}, tokens, given.size)


def judge(batch, times, tokens, size):
    """A row of the result; `tokens`: by library, the different lists of all ranks and passes."""
    row = {'batch': batch, 'purlin_ms': times['purlin'], 'nccl_ms': times.get('nccl'),
           'ratio': times['nccl'] / times['purlin'] if 'nccl' in times else None, 'right': True,
           'said': 'the same on all ranks and in all passes'}
    if len(tokens['purlin']) != 1:
        row.update(right=False, said='ranks or passes made %d different lists of tokens' % len(tokens['purlin']))
    elif 'nccl' in tokens and tokens['nccl'] != tokens['purlin']:
        same = first_difference(*(json.loads(next(iter(tokens[name]))) for name in ('purlin', 'nccl')))
        row.update(right=size > 2, said='NCCL\'s differ from token %d on' % same)
    elif 'nccl' in tokens:
        row['said'] = 'equal to NCCL\'s, ' + row['said']
    return row


def first_difference(one, other):
    return min((index for mine, theirs in zip(one, other) for index, pair in enumerate(zip(mine, theirs))
                if pair[0] != pair[1]), default=0)


def main():
    given = options()
    if given.rank >= 0:
        return work(given)
    return ranks.start(os.path.abspath(__file__), given.ranks, sys.argv[1:])


if __name__ == '__main__':
    sys.exit(main())
