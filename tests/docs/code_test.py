"""C and C++ samples compile, and those that name a file are that file."""
import os
import subprocess
import unittest

import level
import samples

_STANDARD = {'c': ['-x', 'c', '-std=c11'], 'cpp': ['-x', 'c++', '-std=c++20']}
_PRELUDE = {
    'c': '#include <purlin/purlin.h>\n#include <purlin/atom_abi.h>\n',
    'cpp': '#include <purlin/purlin.hpp>\n#include <purlin/atom_abi.h>\n#include <vector>\n',
}


def compile_error(kind, text):
    """The compiler's words, empty when content. A sample without includes gets the public headers."""
    compiler = os.environ.get('PURLIN_CC', 'cc') if kind == 'c' else os.environ.get('PURLIN_CXX', 'c++')
    prelude = '' if '#include' in text else _PRELUDE[kind]
    command = [compiler] + _STANDARD[kind] + [
        '-Wall', '-Wextra', '-Werror', '-fsyntax-only', '-I', os.path.join(level.ROOT, 'runtime/include'), '-']
    result = subprocess.run(command, input=prelude + text, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    level.count_cases(1)
    return result.stdout if result.returncode != 0 else ''


class Code(unittest.TestCase):
    def test_samples_compile(self):
        for sample in samples.read('c', 'cpp'):
            with self.subTest(sample.place()):
                self.assertEqual(compile_error(sample.kind, sample.text), '')

    def test_a_wrong_sample_is_found(self):
        self.assertIn('purlin_all_reduse', compile_error('c', 'int f(void) { return purlin_all_reduse(0); }\n'))

    def test_a_sample_that_names_a_file_is_that_file(self):
        named = [sample for sample in samples.read('c', 'cpp', 'yaml') if sample.file]
        self.assertIn('examples/first/first.cc', [sample.file for sample in named])
        for sample in named:
            with self.subTest(sample.place()), open(
                    os.path.join(level.ROOT, sample.file), encoding='utf-8') as file:
                self.assertEqual(sample.text, file.read())

    def test_links_between_pages_lead_somewhere(self):
        broken = [link for path in samples.pages() for link in samples.broken_links(path)]
        self.assertEqual(broken, [])


if __name__ == '__main__':
    level.main()
