"""level.h for tests written in Python: the same variables, the same lines in the output."""
import datetime
import os
import sys
import unittest

LEVEL = os.environ.get('PURLIN_TEST_LEVEL') or 'quick'
SEED = int(os.environ.get('PURLIN_TEST_SEED') or datetime.datetime.utcnow().strftime('%Y%m%d'))
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

_totals = {'cases': 0, 'skips': 0}

if LEVEL not in ('sample', 'quick', 'full'):
    sys.exit('PURLIN_TEST_LEVEL is "%s", but must be sample, quick or full' % LEVEL)


def is_full():
    return LEVEL == 'full'


def skip(reason):
    """Prints and counts what this machine cannot do; the caller then returns."""
    _totals['skips'] += 1
    print('SKIP %s' % reason, flush=True)


def count_cases(number):
    _totals['cases'] += number


def main():
    """Runs the calling module's unittest cases and prints the totals."""
    program = unittest.main(exit=False, verbosity=2)
    print('TOTAL level=%s seed=%d cases=%d skips=%d' %
          (LEVEL, SEED, _totals['cases'], _totals['skips']))
    sys.exit(not program.result.wasSuccessful())
