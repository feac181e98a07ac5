"""libpurlin exports what runtime/exports.txt lists and purlin.h declares, under a soname with its version."""
import os
import re
import subprocess
import unittest

import level

_LIBRARY = os.path.join(os.environ.get('PURLIN_BINARY_DIR', ''), 'lib', 'libpurlin.so')


def read(*path):
    with open(os.path.join(level.ROOT, *path), encoding='utf-8') as file:
        return file.read()


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def listed():
    return [line for line in read('runtime', 'exports.txt').splitlines() if not line.startswith('#')]


def declared(header):
    """Functions that a header declares with PURLIN_API."""
    return sorted(set(re.findall(r'PURLIN_API\b[^;{]*?\b(purlin_\w+)\s*\(', header)))


class Exports(unittest.TestCase):
    def test_the_library_exports_the_list(self):
        if not os.path.exists(_LIBRARY):
            level.skip('%s is not built' % _LIBRARY)
            return
        lines = output_of('nm', '-D', '--defined-only', _LIBRARY).splitlines()
        level.count_cases(len(lines))
        self.assertEqual(sorted(line.split()[-1] for line in lines), listed(),
                         'a new function goes into purlin.h, runtime/exports.txt and CHANGELOG.md; '
                         'one that was released stays')

    def test_the_header_declares_the_list(self):
        self.assertEqual(declared(read('runtime', 'include', 'purlin', 'purlin.h')), listed())

    def test_a_declaration_over_several_lines_is_found(self):
        self.assertEqual(declared('#define PURLIN_API x\nPURLIN_API purlin_status\n purlin_a(int b);\n'
                                  'int purlin_b(void);\nPURLIN_API const char* purlin_c(void);'),
                         ['purlin_a', 'purlin_c'])

    def test_the_soname_carries_the_version(self):
        if not os.path.exists(_LIBRARY):
            level.skip('%s is not built' % _LIBRARY)
            return
        header = read('runtime', 'include', 'purlin', 'purlin.h')
        number = {part: re.search(r'PURLIN_VERSION_%s (\d+)' % part, header).group(1)
                  for part in ('MAJOR', 'MINOR', 'PATCH')}
        soname = re.search(r'SONAME.*\[(.*)\]', output_of('readelf', '-d', _LIBRARY)).group(1)
        release = number['MAJOR'] if number['MAJOR'] != '0' else '0.' + number['MINOR']
        self.assertEqual(soname, 'libpurlin.so.' + release)
        self.assertIn('project(purlin VERSION %s.%s.%s' % tuple(number.values()), read('CMakeLists.txt'))


if __name__ == '__main__':
    level.main()
