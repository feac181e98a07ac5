"""bench/gpu/sanitizers.sh on CPU ranks, with a stand-in for the sanitizer: every run counts, and so does what it finds."""
import json
import os
import subprocess
import tempfile
import unittest

import level

SCRIPT = os.path.join(level.ROOT, 'bench', 'gpu', 'sanitizers.sh')
PURLIN = os.path.join(os.environ['PURLIN_BINARY_DIR'], 'bin', 'purlin')
TOOL = '''#!/bin/sh
tool=$2
shift 4
"$@" || exit $?
case "$tool $*" in "$FOUND_BY"*"$FOUND_IN"*) exit 99 ;; esac
'''


class Sanitizers(unittest.TestCase):
    def sweep(self, **environment):
        with tempfile.TemporaryDirectory() as folder:
            tool = os.path.join(folder, 'tool')
            with open(tool, 'w', encoding='utf-8') as file:
                file.write(TOOL)
            os.chmod(tool, 0o755)
            done = subprocess.run([SCRIPT, folder, PURLIN], capture_output=True, text=True, timeout=280, check=False,
                                  env={**os.environ, 'COMPUTE_SANITIZER': tool, 'DEVICE': 'host', 'FOUND_BY': 'none',
                                       'FOUND_IN': 'none', **environment})
            level.count_cases(1)
            with open(os.path.join(folder, 'sanitizers.jsonl'), encoding='utf-8') as file:
                return done, [json.loads(line) for line in file]

    def test_each_collective_goes_through_each_tool_by_both_paths(self):
        done, runs = self.sweep()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual({run['verdict'] for run in runs}, {'clean'})
        self.assertEqual(len({(run['tool'], run['arguments']) for run in runs}), 4 * 5 * 2)
        self.assertIn('40 runs clean, 0 not, 0 left out', done.stdout)

    def test_what_a_tool_finds_fails_the_script(self):
        done, runs = self.sweep(FOUND_BY='racecheck', FOUND_IN='all_gather')
        self.assertEqual(done.returncode, 1)
        self.assertEqual([run['tool'] for run in runs if run['verdict'] != 'clean'], ['racecheck', 'racecheck'])
        self.assertIn('38 runs clean, 2 not', done.stdout)

    def test_what_time_does_not_reach_is_counted(self):
        done, runs = self.sweep(SECONDS_ALL='0')
        self.assertEqual(done.returncode, 0)
        self.assertEqual({run['verdict'] for run in runs}, {'no time left'})
        self.assertIn('40 left out for time', done.stdout)

    def test_a_missing_tool_is_told(self):
        done = subprocess.run([SCRIPT, '/nowhere'], capture_output=True, text=True, check=False,
                              env={**os.environ, 'COMPUTE_SANITIZER': '/nowhere/tool'})
        level.count_cases(1)
        self.assertEqual(done.returncode, 2)
        self.assertIn('COMPUTE_SANITIZER', done.stderr)


if __name__ == '__main__':
    level.main()
