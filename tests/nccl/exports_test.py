"""libnccl.so.2 exports what programs built against NCCL 2.28 ask for, and nothing else.

Lists, names without their prefix: exports.txt, what NCCL 2.28.9 exports for programs (each also with
p in front); pytorch_2.11.txt, what PyTorch's CUDA library leaves undefined; vllm.txt, what vLLM looks up.
"""
import ctypes
import os
import subprocess
import unittest

import level

_HERE = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = os.path.join(os.environ.get('PURLIN_BINARY_DIR', ''), 'lib/libnccl.so.2')


def names(file):
    with open(os.path.join(_HERE, file), encoding='utf-8') as lines:
        return [line.strip() for line in lines if line.strip()]


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


class Exports(unittest.TestCase):
    def setUp(self):
        if not os.path.exists(_LIBRARY):
            self.fail('%s is not built (target purlin_nccl)' % _LIBRARY)

    def test_all_of_nccl_and_nothing_else(self):
        found = sorted(line.split()[-1] for line in
                       output_of('nm', '-D', '--defined-only', _LIBRARY).splitlines())
        wanted = sorted(prefix + name for name in names('exports.txt') for prefix in ('nccl', 'pnccl'))
        self.assertEqual(found, wanted)
        level.count_cases(len(wanted))

    def test_clients_find_all_they_bind(self):
        exports = set(names('exports.txt'))
        for file in ('pytorch_2.11.txt', 'vllm.txt'):
            self.assertGreater(len(names(file)), 10, file)
            self.assertEqual(set(names(file)) - exports, set(), file)

    def test_name_of_the_library_and_what_it_needs(self):
        dynamic = output_of('readelf', '-d', _LIBRARY)
        self.assertIn('soname: [libnccl.so.2]', dynamic)
        self.assertIn('$ORIGIN', dynamic)
        needed = [line for line in dynamic.splitlines() if 'NEEDED' in line]
        self.assertTrue([line for line in needed if 'libpurlin.so' in line])
        self.assertFalse([line for line in needed if 'cuda' in line.lower()])
        self.assertNotIn('@', output_of('nm', '-D', '--defined-only', _LIBRARY))

    def test_ctypes_finds_every_name_and_the_version(self):
        if os.environ.get('PURLIN_SANITIZE'):
            level.skip('python3 is not built with a sanitizer and cannot load this library')
            return
        library = ctypes.CDLL(_LIBRARY)
        for name in names('exports.txt'):
            getattr(library, 'nccl' + name)
        version = ctypes.c_int()
        self.assertEqual(library.ncclGetVersion(ctypes.byref(version)), 0)
        self.assertEqual(version.value, 22809)


if __name__ == '__main__':
    level.main()
