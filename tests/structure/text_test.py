"""Files stay short, finished, portable, and speak for themselves."""
import re
import unittest

import level
import tree

MOST_LINES = 400

# What nobody outside can follow, or what is not finished.
FORBIDDEN = [
    r'/work/', r'\.\./shared/', r'§',
    r'\b(design|cases|models|targets|brief|nccl-dropin)\.md\b',
    r'\b[Ii]ssues? #?\d', r'\b[Rr]ecipes? \d', r'\b(case|entry|entries) B\d\d',
    r'\b(TODO|FIXME|XXX)\b',
]
_TEXT = tree.SOURCE + tree.SCRIPT + ('.md', '.yaml', '.yml', '.json', 'run', 'lint')
_INTRINSICS = re.compile(r'#\s*include\s*<\w*(mmintrin|x86intrin|arm_neon)\.h>')
_CASE = re.compile(r'\bTEST_CASE(?:_FIXTURE)?\(\s*(?:\w+,\s*)?((?:"(?:[^"\\]|\\.)*"\s*)+)')


def names_in_parts(path, text):
    """Test cases that ctest would ask for in parts, and so never run."""
    for name in _CASE.findall(text):
        if ';' in name:
            yield '%s: %s' % (path, name)


def lines_that_cite(path, text):
    for number, line in enumerate(text.split('\n'), 1):
        for pattern in FORBIDDEN:
            if re.search(pattern, line):
                yield '%s:%d: %s' % (path, number, line.strip())


class Text(unittest.TestCase):
    def test_no_source_file_is_too_long(self):
        long = []
        for path in tree.files(level.ROOT, tree.SOURCE + tree.SCRIPT):
            count = tree.read(level.ROOT, path).count('\n')
            if count > MOST_LINES:
                long.append('%s: %d lines, at most %d' % (path, count, MOST_LINES))
        self.assertEqual(long, [])

    def test_nothing_cites_what_a_reader_cannot_open(self):
        here = 'tests/structure/text_test.py'
        found = []
        for path in tree.files(level.ROOT, _TEXT):
            if path != here:
                found += lines_that_cite(path, tree.read(level.ROOT, path))
        self.assertEqual(found, [])

    def test_a_citation_is_found(self):
        for line in ('// see design.md', '# as issue 12 says', 'rule of §5', '/work/x', '// TODO: later'):
            self.assertEqual(len(list(lines_that_cite('a', line))), 1, line)
        for line in ('docs/protocol.md', 'the issue is', 'a recipe for', 'network/x', 'base 64'):
            self.assertEqual(list(lines_that_cite('a', line)), [], line)

    def test_ctest_can_name_each_case(self):
        found = []
        for path in tree.files(level.ROOT, ('_test.cc',)):
            found += names_in_parts(path, tree.read(level.ROOT, path))
        self.assertEqual(found, [], 'a semicolon parts the name, and what is left fits no case')

    def test_a_name_in_parts_is_found(self):
        for text in ('TEST_CASE("a; b") {', 'TEST_CASE(\n    "a "\n    "b; c") {', 'TEST_CASE_FIXTURE(F, "a;") {'):
            self.assertEqual(len(list(names_in_parts('a', text))), 1, text)
        self.assertEqual(list(names_in_parts('a', 'TEST_CASE("a, b") { f(";"); }')), [])

    def test_intrinsics_have_a_portable_twin(self):
        bare = [path for path in tree.files(level.ROOT, tree.SOURCE)
                if _INTRINSICS.search(tree.read(level.ROOT, path)) and not re.search(
                    r'#\s*(if|ifdef|elif)\b.*__(x86_64__|SSE|AVX|ARM_NEON|aarch64__)',
                    tree.read(level.ROOT, path))]
        self.assertEqual(bare, [])


if __name__ == '__main__':
    level.main()
