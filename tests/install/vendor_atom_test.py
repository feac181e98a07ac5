"""examples/vendor-atom, built outside the tree from an installed Purlin, used, checked and removed again."""
import json
import os
import shutil
import tempfile
import unittest

import level
from install import installed

COLLECTIVES = ['all_gather', 'reduce_scatter', 'all_reduce', 'all_to_all', 'all_gather_v', 'reduce_scatter_v',
               'all_to_all_v', 'broadcast', 'reduce', 'scatter', 'gather', 'send_recv', 'barrier']


def commands(script):
    """The commands of a script that people may type one by one."""
    with open(script, encoding='utf-8') as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if line and not line.startswith(('#', 'set '))]


class VendorAtom(unittest.TestCase):
    def test_from_the_package_to_collectives_and_back(self):
        if installed.missing():
            level.skip(installed.missing())
            return
        with tempfile.TemporaryDirectory() as folder:
            self.prefix, self.here = os.path.join(folder, 'prefix'), os.path.join(folder, 'here')
            os.mkdir(self.here)
            installed.install(self.prefix)
            self.build_with_the_script()
            self.check_devices()
            self.pack()
            self.run_collectives()
            self.remove()

    def run_here(self, *command, expect=0):
        return installed.run(*command, folder=self.here, prefix=self.prefix, expect=expect)

    def build_with_the_script(self):
        compilers = installed.clang()
        if not compilers:
            level.skip('clang is not installed: the example is built by the default compiler')
        source = os.path.join(self.prefix, 'share/purlin/examples/vendor-atom')
        script = os.path.join(source, 'try.sh')
        self.assertLessEqual(len(commands(script)), 10)
        self.assertIn('purlin perf all_reduce --check', commands(script)[-1])
        said = installed.run(script, source, folder=self.here, prefix=self.prefix, **compilers)
        self.assertIn('Chosen Atom: vendor-host', said)
        self.assertIn(' 0 failed, ', said)
        self.assertIn('0 wrong elements', said)

    def check_devices(self):
        if not os.path.exists(os.path.join(self.here, 'plugins/libatom-vendor.so')):
            level.skip('no CUDA toolkit: of the example only the Atom for CPU ranks is built')
            return
        with open(os.path.join(self.here, 'gpu.yaml'), 'w', encoding='utf-8') as file:
            file.write('version: 1\nplugins: {path: [plugins]}\ndatapath: {prefer: [vendor]}\n')
        for device, serves in (('sm_80', True), ('sm_90', True), ('sm_120', True), ('sm_75', False)):
            said = self.run_here('purlin', 'plugins', '--device', device, '--policy', 'gpu.yaml', '--json',
                                 expect=0 if serves else 1)
            chosen = json.loads(said)['chosen']
            self.assertEqual(bool(chosen), serves, device)

    def pack(self):
        """The same device code without host code."""
        nvcc = os.environ.get('PURLIN_NVCC') or shutil.which('nvcc')
        if not nvcc:
            level.skip('no CUDA toolkit: no data-only Atom is packed from real images')
            return
        if not os.path.exists(os.path.join(self.prefix, 'lib/purlin/reductions/reductions.list')):
            level.skip('this build has no reduction fragments to pack')
            return
        self.run_here(nvcc, '-std=c++20', '-dc', '-fatbin', '-gencode', 'arch=compute_80,code=lto_80',
                      '-I' + os.path.join(self.prefix, 'include'), 'core.cu', '-o', 'core.fatbin')
        self.run_here('purlin', 'pack', 'atom.yaml', '--core', 'core.fatbin@80', '-o',
                      'packed/vendor')
        with open(os.path.join(self.here, 'packed.yaml'), 'w', encoding='utf-8') as file:
            file.write('version: 1\nplugins: {path: [packed]}\ndatapath: {prefer: [vendor]}\n')
        said = self.run_here('purlin', 'plugins', '--device', 'sm_90', '--policy', 'packed.yaml', '--json')
        self.assertEqual(json.loads(said)['chosen']['path'], os.path.join(self.here, 'packed/vendor'))

    def run_collectives(self):
        for collective in COLLECTIVES:
            sizes = [] if collective == 'barrier' else ['-b', '8', '-e', '200KiB', '-f', '40']
            said = self.run_here('purlin', 'perf', collective, '-n', '3', *sizes, '--check', '--iters', '2',
                                 '--warmup', '1', '--device', 'host', '--policy', 'policy.yaml')
            self.assertIn(', 0 wrong elements', said)
        said = self.run_here('purlin', 'perf', 'all_reduce', '-n', '3', '-b', '5000', '-e', '5000', '-d', 'all',
                             '-o', 'all', '--check', '--iters', '2', '--warmup', '1', '--device', 'host',
                             '--policy', 'policy.yaml')
        self.assertIn('72 rows, 0 wrong elements', said)

    def remove(self):
        shutil.rmtree(os.path.join(self.here, 'plugins'))
        said = self.run_here('purlin', 'perf', 'all_reduce', '--device', 'host', '--policy', 'policy.yaml', expect=1)
        self.assertIn('vendor-host', said)
        self.run_here('purlin', 'perf', 'all_reduce', '-n', '2', '-e', '4KiB', '--check', '--device', 'host')


if __name__ == '__main__':
    level.main()
