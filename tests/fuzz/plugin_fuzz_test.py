"""Builds the plugin fuzzers with clang and lets them run: a moment in quick, a minute each in full.

Inputs that once broke something are kept in tests/fuzz/seeds/TARGET and are run first every time."""
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

import level

_FOLDER = os.path.join(level.ROOT, 'tests/fuzz')
_PLUGIN = os.path.join(level.ROOT, 'runtime/src/plugin')
_BUILD = os.environ.get('PURLIN_BINARY_DIR') or os.path.join(level.ROOT, 'build/dev')
_FLAGS = ['-std=c++20', '-O1', '-gline-tables-only', '-fsanitize=fuzzer,address,undefined',
          '-fno-sanitize-recover=all', '-DFMT_HEADER_ONLY',
          '-I', os.path.join(level.ROOT, 'runtime/src'),
          '-I', os.path.join(level.ROOT, 'runtime/include'),
          '-I', os.path.join(level.ROOT, 'tests')]


class PluginFuzz(unittest.TestCase):
    def fuzz(self, target, sources, corpus):
        clang = shutil.which('clang++')
        if not clang:
            level.skip('%s: no clang++ found' % target)
            return
        with tempfile.TemporaryDirectory() as scratch:
            binary = os.path.join(scratch, target)
            built = subprocess.run(
                [clang] + _FLAGS + [os.path.join(_FOLDER, target + '.cc')] +
                [os.path.join(_PLUGIN, source) for source in sources] + ['-o', binary],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if built.returncode != 0 and 'libclang_rt' in built.stdout:
                level.skip('%s: clang++ has no libFuzzer' % target)
                return
            self.assertEqual(built.returncode, 0, built.stdout)
            folders = [os.path.join(scratch, 'corpus')]
            os.mkdir(folders[0])
            seeds = os.path.join(_FOLDER, 'seeds', target)
            folders += [folder for folder in (seeds, corpus) if folder and os.path.isdir(folder)]
            limit = ['-max_total_time=60'] if level.is_full() else ['-runs=3000']
            ran = subprocess.run(
                [binary, '-seed=%d' % (level.SEED % 2**32 or 1), '-max_len=32768',
                 '-artifact_prefix=%s/' % scratch] + limit + folders,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            crashes = ''
            for path in glob.glob(os.path.join(scratch, 'crash-*')):
                with open(path, 'rb') as file:
                    crashes += '\nkeep as tests/fuzz/seeds/%s/%s, hex: %s' % (
                        target, os.path.basename(path), file.read(4096).hex())
            self.assertEqual(ran.returncode, 0, ran.stdout[-4000:] + crashes)
            self.assertRegex(ran.stdout, r'Done \d+ runs')
            level.count_cases(int(ran.stdout.rsplit('Done ', 1)[1].split(' ', 1)[0]))

    def test_elf(self):
        self.fuzz('plugin_elf_fuzz', ['elf_check.cc', 'elf_dynamic.cc', 'verdict.cc'],
                  os.path.join(_BUILD, 'tests/plugins/faulty'))

    def test_descriptor(self):
        self.fuzz('plugin_descriptor_fuzz',
                  ['descriptor_check.cc', 'limits_check.cc', 'text_rules.cc', 'verdict.cc'], None)


if __name__ == '__main__':
    level.main()
