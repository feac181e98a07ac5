"""The cases of torch_two_ranks.py: each takes rank and size, and raises when a result is wrong."""
import torch
import torch.distributed as dist

CASES = {'collectives': {}, 'training': {}}
_DEVICE = 'cuda:0'


def join(rank, size, store):
    global _DEVICE  # ranks take the GPUs in turn
    _DEVICE = 'cuda:%d' % (rank % torch.cuda.device_count())
    torch.cuda.set_device(_DEVICE)
    torch.manual_seed(5)
    dist.init_process_group('nccl', store=dist.FileStore(store, size), rank=rank, world_size=size,
                            device_id=torch.device(_DEVICE))


def leave():
    torch.cuda.synchronize()
    dist.destroy_process_group()


def case(kind):
    def register(function):
        CASES[kind][function.__name__] = function
        return function
    return register


def same(found, expected):
    torch.cuda.synchronize()
    expected = torch.as_tensor(expected, dtype=found.dtype, device=found.device)
    if not torch.equal(found, expected):
        raise AssertionError('found %s, expected %s' % (found.flatten()[:8].tolist(),
                                                        expected.flatten()[:8].tolist()))


def full(value, count=1000, dtype=torch.float32):
    return torch.full((count,), value, dtype=dtype, device=_DEVICE)


@case('collectives')
def all_reduce_types(rank, size):
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8,
                  torch.int32, torch.int64):
        data = full(rank + 1, dtype=dtype)
        dist.all_reduce(data)
        same(data, full(3, dtype=dtype))
    flags = torch.tensor([rank == 0, False], device=_DEVICE)
    dist.all_reduce(flags)
    same(flags, [True, False])


@case('collectives')
def all_reduce_operations(rank, size):
    for op, expected in ((dist.ReduceOp.SUM, 5), (dist.ReduceOp.PRODUCT, 6), (dist.ReduceOp.MIN, 2),
                         (dist.ReduceOp.MAX, 3), (dist.ReduceOp.AVG, 2.5)):
        data = full(rank + 2)
        dist.all_reduce(data, op=op)
        same(data, full(expected))


@case('collectives')
def pre_multiplied_sums(rank, size):
    data = full(rank + 1)
    dist.all_reduce(data, op=dist._make_nccl_premul_sum(0.5))
    same(data, full(1.5))
    factor = torch.tensor([0.25], device=_DEVICE)
    data = full(rank + 1)
    dist.all_reduce(data, op=dist._make_nccl_premul_sum(factor))
    same(data, full(0.75))


@case('collectives')
def broadcast_and_reduce(rank, size):
    for root in range(size):
        data = full(rank + 10)
        dist.broadcast(data, src=root)
        same(data, full(root + 10))
        data = full(rank + 1)
        dist.reduce(data, dst=root)
        if rank == root:
            same(data, full(3))


@case('collectives')
def all_gather_forms(rank, size):
    parts = [full(-1) for _ in range(size)]
    dist.all_gather(parts, full(rank))
    for r in range(size):
        same(parts[r], full(r))
    whole = full(-1, 2000)
    dist.all_gather_into_tensor(whole, full(rank))
    same(whole, torch.cat([full(0), full(1)]))
    uneven = [full(-1, 100 + 50 * r) for r in range(size)]
    dist.all_gather(uneven, full(rank, 100 + 50 * rank))
    for r in range(size):
        same(uneven[r], full(r, 100 + 50 * r))


@case('collectives')
def reduce_scatter_forms(rank, size):
    out = full(-1)
    dist.reduce_scatter(out, [full(r + rank) for r in range(size)])
    same(out, full(2 * rank + 1))
    out = full(-1)
    dist.reduce_scatter_tensor(out, torch.cat([full(r * 10 + rank) for r in range(size)]))
    same(out, full(rank * 20 + 1))
    out = full(-1, 100 + 50 * rank)
    dist.reduce_scatter(out, [full(r + rank, 100 + 50 * r) for r in range(size)])
    same(out, full(2 * rank + 1, 100 + 50 * rank))


@case('collectives')
def all_to_all_forms(rank, size):
    out = full(-1, 2000)
    dist.all_to_all_single(out, torch.cat([full(rank * 10 + r) for r in range(size)]))
    same(out, torch.cat([full(r * 10 + rank) for r in range(size)]))
    sent, taken = ([3, 0], [3, 5]) if rank == 0 else ([5, 4], [0, 4])
    out = full(-1, sum(taken))
    dist.all_to_all_single(out, full(rank, sum(sent)), output_split_sizes=taken, input_split_sizes=sent)
    same(out, torch.cat([full(r, taken[r]) for r in range(size)]))
    parts = [full(-1, 7) for _ in range(size)]
    dist.all_to_all(parts, [full(rank * 10 + r, 7) for r in range(size)])
    for r in range(size):
        same(parts[r], full(r * 10 + rank, 7))


