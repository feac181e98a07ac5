"""Includes point one way: the table below is the project's architecture, this test enforces it."""
import os
import re
import tempfile
import unittest

import level
import tree

# Folder of the including file -> what it may include of the project besides its own folder. The first
# row that matches counts. Tests may include anything.
_SDK = r'runtime/include/purlin/(atom_abi\.h|device_abi\.cuh|atom\.cuh|kit/.*)$'
_API = r'runtime/include/purlin/purlin\.(h|hpp)$'
RULES = [
    (r'runtime/include/', [r'runtime/include/']),
    (r'runtime/src/', [r'runtime/', r'snac/']),
    (r'snac/', [r'runtime/include/']),
    (r'plugins/[^/]+/', [_SDK]),
    (r'examples/[^/]*atom[^/]*/', [_SDK]),
    (r'examples/[^/]*(fused|direct)[^/]*/', [_API, r'runtime/include/purlin/device\.cuh$']),
    (r'tools/(atom_bench|check/gpu)/', [_API, r'runtime/include/purlin/device\.cuh$', r'tools/']),
    (r'(tools|nccl|examples)/', [_API]),
    (r'bench/', [r'runtime/', r'snac/']),
    (r'tests/', [r'']),
]

# Libraries that one file alone may name, so that their exceptions stay there.
LIBRARIES = [
    (r'yaml-cpp/', r'runtime/src/policy/\w*reader\w*\.cc$'),
    (r'boost/', r'runtime/src/plugin/shared_object\.cc$'),
    (r'doctest/', r'tests/'),
    (r'(CLI/|CLI11)', r'tools/'),
]


def violations(root):
    for path in tree.files(root, tree.SOURCE):
        rule = next((rule for rule in RULES if re.match(rule[0], path)), None)
        if rule is None:
            yield '%s: lies in no folder that the rules know' % path
            continue
        own = re.match(rule[0], path).group(0)
        for name, target in tree.includes(root, path):
            if target is None:
                for library, home in LIBRARIES:
                    if re.match(library, name) and not re.match(home, path):
                        yield '%s: includes <%s>, which only %s may' % (path, name, home)
            elif not target.startswith(own) and not any(re.match(r, target) for r in rule[1]):
                yield '%s: includes %s; %s may include %s' % (path, target, own, rule[1])


class Includes(unittest.TestCase):
    def test_every_include_follows_the_arrows(self):
        level.count_cases(len(tree.files(level.ROOT, tree.SOURCE)))
        self.assertEqual(list(violations(level.ROOT)), [])

    def test_a_wrong_arrow_is_found(self):
        wrong = {
            'tools/a.cc': '#include "status/status.h"',
            'nccl/a.cc': '#include <purlin/atom_abi.h>',
            'snac/a.h': '#include "status/status.h"',
            'plugins/atom-x/a.cc': '#include "purlin/purlin.h"',
            'plugins/atom-x/b.cc': '#include "snac/layout.h"',
            'runtime/src/plugin/a.cc': '# include <boost/dll.hpp>',
            'runtime/src/policy/find.cc': '#include <yaml-cpp/yaml.h>',
            'runtime/src/status/a.cc': '#include "tools/a.h"',
            'runtime/include/purlin/kit/a.cuh': '#include "snac/layout.h"',
            'elsewhere/a.cc': '',
        }
        right = {
            'tools/a.h': '',
            'tools/b.cc': '#include "purlin/purlin.h"\n#include "a.h"\n#include <CLI/CLI.hpp>',
            'snac/layout.h': '#include "purlin/atom_abi.h"',
            'plugins/atom-x/c.cc': '#include "purlin/atom_abi.h"\n#include "purlin/kit/a.cuh"',
            'runtime/src/policy/reader.cc': '#include <yaml-cpp/yaml.h>',
            'runtime/src/plugin/shared_object.cc': '#include <boost/dll.hpp>',
            'runtime/src/status/status.h': '#include "purlin/purlin.h"\n#include "snac/layout.h"',
            'runtime/include/purlin/purlin.h': '',
            'runtime/include/purlin/atom_abi.h': '',
        }
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**wrong, **right}.items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                    file.write(text)
            found = {line.split(':')[0] for line in violations(root)}
        self.assertEqual(found, set(wrong))


if __name__ == '__main__':
    level.main()
