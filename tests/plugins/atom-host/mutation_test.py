"""Each release and acquire of the host Atom matters: a build that weakens one fails ThreadSanitizer."""
import os
import re
import subprocess
import tempfile
import unittest

import level

_PLUGIN = os.path.join(level.ROOT, 'plugins/atom-host')
_DRIVER = os.path.join(level.ROOT, 'tests/plugins/atom-host/mutation/packet_orders.cc')
_ORDER = re.compile(r'memory_order_(release|acquire)\b')
_MODES = ('packets', 'tail', 'flag')
_CXX = [os.environ.get('PURLIN_CXX', 'c++'), '-std=c++20', '-O1', '-g', '-fsanitize=thread',
        '-I', _PLUGIN, '-I', os.path.join(level.ROOT, 'runtime/include')]


def build(text, folder):
    """Builds the driver with `text` in place of packets.cc; returns the program's path."""
    source = os.path.join(folder, 'packets.cc')
    with open(source, 'w', encoding='utf-8') as file:
        file.write(text)
    program = os.path.join(folder, 'program')
    subprocess.run(_CXX + [source, _DRIVER, '-o', program, '-pthread'], check=True)
    return program


def races(program, mode):
    """True if ThreadSanitizer reports a race; anything else that goes wrong is an error of the test."""
    environment = dict(os.environ, TSAN_OPTIONS='exitcode=66 halt_on_error=1')
    result = subprocess.run([program, mode], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
    level.count_cases(1)
    if result.returncode not in (0, 66):
        raise AssertionError('%s %s ended with %d:\n%s' % (program, mode, result.returncode, result.stdout))
    return 'data race' in result.stdout


class Mutation(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(_PLUGIN, 'packets.cc'), encoding='utf-8') as file:
            self.text = file.read()

    def test_as_it_is_nothing_races(self):
        with tempfile.TemporaryDirectory() as folder:
            program = build(self.text, folder)
            for mode in _MODES:
                self.assertFalse(races(program, mode), mode)

    def test_every_weakened_order_is_noticed(self):
        orders = list(_ORDER.finditer(self.text))
        self.assertEqual([m.group(1) for m in orders].count('release'), 2, 'tag and flag')
        self.assertEqual([m.group(1) for m in orders].count('acquire'), 3, 'tag, last tag and flag')
        for order in orders:
            weak = self.text[:order.start()] + 'memory_order_relaxed' + self.text[order.end():]
            line = self.text.count('\n', 0, order.start()) + 1
            with self.subTest(line=line, order=order.group(0)), tempfile.TemporaryDirectory() as folder:
                program = build(weak, folder)
                self.assertTrue(any(races(program, mode) for mode in _MODES))


if __name__ == '__main__':
    level.main()
