"""Builds the fuzzers with clang++ and lets them run: a minute each in full.

In quick those of the plugins run for a moment; the policy reader's takes longer to build than to say anything,
and its kept inputs and a random grammar are in test_runtime_policy. Inputs worth keeping, those that once broke
something first of all, lie in tests/fuzz/seeds/TARGET and are run before anything else."""
import concurrent.futures
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

import level

_FOLDER = os.path.join(level.ROOT, 'tests/fuzz')
_SOURCES = os.path.join(level.ROOT, 'runtime/src')
_BUILD = os.environ.get('PURLIN_BINARY_DIR') or os.path.join(level.ROOT, 'build/dev')
_SANITIZE = '-fsanitize=fuzzer,address,undefined'
_FLAGS = ['-std=c++20', '-O1', '-gline-tables-only', _SANITIZE, '-fno-sanitize-recover=all', '-DFMT_HEADER_ONLY',
          '-I', level.ROOT, '-I', _SOURCES, '-I', os.path.join(level.ROOT, 'runtime/include'),
          '-I', os.path.join(level.ROOT, 'tests')]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class Fuzz(unittest.TestCase):
    def build(self, target, sources, libraries, scratch):
        """The fuzzer's path; None, after a skip, where it cannot be built."""
        clang = shutil.which('clang++')
        if not clang:
            level.skip('%s: no clang++ found' % target)
            return None
        cache = [shutil.which('ccache')] if shutil.which('ccache') else []
        objects = [os.path.join(scratch, '%d.o' % i) for i in range(len(sources) + 1)]
        sources = [os.path.join(_FOLDER, target + '.cc')] + [os.path.join(_SOURCES, name) for name in sources]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            compiled = pool.map(lambda pair: run(cache + [clang] + _FLAGS + ['-c', pair[0], '-o', pair[1]]),
                                zip(sources, objects))
        for source, (status, output) in zip(sources, compiled):
            self.assertEqual(status, 0, source + ':\n' + output)
        binary = os.path.join(scratch, target)
        status, output = run([clang, _SANITIZE] + objects + libraries + ['-o', binary])
        if status != 0 and 'libclang_rt' in output:
            level.skip('%s: clang++ has no libFuzzer' % target)
            return None
        self.assertEqual(status, 0, output)
        return binary

    def fuzz(self, target, sources, libraries=(), corpus=''):
        with tempfile.TemporaryDirectory() as scratch:
            binary = self.build(target, sources, list(libraries), scratch)
            if not binary:
                return
            folders = [os.path.join(scratch, 'corpus')]
            os.mkdir(folders[0])
            seeds = os.path.join(_FOLDER, 'seeds', target)
            self.assertTrue(os.listdir(seeds), seeds)
            folders += [folder for folder in (seeds, corpus) if folder]
            limit = ['-max_total_time=60'] if level.is_full() else ['-runs=3000']
            status, output = run([binary, '-seed=%d' % (level.SEED % 2**32 or 1), '-max_len=32768', '-timeout=10',
                                  '-artifact_prefix=%s/' % scratch] + limit + folders)
            found = ''
            for path in glob.glob(os.path.join(scratch, '*-*')):
                with open(path, 'rb') as file:
                    found += '\nkeep as tests/fuzz/seeds/%s/%s, hex: %s' % (
                        target, os.path.basename(path), file.read(4096).hex())
            self.assertEqual(status, 0, output[-4000:] + found)
            self.assertRegex(output, r'Done \d+ runs')
            level.count_cases(int(output.rsplit('Done ', 1)[1].split(' ', 1)[0]))

    def test_plugin_elf(self):
        self.fuzz('plugin_elf_fuzz', ['plugin/elf_check.cc', 'plugin/elf_dynamic.cc', 'plugin/verdict.cc'],
                  corpus=os.path.join(_BUILD, 'tests/plugins/faulty'))

    def test_plugin_descriptor(self):
        self.fuzz('plugin_descriptor_fuzz', ['plugin/descriptor_check.cc', 'plugin/limits_check.cc',
                                             'plugin/text_rules.cc', 'plugin/verdict.cc'])

    def test_policy_reader(self):
        if level.is_full():
            sources = [os.path.relpath(path, _SOURCES) for path in sorted(glob.glob(_SOURCES + '/policy/*.cc'))]
            self.fuzz('policy_reader_fuzz', sources, ['-lyaml-cpp', '-ldl'])


if __name__ == '__main__':
    level.main()
