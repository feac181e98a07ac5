"""What the summary of nccl-tests' logs takes for right, and what not."""
import os
import sys
import tempfile
import unittest

import level

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import summarize_nccl_tests as summary  # noqa: E402

_OURS = 'purlin (libnccl.so.2): rank 0 of 2\n'
_HEAD = '#       size         count      type   redop    root     time   algbw   busbw  #wrong\n'


def row(out_of_place, in_place):
    return ('     1048576        262144     float     sum      -1    41.20   25.45   25.45  %6s'
            '    40.98   25.59   25.59  %6s\n' % (out_of_place, in_place))


class Summary(unittest.TestCase):
    def verdict(self, text, status=0):
        with tempfile.NamedTemporaryFile('w', suffix='.log') as log:
            log.write(text)
            log.flush()
            level.count_cases(1)
            return summary.verdict('all_reduce', '-g 2', status, 1.0, log.name)

    def test_checked_rows_over_purlin_are_right(self):
        for in_place in ('0', 'N/A'):
            found = self.verdict(_OURS + _HEAD + row('0', in_place) + row('0', '0'))
            self.assertTrue(found['good'], found)
            self.assertEqual((found['rows'], found['wrong']), (2, 0))

    def test_everything_else_is_not(self):
        wrong = self.verdict(_OURS + _HEAD + row('0', '1e+06'))
        self.assertEqual((wrong['good'], wrong['wrong']), (False, 1000000))
        self.assertFalse(self.verdict(_OURS + _HEAD + row('3', '0'))['good'])
        self.assertFalse(self.verdict(_OURS + _HEAD + row('N/A', '0'))['good'], 'nothing was checked')
        self.assertFalse(self.verdict(_OURS + _HEAD)['good'], 'no rows')
        self.assertFalse(self.verdict(_HEAD + row('0', '0'))['good'], 'another library')
        self.assertFalse(self.verdict(_OURS + _HEAD + row('0', '0'), status=124)['good'])

    def test_programs_without_an_operation_have_rows_too(self):
        found = self.verdict(_OURS + _HEAD + row('0', '0').replace('sum', '   '))
        self.assertEqual((found['good'], found['rows']), (True, 1))
        self.assertFalse(self.verdict(_OURS + _HEAD + row('2', '0').replace('sum', '   '))['good'])

    def test_the_first_error_is_kept(self):
        found = self.verdict(_OURS + 'a: Test NCCL failure common.cu:1\nmore error\n', status=3)
        self.assertEqual(found['first_error'], 'a: Test NCCL failure common.cu:1')


if __name__ == '__main__':
    level.main()
