"""Every header compiles alone: as C++20, those that declare extern "C" as C11 too, .cuh by nvcc. Quick tries some of
each kind that the seed draws."""
import os
import random
import subprocess
import tempfile
import unittest

import level
import tree

_WARNINGS = ['-Wall', '-Wextra', '-Werror']
_ROOTS = ['-I', os.path.join(level.ROOT, 'runtime/include')]
_INNER = ['-I', os.path.join(level.ROOT, 'runtime/src'), '-I', level.ROOT]


def error_of(command, path, suffix):
    """Compiles a file that holds one #include; returns the compiler's words, empty when content."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, 'alone' + suffix)
        with open(source, 'w', encoding='utf-8') as file:
            file.write('#include "%s"\n' % os.path.join(level.ROOT, path))
        result = subprocess.run(command + [source], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, check=False)
        level.count_cases(1)
        return '' if result.returncode == 0 else '%s: %s' % (path, result.stdout)


def public(suffix):
    paths = tree.files(level.ROOT, (suffix,))
    return [path for path in paths if path.startswith('runtime/include/')]


def tried(paths):
    """All of them in full, eight that the seed draws in quick."""
    return paths if level.is_full() else random.Random(level.SEED).sample(paths, min(8, len(paths)))


class Headers(unittest.TestCase):
    def setUp(self):
        self.c = [os.environ.get('PURLIN_CC', 'cc'), '-std=c11', '-pedantic', '-fsyntax-only']
        self.cxx = [os.environ.get('PURLIN_CXX', 'c++'), '-std=c++20', '-fsyntax-only']

    def test_c_headers_compile_alone_as_c11(self):
        headers = [p for p in public('.h') if 'extern "C"' in tree.read(level.ROOT, p)]
        self.assertIn('runtime/include/purlin/purlin.h', headers)
        self.assertEqual([e for p in headers if (e := error_of(self.c + _WARNINGS + _ROOTS, p, '.c'))], [])

    def test_public_headers_compile_alone_as_cxx20(self):
        command = self.cxx + _WARNINGS + ['-Wconversion'] + _ROOTS
        headers = tried(public('.h') + public('.hpp'))
        self.assertEqual([e for p in headers if (e := error_of(command, p, '.cc'))], [])

    def test_device_headers_compile_alone(self):
        headers = tried(public('.cuh'))
        nvcc = os.environ.get('PURLIN_NVCC')
        if not nvcc:
            level.skip('device headers alone: no nvcc found')
            return
        command = [nvcc, '-std=c++20', '-gencode', 'arch=compute_75,code=lto_75', '-rdc=true',
                   '-c', '-o', os.devnull, '-x', 'cu'] + _ROOTS
        self.assertEqual([e for p in headers if (e := error_of(command, p, '.cu'))], [])

    def test_a_header_that_needs_another_is_found(self):
        with tempfile.NamedTemporaryFile('w', suffix='.h') as header:
            header.write('purlin_status f(void);\n')
            header.flush()
            self.assertIn('purlin_status', error_of(self.c + _WARNINGS, header.name, '.c'))

    def test_inner_headers_compile_alone(self):
        command = self.cxx + _WARNINGS + _ROOTS + _INNER
        headers = tried([p for p in tree.files(level.ROOT, ('.h',)) if p.startswith(('runtime/src/', 'snac/'))])
        self.assertEqual([e for p in headers if (e := error_of(command, p, '.cc'))], [])


if __name__ == '__main__':
    level.main()
