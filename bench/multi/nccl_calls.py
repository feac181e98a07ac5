"""The calls of a libnccl.so.2, opened by its path as serving engines do: several libraries side by side in one process."""
import ctypes

_TYPES = {'torch.float16': 6, 'torch.float32': 7, 'torch.bfloat16': 9}
_SUM = 0
ID_BYTES = 128


class _Id(ctypes.Structure):
    _fields_ = [('bytes', ctypes.c_byte * ID_BYTES)]


class Communicator:
    """One rank's, on the device that is current. `share(bytes)` gives every rank what rank 0 has."""

    def __init__(self, path, rank, size, share):
        library = ctypes.CDLL(path)
        pointer, count, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        library.ncclGetUniqueId.argtypes = [pointer]
        library.ncclCommInitRank.argtypes = [pointer, number, _Id, number]
        library.ncclAllReduce.argtypes = [pointer, pointer, count, number, number, pointer, pointer]
        library.ncclAllGather.argtypes = [pointer, pointer, count, number, pointer, pointer]
        library.ncclCommDestroy.argtypes = [pointer]
        library.ncclGetErrorString.restype = ctypes.c_char_p
        self.library, self.comm = library, pointer()
        made = _Id()
        if rank == 0:
            self._check('ncclGetUniqueId', library.ncclGetUniqueId(ctypes.byref(made)))
        made = _Id.from_buffer_copy(share(bytes(made)))
        self._check('ncclCommInitRank', library.ncclCommInitRank(ctypes.byref(self.comm), size, made, rank))

    def _check(self, call, code):
        if code != 0:
            raise RuntimeError('%s: %s' % (call, self.library.ncclGetErrorString(code).decode()))

    def all_reduce(self, tensor, stream):
        """In place, in stream order."""
        self._check('ncclAllReduce', self.library.ncclAllReduce(
            tensor.data_ptr(), tensor.data_ptr(), tensor.numel(), _TYPES[str(tensor.dtype)], _SUM, self.comm, stream))

    def all_gather(self, out, part, stream):
        self._check('ncclAllGather', self.library.ncclAllGather(
            part.data_ptr(), out.data_ptr(), part.numel(), _TYPES[str(part.dtype)], self.comm, stream))

    def destroy(self):
        self._check('ncclCommDestroy', self.library.ncclCommDestroy(self.comm))
