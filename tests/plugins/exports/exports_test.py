"""A plugin exports its entry alone and needs no CUDA library: nothing registers itself."""
import glob
import os
import subprocess
import unittest

import level

_FOLDER = os.path.join(os.environ.get('PURLIN_BINARY_DIR', ''), 'lib/purlin/plugins')


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


class Exports(unittest.TestCase):
    def setUp(self):
        self.plugins = sorted(glob.glob(os.path.join(_FOLDER, 'libatom-*.so')))
        if not self.plugins:
            level.skip('no plugin is built in %s' % _FOLDER)

    def test_the_entry_is_all_that_is_exported(self):
        for plugin in self.plugins:
            lines = output_of('nm', '-D', '--defined-only', plugin).splitlines()
            self.assertEqual([line.split()[-1] for line in lines], ['purlin_atom_entry_v1'], plugin)
            level.count_cases(1)

    def test_no_cuda_library_is_needed(self):
        for plugin in self.plugins:
            needed = [line for line in output_of('readelf', '-d', plugin).splitlines() if 'NEEDED' in line]
            self.assertFalse([line for line in needed if 'cuda' in line.lower()], plugin)
            self.assertNotIn('cudaRegister', output_of('nm', plugin), plugin)


if __name__ == '__main__':
    level.main()
