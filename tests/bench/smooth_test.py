"""bench/gpu/smooth.py: what it finds bad, and a run on CPU ranks."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

import level

PURLIN = os.path.join(os.environ['PURLIN_BINARY_DIR'], 'bin', 'purlin')
SMOOTH = os.path.join(level.ROOT, 'bench', 'gpu', 'smooth.py')


def module():
    spec = importlib.util.spec_from_file_location('smooth', SMOOTH)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


class Smooth(unittest.TestCase):
    def test_a_slow_size_and_a_slow_odd_size_are_found(self):
        rows = [(1024, 2.0, 2.1), (1280, 2.1, 2.1), (1536, 3.0, 3.1), (1792, 2.2, 2.7)]
        worst, above = module().judge(rows)
        self.assertEqual([(what, size) for what, size, _ in above], [('even', 1536), ('odd', 1792)])
        self.assertEqual([size for _, size, _ in worst], [1536, 1792])
        level.count_cases(1)
        self.assertEqual(module().judge([(8, 1.0, 1.1), (10, 1.0, 1.0)])[1], [])

    def test_every_size_has_an_odd_one_beside_it(self):
        with tempfile.TemporaryDirectory() as out:
            subprocess.run([sys.executable, '-B', SMOOTH, out, '--purlin', PURLIN, '--device', 'host',
                            '--collectives', 'all_gather', '--begin', '1024', '--end', '8192'], check=True)
            with open(os.path.join(out, 'smooth.md'), encoding='utf-8') as file:
                text = file.read()
            for size in (1024, 1280, 1536, 1792, 2048, 7168, 8192):
                self.assertIn('| %d | ' % size, text)
            with open(os.path.join(out, 'smooth.jsonl'), encoding='utf-8') as file:
                self.assertEqual(len(file.readlines()), 8)
        level.count_cases(1)


level.main()
