"""What `cmake --install` and CPack put where, and that it works from there and after being moved."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import level
from install import installed

PROGRAM = r'''
#include <purlin/purlin.hpp>
#include <cstdio>
int main() {
  float ones[2] = {1, 2}, sums[2];
  purlin_comm_t comm;
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.device_kind = PURLIN_DEVICE_HOST;
  if (purlin_comm_create_all(&comm, 1, nullptr, &options) != PURLIN_OK ||
      purlin_all_reduce(ones, sums, 2, PURLIN_F32, PURLIN_SUM, comm, nullptr) != PURLIN_OK) {
    std::puts(purlin_last_error());
    return 1;
  }
  std::printf("%g %g\n", sums[0], sums[1]);
  purlin_comm_destroy(comm);
}
'''
PROJECT = '''
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
find_package(purlin %s REQUIRED)
add_executable(user user.cc)
target_link_libraries(user PRIVATE purlin::runtime)
target_compile_features(user PRIVATE cxx_std_20)
'''


def tree(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder)
                  for at, _, names in os.walk(folder) for name in names)


class Install(unittest.TestCase):
    def setUp(self):
        self.unfit = installed.missing()
        if self.unfit:
            level.skip(self.unfit)
            return
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.prefix = os.path.join(self.folder.name, 'prefix')

    def path(self, *parts):
        return os.path.join(self.folder.name, *parts)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)

    def test_components_hold_what_they_say_and_nothing_twice(self):
        if self.unfit:
            return
        held = {}
        for component in ('runtime', 'tools', 'dev'):
            installed.install(self.path(component), component)
            held[component] = set(tree(self.path(component)))
        self.assertEqual(held['tools'], {'bin/purlin'})
        self.assertIn('lib/purlin/plugins/libatom-host.so', held['runtime'])
        self.assertIn('share/purlin/config/host.yaml', held['runtime'])
        self.assertTrue(any(re.match(r'lib/libpurlin\.so\.\d', path) for path in held['runtime']))
        for path in ('include/purlin/purlin.h', 'include/purlin/kit/host_atom.h', 'lib/libpurlin.so',
                     'lib/cmake/purlin/purlinConfig.cmake', 'lib/cmake/purlin/PurlinAtom.cmake',
                     'share/purlin/examples/vendor-atom/try.sh'):
            self.assertIn(path, held['dev'])
        self.assertFalse(held['runtime'] & held['dev'] or held['runtime'] & held['tools'])
        installed.install(self.prefix)
        self.assertEqual(set(tree(self.prefix)), set.union(*held.values()))

    def test_every_header_of_the_tree_is_installed(self):
        if self.unfit:
            return
        installed.install(self.prefix, 'dev')
        self.assertEqual(tree(os.path.join(self.prefix, 'include')),
                         tree(os.path.join(level.ROOT, 'runtime/include')))

    def test_a_moved_prefix_works_and_serves_find_package(self):
        if self.unfit:
            return
        installed.install(self.prefix)
        moved = self.path('moved')
        os.rename(self.prefix, moved)
        said = installed.run('purlin', 'plugins', '--device', 'host', prefix=moved)
        self.assertIn(os.path.join(moved, 'lib/purlin/plugins'), said)
        self.assertIn(os.path.join(moved, 'share/purlin/config/host.yaml'),
                      installed.run('purlin', 'explain', 'all_reduce', '--bytes', '8', '--ranks', '2', '--device',
                                    'host', '--json', prefix=moved))
        self.write('user/user.cc', PROGRAM)
        self.write('user/CMakeLists.txt', PROJECT % '0.9')
        installed.run('cmake', '-B', 'build', folder=self.path('user'), prefix=moved)
        installed.run('cmake', '--build', 'build', folder=self.path('user'), prefix=moved)
        self.assertEqual(installed.run(self.path('user/build/user')), '1 2\n')

    def test_another_minor_version_is_not_found(self):
        if self.unfit:
            return
        installed.install(self.prefix, 'dev')
        self.write('user/user.cc', PROGRAM)
        for version in ('0.8', '0.10', '1.0'):
            self.write('user/CMakeLists.txt', PROJECT % version)
            said = installed.run('cmake', '-B', 'build-' + version, folder=self.path('user'), prefix=self.prefix,
                                 expect=1)
            self.assertIn('version: 0.9', said)

    def test_packages_name_every_library_that_they_need(self):
        if self.unfit:
            return
        if not shutil.which('dpkg-deb'):
            level.skip('dpkg-deb is not installed')
            return
        installed.run('cpack', '--config', os.path.join(installed.BUILD, 'CPackConfig.cmake'), '-B',
                      self.path('packages'))
        packages = [name for name in sorted(os.listdir(self.path('packages'))) if name.endswith('.deb')]
        self.assertEqual([name.split('_')[0] for name in packages],
                         ['purlin-dev', 'purlin-runtime', 'purlin-tools'])
        root = self.path('root')
        for package in packages:
            installed.run('dpkg-deb', '-x', self.path('packages', package), root)
        depends = installed.run('dpkg-deb', '-f', self.path('packages', packages[1]), 'Depends')
        needed = set()
        for path in tree(root):
            whole = os.path.join(root, path)
            if '.so' in path or path.endswith('bin/purlin'):
                text = installed.run('readelf', '-d', whole)
                needed |= set(re.findall(r'NEEDED.*\[(.*)\]', text))
        owner = {'libyaml-cpp': 'libyaml-cpp', 'libstdc++': 'libstdc++6', 'libgcc_s': 'libgcc-s1',
                 'libc': 'libc6', 'libm': 'libc6', 'ld-linux': 'libc6', 'libpurlin': ''}
        for library in needed:
            package = next((p for start, p in owner.items() if re.match(re.escape(start) + r'[-.]', library)), None)
            self.assertIsNotNone(package, library)
            self.assertIn(package, depends)
        said = installed.run('usr/bin/purlin', 'perf', 'all_gather', '-n', '2', '-e', '4KiB', '--check', '--device',
                             'host', folder=root)
        self.assertIn('0 wrong elements', said)


if __name__ == '__main__':
    level.main()
