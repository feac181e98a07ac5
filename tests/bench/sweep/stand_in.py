"""Answers for a GPU that is not there, as `purlin` and `nvidia-smi` would: times of a model that the test knows.

Two ranks on two H200. Times of chunks follow from bytes in flight, chunk and direction, those of packets from the
size; what needs no GPU goes on to the real command.
"""
import json
import os
import re
import subprocess
import sys

LINK_GBPS, ROUND_TRIP_NS = 300.0, 1200.0
SHARED_BYTES = 227 << 10
BEST_CHUNK = 256 << 10
PACKETS_WIN_TO = 128 << 10  # of all_gather and reduce_scatter; all_reduce moves twice as much


def link_us(size):
    return size / LINK_GBPS / 1000


def packets_us(collective, size, one_shot):
    moved = size if collective != 'all_reduce' or one_shot else size / 2
    return (2.0 if one_shot or collective != 'all_reduce' else 4.0) + 4 * link_us(moved)


def chunks_us(collective, size, policy):
    """Fewest bytes in flight that fill the link, chunks of 256KiB and the right direction are best."""
    in_flight = policy['gather' if collective != 'reduce_scatter' else 'reduce'] * policy['stages'] * policy['stage_bytes']
    share = min(1.0, in_flight / (LINK_GBPS * ROUND_TRIP_NS))
    right = 'push' if collective == 'all_to_all' else 'pull'
    slow = (1.0 if policy['direction'] == right else 1.1) * (1 + 0.1 * abs(
        policy['chunk'].bit_length() - BEST_CHUNK.bit_length()))
    start = packets_us('all_gather', PACKETS_WIN_TO, False) - link_us(PACKETS_WIN_TO)
    return start + link_us(size) / share * slow


def read_policy(text):
    policy = {key: int(value) for key, value in re.findall(r'(\w+): (\d+)', text)}
    direction = re.search(r'direction: (\w+)', text)
    policy['direction'] = direction.group(1) if direction else 'pull'
    return policy


def option(arguments, name, otherwise=None):
    return arguments[arguments.index(name) + 1] if name in arguments else otherwise


def atom(arguments):
    stages, stage_bytes, rows = 6, 32768, []
    for ctas in map(int, option(arguments, '--ctas').split(',')):
        rows.append({'ctas': ctas, 'stages': stages, 'stage_bytes': stage_bytes, 'read_GBps': min(
            LINK_GBPS, ctas * stages * stage_bytes / ROUND_TRIP_NS)})
    with open(option(arguments, '--json'), 'w', encoding='utf-8') as file:
        json.dump({'architecture': 'sm_90', 'multiprocessors': 132, 'round_trip_ns': ROUND_TRIP_NS, 'rows': rows}, file)


def perf(arguments):
    with open(option(arguments, '--policy'), encoding='utf-8') as file:
        policy = read_policy(file.read())
    if '--check' in arguments:
        return
    collective = arguments[0]
    if policy.get('stages', 0) * policy.get('stage_bytes', 0) > SHARED_BYTES:
        sys.exit('POLICY: %d stages do not fit the shared memory' % policy['stages'])
    first, last, factor = (int(option(arguments, name)) for name in ('-b', '-e', '-f'))
    rows = []
    while first <= last:
        one_shot = first <= policy.get('one_shot_limit', 0)
        time = packets_us(collective, first, one_shot) if option(arguments, '--path') == 'latency' else \
            chunks_us(collective, first, policy)
        rows.append({'size': first, 'time_us': {'median': time}})
        first *= factor
    print(json.dumps({'rows': rows}))


def main():
    if os.path.basename(sys.argv[1]) == 'nvidia-smi':
        print('NVIDIA H200, 580.0\nNVIDIA H200, 580.0')
    elif sys.argv[2:4] == ['perf', 'atom']:
        atom(sys.argv[4:])
    elif sys.argv[2] == 'perf':
        perf(sys.argv[3:])
    else:
        sys.exit(subprocess.run([os.environ['REAL_PURLIN'], *sys.argv[2:]], check=False).returncode)


if __name__ == '__main__':
    main()