@case('collectives')
def gather_and_scatter(rank, size):
    parts = [full(-1) for _ in range(size)] if rank == 1 else None
    dist.gather(full(rank), parts, dst=1)
    if rank == 1:
        for r in range(size):
            same(parts[r], full(r))
    out = full(-1)
    dist.scatter(out, [full(r + 5) for r in range(size)] if rank == 0 else None, src=0)
    same(out, full(rank + 5))


@case('collectives')
def send_and_recv(rank, size):
    if rank == 0:
        dist.send(full(42), dst=1)
    else:
        data = full(-1)
        dist.recv(data, src=0)
        same(data, full(42))
    peer, out = 1 - rank, full(-1)
    for request in dist.batch_isend_irecv([dist.P2POp(dist.isend, full(rank), peer),
                                           dist.P2POp(dist.irecv, out, peer)]):
        request.wait()
    same(out, full(peer))


@case('collectives')
def objects(rank, size):
    everyone = [None] * size
    dist.all_gather_object(everyone, {'rank': rank, 'text': 'x' * (rank * 100)})
    assert everyone == [{'rank': r, 'text': 'x' * (r * 100)} for r in range(size)], everyone
    one = ['of rank %d' % rank]
    dist.broadcast_object_list(one, src=1)
    assert one == ['of rank 1'], one
    gathered = [None] * size if rank == 0 else None
    dist.gather_object(rank, gathered, dst=0)
    assert rank != 0 or gathered == list(range(size)), gathered
    mine = [None]
    dist.scatter_object_list(mine, ['a', 'b'] if rank == 0 else None, src=0)
    assert mine == ['ab'[rank]], mine
    dist.barrier()


@case('collectives')
def coalesced(rank, size):
    tensors = [full(rank + i) for i in range(3)]
    with dist._coalescing_manager(device=torch.device(_DEVICE)):
        for tensor in tensors:
            dist.all_reduce(tensor)
    for i, tensor in enumerate(tensors):
        same(tensor, full(2 * i + 1))
    outs = [full(-1, 2000) for _ in range(2)]
    with dist._coalescing_manager(device=torch.device(_DEVICE)):
        for i, out in enumerate(outs):
            dist.all_gather_into_tensor(out, full(rank + 10 * i))
    for i, out in enumerate(outs):
        same(out, torch.cat([full(10 * i), full(10 * i + 1)]))


@case('collectives')
def groups(rank, size):
    both = dist.new_group([0, 1])
    data = full(rank + 1)
    dist.all_reduce(data, group=both)
    same(data, full(3))
    alone = [dist.new_group([r]) for r in range(size)]
    data = full(rank + 1)
    dist.all_reduce(data, group=alone[rank])
    same(data, full(rank + 1))
    dist.destroy_process_group(both)


@case('collectives')
def captured(rank, size):
    data, out = full(rank + 1), full(-1, 2000)
    source = torch.cat([full(rank * 10 + r) for r in range(size)])
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):  # what a graph uses has been used before
        dist.all_reduce(data)
        dist.all_to_all_single(out, source)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream, capture_error_mode='thread_local'):
        dist.all_reduce(data)
        dist.all_to_all_single(out, source)
    for value in (3, 7):
        data.fill_(value + rank)
        source.copy_(torch.cat([full(value + rank * 10 + r) for r in range(size)]))
        torch.cuda.synchronize()
        graph.replay()
        same(data, full(2 * value + 1))
        same(out, torch.cat([full(value + r * 10 + rank) for r in range(size)]))


def model():
    torch.manual_seed(7)
    return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8)).to(_DEVICE)


def losses(network, steps=3):
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    torch.manual_seed(9)
    found = []
    for _ in range(steps):
        data, target = torch.randn(16, 64, device=_DEVICE), torch.randn(16, 8, device=_DEVICE)
        loss = torch.nn.functional.mse_loss(network(data), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def close(found, expected):
    if any(abs(a - b) > 1e-5 for a, b in zip(found, expected)):
        raise AssertionError('losses %s, without it %s' % (found, expected))


@case('training')
def ddp(rank, size):
    from torch.nn.parallel import DistributedDataParallel
    close(losses(DistributedDataParallel(model(), device_ids=[torch.device(_DEVICE)])), losses(model()))


@case('training')
def fsdp(rank, size):
    from torch.distributed.fsdp import FullyShardedDataParallel
    close(losses(FullyShardedDataParallel(model(), device_id=torch.device(_DEVICE))), losses(model()))


@case('training')
def fsdp2(rank, size):
    from torch.distributed.fsdp import fully_shard
    network = model()
    fully_shard(network)
    close(losses(network), losses(model()))
