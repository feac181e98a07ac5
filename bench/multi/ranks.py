"""Processes of one script, a rank each, that PyTorch's gloo lets talk; for the scripts of this folder."""
import datetime
import os
import subprocess
import sys
import tempfile

_SECONDS = 200


def start(script, size, arguments):
    """Runs `script` with --rank, --size and --store added, once a rank; returns 0, or the first status that is not."""
    with tempfile.TemporaryDirectory() as folder:
        started = [subprocess.Popen([sys.executable, '-B', script, *arguments, '--rank', str(rank), '--size', str(size),
                                     '--store', os.path.join(folder, 'store')]) for rank in range(size)]
        try:
            return next((status for status in (process.wait() for process in started) if status != 0), 0)
        finally:
            for process in started:
                process.kill()
                process.wait()


def join(rank, size, store):
    """torch.distributed with gloo among these ranks."""
    import torch.distributed as dist
    dist.init_process_group('gloo', store=dist.FileStore(store, size), rank=rank, world_size=size,
                            timeout=datetime.timedelta(seconds=_SECONDS))
    return dist


def add_options(parser):
    parser.add_argument('--rank', type=int, default=-1, help='set by the script itself, like --size and --store')
    parser.add_argument('--size', type=int, default=0)
    parser.add_argument('--store', default='')


def from_rank_0(dist):
    """A function that gives every rank the value that rank 0 passes."""
    def share(value):
        shared = [value]
        dist.broadcast_object_list(shared, src=0)
        return shared[0]
    return share


def of_all(dist, value):
    found = [None] * dist.get_world_size()
    dist.all_gather_object(found, value)
    return found
