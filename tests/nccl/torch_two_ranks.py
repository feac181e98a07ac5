#!/usr/bin/env python3
"""PyTorch over libnccl.so.2, unchanged: two processes on one GPU, every collective with the right result.

  python3 tests/nccl/torch_two_ranks.py [--build build/release] [--out torch-results.json]
  python3 tests/nccl/torch_two_ranks.py --only training --ranks 4

Needs PyTorch and a GPU. Two processes share it and take turns, so there are few calls of each kind; where there are more
GPUs each has one of its own. Then one process, or --ranks of them, makes steps with DDP and FSDP. Ends with 1 unless every
case was right on every rank.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import traceback

_HERE = os.path.dirname(os.path.abspath(__file__))
_LIMIT = 540


def run_ranks(what, size, build, folder):
    """Starts `size` processes of this file; returns their verdicts, by rank."""
    library = os.path.abspath(os.path.join(build, 'lib/libnccl.so.2'))
    if not os.path.exists(library):
        sys.exit('%s is missing; build the target purlin_nccl' % library)
    processes = []
    for rank in range(size):
        environment = {**os.environ, 'LD_PRELOAD': library, 'PURLIN_ALLOW_TURNS': '1',
                       'PURLIN_DEBUG': 'info', 'TORCH_NCCL_ASYNC_ERROR_HANDLING': '1'}
        log = open(os.path.join(folder, '%s.%d.log' % (what, rank)), 'w', encoding='utf-8')
        processes.append((subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), '--worker', what, '--rank', str(rank),
             '--size', str(size), '--folder', folder], env=environment, stdout=log, stderr=log), log))
    verdicts = []
    for rank, (process, log) in enumerate(processes):
        try:
            status = process.wait(timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        log.close()
        path = os.path.join(folder, '%s.%d.json' % (what, rank))
        cases = {}
        if os.path.exists(path):
            with open(path, encoding='utf-8') as file:
                cases = json.load(file)
        with open(log.name, encoding='utf-8', errors='replace') as file:
            text = file.read()
        if status != 0:
            cases['process'] = 'status %d; its last words:\n%s' % (status, text[-3000:])
        if 'in place of NCCL' not in text:
            cases['library'] = 'the process did not use %s' % library
        verdicts.append(cases)
    return verdicts


def work(what, rank, size, folder):
    import torch_cases
    verdicts = {}
    path = os.path.join(folder, '%s.%d.json' % (what, rank))
    torch_cases.join(rank, size, os.path.join(folder, what + '.store'))
    for name, case in torch_cases.CASES[what].items():
        try:
            case(rank, size)
            verdicts[name] = 'right'
        except Exception:  # told in the verdict; the next cases may still work
            verdicts[name] = traceback.format_exc()
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(verdicts, file)
        if verdicts[name] != 'right':
            print(name, verdicts[name], flush=True)
    torch_cases.leave()
    return 0 if all(verdict == 'right' for verdict in verdicts.values()) else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default=os.path.join(_HERE, '../../build/release'))
    parser.add_argument('--out', default='torch-results.json')
    parser.add_argument('--only', choices=('collectives', 'training'))
    parser.add_argument('--ranks', type=int, default=1, help='of the training (1)')
    for name in ('--worker', '--folder'):
        parser.add_argument(name, help=argparse.SUPPRESS)
    for name in ('--rank', '--size'):
        parser.add_argument(name, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options.worker, options.rank, options.size, options.folder)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for what, size in (('collectives', 2), ('training', options.ranks)):
            if options.only in (None, what):
                results[what] = run_ranks(what, size, options.build, folder)
    with open(options.out, 'w', encoding='utf-8') as file:
        json.dump(results, file, indent=1)
    good = total = 0
    for what, ranks in results.items():
        for rank, cases in enumerate(ranks):
            for name, verdict in cases.items():
                total += 1
                good += verdict == 'right'
                if verdict != 'right':
                    print('%s, rank %d, %s: %s' % (what, rank, name, verdict))
    print('%d of %d verdicts right' % (good, total))
    return 0 if total > 0 and good == total else 1


if __name__ == '__main__':
    sys.exit(main())
