"""Fenced samples of the documentation: where they stand and what they say they are."""
import glob
import os
import re

import level

_FENCE = re.compile(r'^```(\w*)([^\n]*)\n(.*?)^```', re.MULTILINE | re.DOTALL)


class Sample:
    def __init__(self, path, line, kind, file, text):
        self.path, self.line, self.kind, self.file, self.text = path, line, kind, file, text

    def place(self):
        return '%s:%d' % (self.path, self.line)


def pages():
    found = glob.glob(os.path.join(level.ROOT, '*.md')) + glob.glob(
        os.path.join(level.ROOT, 'docs', '**', '*.md'), recursive=True)
    return sorted(os.path.relpath(path, level.ROOT) for path in found)


def read(*kinds):
    """All samples of these kinds ('cpp', 'console' …). file: the word behind file= in the fence."""
    for path in pages():
        with open(os.path.join(level.ROOT, path), encoding='utf-8') as page:
            text = page.read()
        for match in _FENCE.finditer(text):
            if match.group(1) in kinds:
                file = re.search(r'file=(\S+)', match.group(2))
                yield Sample(path, text[:match.start()].count('\n') + 1, match.group(1),
                             file and file.group(1), match.group(3))


def broken_links(path):
    """Relative links of a page whose target does not exist, as 'page: target'."""
    with open(os.path.join(level.ROOT, path), encoding='utf-8') as page:
        text = _FENCE.sub('', page.read())
    for target in re.findall(r'\]\(([^)#:\s]+)(?:#[^)]*)?\)', text):
        if not os.path.exists(os.path.join(level.ROOT, os.path.dirname(path), target)):
            yield '%s: %s' % (path, target)
