"""The purlin command as a user types it: exit statuses, texts, figures, on host ranks."""
import json
import os
import random
import subprocess
import tempfile
import unittest

import level

PURLIN = os.path.join(os.environ['PURLIN_BINARY_DIR'], 'bin', 'purlin')
COLLECTIVES = ['all_gather', 'reduce_scatter', 'all_reduce', 'all_to_all', 'all_gather_v',
               'reduce_scatter_v', 'all_to_all_v', 'broadcast', 'reduce', 'scatter', 'gather',
               'send_recv', 'barrier']
REDUCE = {'reduce_scatter', 'all_reduce', 'reduce_scatter_v', 'reduce'}
ROOTED = {'broadcast', 'reduce', 'scatter', 'gather'}
PARTS = {'all_gather_v', 'reduce_scatter_v', 'all_to_all_v', 'send_recv'}
NO_PLACE = {'all_to_all_v', 'send_recv', 'barrier'}
LAUNCHERS = ('PURLIN_', 'OMPI_', 'PMI_', 'SLURM_', 'RANK', 'WORLD_SIZE')


def purlin(*arguments, environment=None):
    """(exit status, stdout, stderr) of one run, free of any launcher's variables."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}
    clean.update(environment or {})
    done = subprocess.run([PURLIN, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, env=clean, check=False)
    level.count_cases(1)
    return done.returncode, done.stdout, done.stderr


def rows(table):
    return [line.split() for line in table.splitlines() if line and not line.startswith('#')]


class Usage(unittest.TestCase):
    def test_help_of_every_command_fits_and_shows_examples(self):
        for command in [[], ['perf'], ['explain'], ['plugins'], ['prelink'], ['pack'], ['check'], ['run']]:
            status, out, _ = purlin(*command, '--help')
            self.assertEqual(status, 0, command)
            self.assertLessEqual(max(map(len, out.splitlines())), 100, out)
            if command and command != ['run']:
                self.assertIn('Example', out)

    def test_version_is_one_line(self):
        status, out, _ = purlin('--version')
        self.assertEqual(status, 0)
        self.assertEqual(out.count('\n'), 1)
        self.assertRegex(out, r'\d+\.\d+\.\d+')

    def test_mistakes_on_the_command_line_exit_with_2_and_say_what_to_do(self):
        mistakes = [
            ([], 'subcommand'),
            (['perv'], 'did you mean "perf"?'),
            (['perf'], 'collective'),
            (['perf', 'al_reduce'], 'did you mean "all_reduce"?'),
            (['perf', 'all_gather', '-o', 'sum'], 'has no operation'),
            (['perf', 'all_reduce', '-o', 'summ'], 'did you mean "sum"?'),
            (['perf', 'all_reduce', '-b', '1K'], '1KiB'),
            (['perf', 'all_reduce', '--no-such-option'], '--no-such-option'),
            (['perf', 'all_reduce', '-n', '0'], '1 to 64'),
            (['explain', 'al_gather', '--bytes', '1', '--ranks', '2'], '"all_gather"'),
            (['explain', 'all_gather', '--bytes', '1', '--ranks', '2', '--op', 'sum'], '--op'),
            (['explain', 'all_gather', '--ranks', '2'], '--bytes'),
        ]
        for arguments, part in mistakes:
            status, out, err = purlin(*arguments)
            self.assertEqual(status, 2, (arguments, out, err))
            self.assertIn(part, out + err, arguments)

    def test_what_cannot_be_done_exits_with_1(self):
        with tempfile.TemporaryDirectory() as folder:
            policy = os.path.join(folder, 'policy.yaml')
            with open(policy, 'w', encoding='utf-8') as file:
                file.write('version: 1\nname: x\ncrosover: 1MiB\n')
            for command in (['perf', 'all_reduce', '-n', 2, '-e', '1KiB'],
                            ['explain', 'all_reduce', '--bytes', 8, '--ranks', 2],
                            ['plugins']):
                status, _, err = purlin(*command, '--policy', policy)
                self.assertEqual(status, 1, (command, err))
                self.assertIn(policy + ':3:1', err)
                self.assertIn('crossover', err)
                status, _, err = purlin(*command, '--policy', os.path.join(folder, 'none.yaml'))
                self.assertEqual(status, 1, (command, err))
                self.assertIn('none.yaml', err)


class Perf(unittest.TestCase):
    skipped = set()

    def check(self, collective, ranks, *options):
        arguments = ['perf', collective, '-n', ranks, '--device', 'host', '--check', '--iters', 2,
                     '--warmup', 1, '--seed', level.SEED, *options]
        status, out, err = purlin(*arguments)
        if 'not offered by this version' in err:
            self.assertEqual(status, 1, err)
            if collective not in self.skipped:
                level.skip('%s: not offered by this version' % collective)
            self.skipped.add(collective)
            return ''
        self.assertEqual((status, err), (0, ''), (arguments, out))
        self.assertIn(', 0 wrong elements', out)
        return out

    def test_every_collective_is_right(self):
        chance = random.Random(level.SEED)
        for collective in COLLECTIVES:
            for ranks in [1, 2, 3, 5, 8] if level.is_full() else [chance.choice([2, 3, 5, 8])]:
                sizes = [] if collective == 'barrier' else ['-b', 0, '-e', '300KiB', '-f', 60]
                root = ['--root', ranks - 1] if collective in ROOTED else []
                self.check(collective, ranks, *sizes, *root)
                if collective not in NO_PLACE:
                    self.check(collective, ranks, *sizes, *root, '--in-place', '--misalign', 4)

    def test_every_type_and_operation_is_right(self):
        for collective in sorted(REDUCE) if level.is_full() else ['all_reduce']:
            out = self.check(collective, 3, '-b', 5000, '-e', 5000, '-d', 'all', '-o', 'all')
            self.assertEqual(len(rows(out)), 72)
        for collective in ['all_gather', 'all_to_all']:
            out = self.check(collective, 3, '-b', 5000, '-e', 5000, '-d', 'all')
            self.assertEqual(len(rows(out)), 12)

    def test_both_paths_can_be_forced(self):
        for collective in ['all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all']:
            for path in ['latency', 'throughput']:
                self.check(collective, 4, '-b', '1KiB', '-e', '4KiB', '--path', path)

    def test_parts_of_any_size_and_place_are_right(self):
        for collective in sorted(PARTS):
            for placement in ['packed', 'gapped', 'reversed']:
                for skew in [['--skew', 'zipf:0.125'], ['--random-counts']]:
                    self.check(collective, 5, '-b', '1KiB', '-e', '256KiB', '-f', 16, *skew,
                               '--placement', placement)
        with tempfile.NamedTemporaryFile('w', suffix='.txt') as file:
            file.write('0 70000 0\n0 0 0\n3 1 0\n')
            file.flush()
            out = self.check('all_to_all_v', 3, '--counts-file', file.name)
            self.assertEqual(rows(out)[0][0], str(70000 * 4))

    def test_the_document_agrees_with_the_table(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'result.json')
            out = self.check('all_reduce', 2, '-b', '1KiB', '-e', '4KiB', '--json', path)
            with open(path, encoding='utf-8') as file:
                document = json.load(file)
        self.assertEqual([str(row['size']) for row in document['rows']],
                         [row[0] for row in rows(out)])
        self.assertEqual(document['wrong'], 0)
        status, out, _ = purlin('perf', 'barrier', '-n', 2, '--device', 'host', '--json', '-')
        self.assertEqual(status, 0)
        self.assertEqual(json.loads(out)['rows'][0]['size'], 0)

    def test_each_rank_alone_is_right(self):
        chance = random.Random(level.SEED + 1)
        for collective in COLLECTIVES:
            if collective == 'send_recv':
                continue
            for path in [[]] if collective == 'barrier' else [['--path', 'latency'], ['--path', 'throughput']]:
                for ranks in [1, 2, 3, 8] if level.is_full() else [chance.choice([2, 3, 5])]:
                    sizes = [] if collective == 'barrier' else ['-b', 0, '-e', '64KiB', '-f', 20]
                    place = [] if collective in NO_PLACE else chance.choice([[], ['--in-place', '--misalign', 4]])
                    out = self.check(collective, ranks, '--alone', chance.randrange(ranks), *sizes, *path, *place)
                    self.assertIn('alone', out)
        out = self.check('all_reduce', 3, '--alone', 1, '-b', 5000, '-e', 5000, '-d', 'all', '-o', 'all')
        self.assertEqual(len(rows(out)), 72)
        status, _, err = purlin('perf', 'all_reduce', '-n', 2, '--device', 'host', '--alone', 0, '-b', '64MiB')
        self.assertEqual(status, 1)
        self.assertIn('staging.throughput_bytes', err)

    def test_ranks_can_be_processes(self):
        status, out, err = purlin('run', '-n', 3, '--', PURLIN, 'perf', 'all_reduce', '--check',
                                  '--device', 'host', '-e', '64KiB', '-f', 8)
        self.assertEqual(status, 0, out + err)
        self.assertIn('processes of purlin run', out)
        self.assertEqual(out.count('3 rows, 0 wrong elements'), 1, out)

    def test_a_plain_environment_makes_ranks_too(self):
        common = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}
        ranks = [subprocess.Popen([PURLIN, 'perf', 'all_gather', '--check', '--device', 'host',
                                   '-e', '4KiB'], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE,
                                  env={**common, 'RANK': str(r), 'WORLD_SIZE': '2',
                                       'LOCAL_RANK': str(r), 'MASTER_PORT': str(os.getpid())})
                 for r in range(2)]
        done = [(rank.communicate(timeout=120), rank.returncode) for rank in ranks]
        level.count_cases(1)
        self.assertEqual([status for _, status in done], [0, 0], done)
        self.assertIn('0 wrong elements', done[0][0][0])
        self.assertEqual(done[1][0][0], '')


class Answers(unittest.TestCase):
    def widths(self, text):
        return [line for line in text.splitlines() if len(line) > 80 and '/' not in line]

    def test_plugins_tells_the_choice_and_fits_80_columns(self):
        status, out, err = purlin('plugins', '--device', 'host')
        self.assertEqual(status, 0, err)
        self.assertIn('Chosen Atom: host', out)
        self.assertIn('libatom-host.so', out)
        self.assertEqual(self.widths(out), [])
        status, out, _ = purlin('plugins', '--device', 'host', '--json')
        self.assertEqual(status, 0)
        self.assertEqual(json.loads(out)['chosen']['name'], 'host')

    def test_a_wrong_file_in_a_plugin_folder_is_explained(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'libatom-broken.so'), 'w', encoding='utf-8') as file:
                file.write('not a shared object')
            status, out, err = purlin('plugins', '--device', 'host',
                                      environment={'PURLIN_PLUGIN_PATH': folder})
        self.assertEqual(status, 0, err)
        self.assertIn('libatom-broken.so', out)
        self.assertIn('[not-elf]', out)
        self.assertIn('What to do:', out)

    def test_explain_says_path_atom_plan_and_origin_of_every_collective(self):
        for collective in COLLECTIVES:
            for size in ['0', '1KiB', '64MiB']:
                status, out, err = purlin('explain', collective, '--bytes', size, '--ranks', 8,
                                          '--device', 'host')
                if collective == 'send_recv':  # depends on what the peers post
                    self.assertEqual(status, 1)
                    self.assertIn('other than send_recv', err)
                    continue
                self.assertEqual(status, 0, (collective, size, err))
                self.assertTrue(out.startswith(collective + ' of '), out)
                self.assertEqual(self.widths(out), [])
        for environment, part in (({}, None), ({'RANK': '0', 'WORLD_SIZE': '2'}, 'without a token'),
                                  ({'RANK': '0'}, 'no communicator could be created here')):
            status, out, err = purlin('explain', 'all_reduce', '--bytes', '8', '--ranks', 2, '--device', 'host',
                                      environment=environment)
            self.assertEqual(status, 0, err)
            self.assertIn(part or '', out)
            self.assertEqual('token' in out, part == 'without a token')
        status, out, err = purlin('explain', 'all_reduce', '--bytes', '1MiB', '--ranks', 8,
                                  '--device', 'host', '--json')
        self.assertEqual(status, 0, err)
        answer = json.loads(out)
        self.assertEqual(answer['collective'], 'all_reduce')
        self.assertIn(answer['path'], ('latency', 'throughput'))
        self.assertEqual(answer['atom']['name'], 'host')


if __name__ == '__main__':
    level.main()
