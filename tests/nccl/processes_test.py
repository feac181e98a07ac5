"""Processes that open libnccl.so.2 with ctypes, as vLLM does: calls, and what is said when one dies."""
import ctypes
import multiprocessing
import os
import signal
import unittest

import level

_LIBRARY = os.path.join(os.environ.get('PURLIN_BINARY_DIR', ''), 'lib/libnccl.so.2')
_INT32, _SUM, _REMOTE_ERROR = 2, 0, 6


class Id(ctypes.Structure):
    _fields_ = [('bytes', ctypes.c_byte * 128)]


def open_library():
    os.environ['PURLIN_NCCL_DEVICE'] = 'host'
    library = ctypes.CDLL(_LIBRARY)
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library.ncclCommInitRank.argtypes = [pointer, number, Id, number]
    library.ncclAllReduce.argtypes = [pointer, pointer, size, number, number, pointer, pointer]
    library.ncclSend.argtypes = library.ncclRecv.argtypes = [pointer, size, number, number, pointer, pointer]
    library.ncclCommDestroy.argtypes = library.ncclCommAbort.argtypes = [pointer]
    library.ncclCommGetAsyncError.argtypes = [pointer, pointer]
    library.ncclGetLastError.argtypes = [pointer]
    library.ncclGetLastError.restype = ctypes.c_char_p
    return library


def rank_main(rank, size, raw_id, dies, all_done, results):
    lib = open_library()
    comm = ctypes.c_void_p()
    code = lib.ncclCommInitRank(ctypes.byref(comm), size, Id.from_buffer_copy(raw_id), rank)
    mine, total, other = ctypes.c_int(rank + 1), ctypes.c_int(), ctypes.c_int()
    codes = [code, lib.ncclAllReduce(ctypes.byref(mine), ctypes.byref(total), 1, _INT32, _SUM, comm, None)]
    codes.append(lib.ncclGroupStart())
    codes.append(lib.ncclSend(ctypes.byref(mine), 1, _INT32, (rank + 1) % size, comm, None))
    codes.append(lib.ncclRecv(ctypes.byref(other), 1, _INT32, (rank - 1) % size, comm, None))
    codes.append(lib.ncclGroupEnd())
    if dies:
        all_done.wait()  # so that nobody is still in the calls before
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        codes.append(lib.ncclAllReduce(ctypes.byref(mine), ctypes.byref(total), 1, _INT32, _SUM, comm, None))
        state = ctypes.c_int()
        codes.append(lib.ncclCommGetAsyncError(comm, ctypes.byref(state)))
        results.put((rank, codes, state.value, lib.ncclGetLastError(comm).decode()))
        lib.ncclCommAbort(comm)
        return
    codes.append(lib.ncclCommDestroy(comm))
    results.put((rank, codes, total.value, other.value))


class Processes(unittest.TestCase):
    def setUp(self):
        if os.environ.get('PURLIN_SANITIZE'):
            level.skip('python3 is not built with a sanitizer and cannot load this library')
            self.skipTest('see above')

    def run_ranks(self, size, dies):
        unique = Id()
        self.assertEqual(open_library().ncclGetUniqueId(ctypes.byref(unique)), 0)
        context = multiprocessing.get_context('spawn')
        results, all_done = context.Queue(), context.Barrier(size)
        ranks = [context.Process(target=rank_main, args=(r, size, bytes(unique), dies, all_done, results))
                 for r in range(size)]
        for rank in ranks:
            rank.start()
        said = sorted(results.get(timeout=100) for _ in range(size - (1 if dies else 0)))
        for rank in ranks:
            rank.join()
        level.count_cases(1)
        return said

    def test_processes_reduce_and_exchange(self):
        for rank, codes, total, other in self.run_ranks(3, dies=False):
            self.assertEqual(codes, [0] * 7)
            self.assertEqual((total, other), (6, (rank - 1) % 3 + 1))

    def test_a_killed_process_is_named(self):
        for rank, codes, state, text in self.run_ranks(3, dies=True):
            self.assertNotEqual(rank, 1)
            self.assertEqual(codes, [0] * 6 + [_REMOTE_ERROR, 0])
            self.assertEqual(state, _REMOTE_ERROR)
            self.assertIn('rank 1', text)


if __name__ == '__main__':
    level.main()
