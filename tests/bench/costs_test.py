"""bench/gpu/costs.py on CPU ranks: every part is measured, and its parts add up."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import level

COSTS = os.path.join(level.ROOT, 'bench', 'gpu', 'costs.py')
PURLIN = os.path.join(os.environ['PURLIN_BINARY_DIR'], 'bin', 'purlin')


def run(folder, *arguments):
    done = subprocess.run([sys.executable, '-B', COSTS, folder, '--device', 'host', *arguments], capture_output=True,
                          text=True, timeout=280, check=False)
    level.count_cases(1)
    return done


class Costs(unittest.TestCase):
    def test_every_part_is_measured_and_told(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(folder, '--purlin', PURLIN, '--seconds', '250')
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(os.path.join(folder, 'costs.jsonl'), encoding='utf-8') as file:
                documents = [json.loads(line) for line in file]
            with open(os.path.join(folder, 'summary.md'), encoding='utf-8') as file:
                summary = file.read()
        found = {}
        for document in documents:
            found[document['what']] = found.get(document['what'], 0) + 1
        self.assertEqual(found, {'creation': 8, 'split': 13, 'overhead': 5, 'staging': 28})
        self.assertTrue(all(document['wrong'] == 0 for document in documents))
        self.assertIn('Not reached in time: nothing. Failed: nothing.', summary)
        split = [line for line in summary.splitlines() if line.startswith('| 16 KiB | ')]
        self.assertEqual(len(split), 1, summary)
        *parts, whole = [float(cell) for cell in split[0].split('|')[2:-1]]
        self.assertAlmostEqual(sum(parts), whole, delta=0.05)

    def test_what_time_does_not_reach_and_what_fails_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(folder, '--purlin', PURLIN, '--seconds', '1')
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('Not reached in time: creation, overhead, split, staging.', done.stdout)
            done = run(folder, '--purlin', '/bin/false', '--seconds', '60')
            self.assertEqual(done.returncode, 1)
            self.assertIn('creation', done.stderr)


if __name__ == '__main__':
    level.main()
