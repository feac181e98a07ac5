"""Commands shown in the documentation work, on the build that runs this test."""
import os
import shutil
import subprocess
import tempfile
import unittest

import level
import samples

BUILD = os.environ['PURLIN_BINARY_DIR']

# Shown, and run elsewhere: by people, by ./test.sh, or by this very test.
_NOT_HERE = ('./quickstart.sh', './test.sh', 'cmake ', 'ctest ', 'scripts/lint')


def commands():
    for sample in samples.read('console', 'sh', 'bash'):
        for line in sample.text.split('\n'):
            if line.startswith('$ ') and not line[2:].startswith(_NOT_HERE):
                yield sample, line[2:]


def run(command):
    """Runs one command line at the root of the tree, its build/release being this test's build."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                       OMPI_MCA_rmaps_base_oversubscribe='1')
    with tempfile.TemporaryDirectory() as folder:
        here = command.replace('-o build/', '-o %s/' % folder).replace('build/release', BUILD)
        level.count_cases(1)
        return subprocess.run(['bash', '-ec', here], cwd=level.ROOT, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)


class Commands(unittest.TestCase):
    def test_each_shown_command_succeeds(self):
        shown = list(commands())
        self.assertNotEqual(shown, [])
        for sample, command in shown:
            if command.startswith('mpirun') and not shutil.which('mpirun'):
                level.skip('%s: mpirun is not installed' % sample.place())
                continue
            if command.startswith('g++') and os.environ.get('PURLIN_SANITIZE'):
                level.skip('%s: a plain program cannot load a sanitized library' % sample.place())
                continue
            with self.subTest('%s: %s' % (sample.place(), command)):
                result = run(command)
                self.assertEqual(result.returncode, 0, result.stdout)

    def test_the_first_program_gives_the_sum_under_every_launcher(self):
        launched = [command for _, command in commands() if command.endswith('bin/first') or '/first &' in command]
        self.assertGreaterEqual(len(launched), 3)
        for command in launched:
            if command.startswith('mpirun') and not shutil.which('mpirun'):
                continue
            with self.subTest(command):
                said = run(command).stdout
                for rank in range(4):
                    self.assertIn('rank %d of 4: the sum is 6' % rank, said)

    def test_policies_shown_are_policies(self):
        for sample in samples.read('yaml'):
            if not sample.text.startswith('version:') or 'images:' in sample.text:
                continue
            device = 'sm_90' if 'cuda' in sample.text else 'host'
            with self.subTest(sample.place()), tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
                file.write(sample.text)
                file.flush()
                result = run('build/release/bin/purlin explain all_reduce --bytes 1MiB --ranks 4 '
                             '--device %s --policy %s' % (device, file.name))
                # A policy for GPUs is right even where this build has no Atom for them.
                if device == 'host' or 'no Atom can serve' not in result.stdout:
                    self.assertEqual(result.returncode, 0, result.stdout)


if __name__ == '__main__':
    level.main()
