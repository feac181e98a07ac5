"""What lies outside one machine goes to the library of PURLIN_NCCL_FALLBACK, or is refused with the reason.

The programs run with libnccl.so.2 preloaded, so that its names are the process's first.
"""
import os
import subprocess
import sys
import unittest

import level

_BINARY = os.environ.get('PURLIN_BINARY_DIR', '')
_LIBRARY = os.path.join(_BINARY, 'lib/libnccl.so.2')
_FAKE = os.path.join(_BINARY, 'tests/nccl/libfake_nccl.so')

_PRELUDE = '''
import ctypes, sys
lib = ctypes.CDLL(None)  # the preloaded one
class Id(ctypes.Structure):
    _fields_ = [('bytes', ctypes.c_char * 128)]
lib.ncclGetLastError.restype = ctypes.c_char_p
lib.ncclGetLastError.argtypes = [ctypes.c_void_p]
lib.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, Id, ctypes.c_int]
lib.ncclAllReduce.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                              ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
for name in ('ncclCommCount',):
    getattr(lib, name).argtypes = [ctypes.c_void_p, ctypes.c_void_p]
lib.ncclCommDestroy.argtypes = [ctypes.c_void_p]
unique, comm, number = Id(), ctypes.c_void_p(), ctypes.c_int(5)
def text(): return lib.ncclGetLastError(None).decode()
def init(nranks, rank): return lib.ncclCommInitRank(ctypes.byref(comm), nranks, unique, rank)
def add(count): return lib.ncclAllReduce(ctypes.byref(number), ctypes.byref(number), count, 2, 0, comm, None)
'''


def run(program, **environment):
    """The program's lines; its environment is this one's, with ranks on the host."""
    full = {**os.environ, 'LD_PRELOAD': _LIBRARY, 'PURLIN_NCCL_DEVICE': 'host', **environment}
    done = subprocess.run([sys.executable, '-c', _PRELUDE + program], env=full, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
    level.count_cases(1)
    if done.returncode != 0:
        raise AssertionError('%s\n%s' % (done.stdout, done.stderr))
    return done.stdout.splitlines(), done.stderr


class Fallback(unittest.TestCase):
    def setUp(self):
        if os.environ.get('PURLIN_SANITIZE'):
            level.skip('a sanitizer does not allow libraries whose own symbols come first')
            self.skipTest('see above')

    def test_ranks_on_other_machines_go_to_the_real_library_alone(self):
        lines, log = run('''
assert lib.ncclGetUniqueId(ctypes.byref(unique)) == 0, text()
assert init(16, 3) == 0, text()
assert lib.ncclGroupStart() == 0 and add(1) == 0 and lib.ncclGroupEnd() == 0, text()
assert number.value == 5, 'the fake adds nothing'
assert add(13) == 6
print(text())
assert lib.ncclCommCount(comm, ctypes.byref(number)) == 0 and number.value == 77
assert lib.ncclCommDestroy(comm) == 0
assert lib.ncclCommDestroy(comm) == 4
fake = ctypes.CDLL('%s')
counts = (ctypes.c_int * 4)()
fake.fake_counts(counts)
print(*counts)
''' % _FAKE, PURLIN_NCCL_FALLBACK=_FAKE, WORLD_SIZE='16', LOCAL_WORLD_SIZE='8', PURLIN_DEBUG='info')
        self.assertEqual(lines, ['real NCCL: said by the fake', '1 1 1 1'])
        self.assertIn('carried by the real NCCL', log)

    def test_one_machine_is_carried_here_by_the_same_id(self):
        lines, _ = run('''
assert lib.ncclGetUniqueId(ctypes.byref(unique)) == 0, text()
assert b'an id of the fake' in bytes(unique)
assert init(1, 0) == 0, text()
assert add(1) == 0, text()
assert lib.ncclCommCount(comm, ctypes.byref(number)) == 0
print(number.value)
''', PURLIN_NCCL_FALLBACK=_FAKE)
        self.assertEqual(lines, ['1'])

    def test_an_id_of_another_machine_goes_to_the_real_library(self):
        elsewhere = '''
assert lib.ncclGetUniqueId(ctypes.byref(unique)) == 0, text()
raw = bytearray(unique)
raw[64:72] = b'elsewher'  # docs/rendezvous.md: the machine, and behind it all a digest
digest = 0xcbf29ce484222325
for byte in raw[:80] + bytes(40):
    digest = (digest ^ byte) * 0x100000001b3 % 2**64
raw[120:128] = digest.to_bytes(8, 'little')
unique = Id.from_buffer(raw)
'''
        lines, _ = run(elsewhere + '''
assert init(2, 1) == 0, text()
assert lib.ncclCommCount(comm, ctypes.byref(number)) == 0
print(number.value)
''', PURLIN_NCCL_FALLBACK=_FAKE)
        self.assertEqual(lines, ['77'])
        lines, _ = run(elsewhere + 'assert init(2, 1) == 5\nassert not comm\nprint(text())\n')
        self.assertIn('another machine', lines[0])

    def test_a_fallback_that_cannot_be_used_is_said(self):
        program = 'print(lib.ncclGetUniqueId(ctypes.byref(unique)), text())\n'
        for path, why in (('/nowhere/libnccl.so.2', 'cannot open'), (_LIBRARY, 'is this library'),
                          (os.path.join(_BINARY, 'lib/libpurlin.so'), 'lacks ncclGetUniqueId')):
            lines, _ = run(program, PURLIN_NCCL_FALLBACK=path)
            self.assertTrue(lines[0].startswith('5 PURLIN_NCCL_FALLBACK: '), lines)
            self.assertIn(why, lines[0])

    def test_one_line_says_what_a_communicator_is_bound_to(self):
        _, log = run('''
assert lib.ncclGetUniqueId(ctypes.byref(unique)) == 0, text()
assert init(1, 0) == 0, text()
''', PURLIN_DEBUG='info')
        lines = [line for line in log.splitlines() if 'in place of NCCL 2.28.9' in line]
        self.assertEqual(len(lines), 1, log)
        for part in ('rank 0 of 1', 'Atom host (', 'policy host (', '.yaml)'):
            self.assertIn(part, lines[0])


if __name__ == '__main__':
    level.main()
