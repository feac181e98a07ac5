"""What somebody learns from one command after a mistake: each fault of a policy and each wrong plugin gives one
text that says where, what was found and what to do; as lines for a terminal and as JSON."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import level

BUILD = os.environ['PURLIN_BINARY_DIR']
PURLIN = os.path.join(BUILD, 'bin', 'purlin')
FAULTY = os.path.join(BUILD, 'tests', 'plugins', 'faulty')
PRODUCT = os.path.join(BUILD, 'lib', 'purlin', 'plugins')
EXPLAIN = ['explain', 'all_reduce', '--bytes', '1MiB', '--ranks', '4']

# What a policy says after "version: 1", where the error is, and what it holds.
POLICY_FAULTS = [
    ('crossover: 8K\n', '2:12', ['"8K" is no size', 'did you mean "8KiB"?']),
    ('crossover: 8kb\n', '2:12', ['"8kb" is no size', '"8KiB"']),
    ('crossover: 1e6\n', '2:12', ['"1e6" is no size', '1000000']),
    ('crossover: 0x2000\n', '2:12', ['"0x2000" is no size', '8192']),
    ('crossover: 8192.0\n', '2:12', ['"8192.0" is no size', '8192']),
    ('crossover: -1\n', '2:12', ['"-1" is no size', 'Write whole bytes']),
    ('crossover: 9223372036854775808\n', '2:12', ['too large']),
    ('crossover: 8 192\n', '2:12', ['"8 192" is no size', '"8KiB"']),
    ('crossover: ""\n', '2:12', ['an empty text', 'size']),
    ('crossover:\n', '2:1', ['has no value', 'size']),
    ('staging:\n\tlatency_bytes: 1MiB\n', '3:1', ['a tab', 'spaces']),
    ('name: a\nname: b\n', '3:1', ['key "name" stands on line 2 already']),
    ('tuning: {rows: [{bytes: 1MiB..4KiB, chunk: 1KiB}]}\n', '2:25', ['reversed', '4KiB..1MiB']),
    ('tuning:\n  rows:\n    - {bytes: 0..256KiB, chunk: 4KiB}\n    - {bytes: 1MiB.., chunk: 8KiB}\n', '5:7',
     ['256KiB..1MiB without a row', 'line 4', 'extend one of them or add a row']),
    ('tuning:\n  rows:\n    - {bytes: 0..2MiB, chunk: 4KiB}\n    - {bytes: 1MiB.., chunk: 8KiB}\n', '5:7',
     ['overlap', 'line 4']),
    ('crosover: 1MiB\n', '2:1', ['unknown key "crosover"', 'did you mean "crossover"?', 'Keys here: version']),
    ('tuning: {default: {chunks: 1KiB}}\n', '2:20', ['unknown key "chunks"', '"chunk"']),
    ('staging: [1MiB]\n', '2:10', ['a list where a map is wanted']),
    ('tuning: {rows: {chunk: 1KiB}}\n', '2:16', ['a map where a list is wanted']),
    ('name: &a x\n', '2:7', ['anchor', 'write the value out']),
    ('name: "a\udcff"\n', '2:9', ['byte 0xff is not UTF-8', 'save the file as UTF-8']),
    ('#' * (10 << 20), '1:1', ['larger than 1MiB']),
    ('plugins: {disable: 7', '', ['not valid YAML']),
    # Above capacity, with the capacity.
    ('cta_budget: 513\n', '2:13', ['513', '1..512']),
    ('cta_budget: 5120\n', '2:13', ['1..512']),
    ('cta_budget: 2147483648\n', '2:13', ['1..512']),
    ('tuning: {default: {ctas: {total: 513}}}\n', '2:34', ['513', '3..512']),
    ('tuning: {default: {ctas: {stage: 200, reduce: 200, gather: 200}}}\n', '2:', ['600', '512']),
    ('staging: {pair_slots: 65}\n', '2:23', ['65', '2..64']),
    ('crossover: {rows: [{ranks: 65, value: 1KiB}]}\n', '2:28', ['65', '64']),
    ('crossover: 64MiB\n', '2:12', ['64MiB', 'staging.latency_bytes', 'lower the crossover or raise']),
    ('tuning: {default: {stages: 65}}\n', '2:28', ['65', '1..64']),
]

# Beside libatom-sound.so, which serves: a built plugin's name and the rule that it breaks.
PLUGIN_FAULTS = {
    'abi-major-newer': 'abi-newer', 'abi-major-older': 'abi-older', 'entry-older': 'abi-older',
    'entry-newer': 'abi-newer',
    'entry-hidden': 'entry-missing', 'entry-other': 'entry-missing', 'entry-null': 'entry-null',
    'entry-throws': 'entry-threw', 'entry-garbage': 'descriptor-memory', 'unresolved': 'load-failed',
    'size-stale': 'descriptor-size', 'size-huge': 'descriptor-memory', 'table-stale': 'descriptor-size',
    'limits-stale': 'descriptor-size', 'name-bad': 'descriptor-name', 'version-bad': 'descriptor-version',
    'text-bad': 'descriptor-text', 'kind-unknown': 'descriptor-kind', 'table-hole': 'table-incomplete',
    'limits-order': 'limits-invalid', 'mask-empty': 'limits-invalid', 'does-nothing': 'capabilities-none',
    'capability-unknown': 'capabilities-unknown', 'type-unknown': 'limits-invalid', 'table-reserved': 'reserved-used',
    'device-abi-newer': 'device-abi-newer', 'device-abi-older': 'device-abi-older',
}


def purlin(*arguments, cwd='/', **variables):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(('PURLIN_', 'RANK', 'WORLD_SIZE'))}
    level.count_cases(1)
    done = subprocess.run([PURLIN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                          env={**clean, **variables}, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode(errors='replace')


class Mistakes(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix='a folder ')
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8', errors='surrogateescape') as file:
            file.write(text)
        return self.path(name)

    def add(self, name, to):
        shutil.copy(os.path.join(FAULTY, 'libatom-%s.so' % name), self.path(to))
        return self.path(to)

    def holds(self, text, parts):
        for part in parts:
            self.assertIn(part, text)

    def plugins(self, *arguments, cwd='/'):
        """Status and text of `purlin plugins`, without line ends, and its JSON."""
        arguments = ['plugins', '--device', 'host', *arguments]
        status, out, err = purlin(*arguments, PURLIN_PLUGIN_PATH=self.folder, cwd=cwd)
        self.assertEqual(err, '')
        self.assertEqual([line for line in out.splitlines() if len(line) > 80 and '/' not in line], [])
        as_json = purlin(*arguments, '--json', PURLIN_PLUGIN_PATH=self.folder, cwd=cwd)
        self.assertEqual((as_json[0], as_json[2]), (status, ''))
        return status, ' '.join(out.split()), json.loads(as_json[1])


class Policies(Mistakes):
    def test_each_fault_says_where_what_and_what_to_do(self):
        for body, place, parts in POLICY_FAULTS:
            policy = self.write('policy.yaml', 'version: 1\n' + body)
            for command in (EXPLAIN, ['plugins']):
                status, out, err = purlin(*command, '--device', 'host', '--policy', policy)
                with self.subTest(body=body[:70], command=command[0], err=err):
                    self.assertEqual((status, out), (1, ''))
                    self.assertTrue(err.startswith('purlin %s: %s:%s' % (command[0], policy, place)), err)
                    self.assertEqual(err.count('\n'), 1)
                    self.holds(err, parts)
                    status, out, _ = purlin(*command, '--device', 'host', '--policy', policy, '--json')
                    self.assertEqual(status, 1)
                    self.assertEqual('purlin %s: %s\n' % (command[0], json.loads(out)['error']), err)

    def test_what_fits_some_numbers_of_ranks_is_refused_for_the_others(self):
        policy = self.write('policy.yaml', 'version: 1\nstaging: {throughput_bytes: 1MiB}\n'
                                           'tuning: {default: {chunk: 256KiB}}\n')
        for ranks, fits in (('1', True), ('2', True), ('3', False), ('8', False)):
            status, _, err = purlin(*EXPLAIN[:-1], ranks, '--device', 'host', '--policy', policy)
            self.assertEqual(status, 0 if fits else 1, err)
            self.holds(err, [] if fits else [policy + ':3:27', 'chunk 256KiB', 'staging.throughput_bytes'])

    def test_a_fault_in_a_policy_that_nobody_gave_is_found_too(self):
        os.makedirs(self.path('purlin'))
        policy = self.write('purlin/mine.yaml', 'version: 1\nmatch: {kind: host}\ncrosover: 1MiB\n')
        for command in (EXPLAIN, ['plugins']):
            status, _, err = purlin(*command, '--device', 'host', XDG_CONFIG_HOME=self.folder)
            self.assertEqual(status, 1)
            self.holds(err, [policy + ':3:1', 'did you mean "crossover"?'])
        for variables, parts in (({'PURLIN_POLICY': '/none.yaml'}, ['PURLIN_POLICY', '/none.yaml', 'cannot be read']),
                                 ({'PURLIN_CROSSOVER': '8K'}, ['PURLIN_CROSSOVER', '"8KiB"']),
                                 ({'PURLIN_DATAPATH': 'hots'}, ['PURLIN_DATAPATH', 'did you mean "host"?'])):
            status, _, err = purlin(*EXPLAIN, '--device', 'host', **variables)
            self.assertEqual(status, 1)
            self.holds(err, parts)

    def test_capacity_itself_is_taken_and_works(self):
        for body in ('cta_budget: 512\n', 'tuning: {default: {ctas: {total: 512}}}\n', 'staging: {pair_slots: 64}\n',
                     'staging: {throughput_bytes: 2MiB}\ntuning: {default: {chunk: 128KiB}}\n'):
            policy = self.write('policy.yaml', 'version: 1\n' + body)
            for ranks in ('2', '3', '8'):
                for size in ('4', '3MiB'):
                    status, out, err = purlin('perf', 'all_reduce', '-n', ranks, '--device', 'host', '--check', '-b',
                                              size, '-e', size, '--iters', '2', '--warmup', '1', '--policy', policy)
                    self.assertEqual((status, err), (0, ''), body)
                    self.assertIn(', 0 wrong elements', out)

    def test_a_policy_for_another_device_is_explained_as_it_stands(self):
        policy = self.write('policy.yaml', 'version: 1\nmatch: {kind: cuda, architecture: [sm_90]}\nname: other\n'
                                           'crossover: 2KiB\n')
        status, out, err = purlin(*EXPLAIN, '--device', 'host', '--policy', policy)
        self.assertEqual((status, err), (0, ''))
        self.holds(' '.join(out.split()), ['throughput: crossover 2048 bytes, said by policy.yaml:4:12',
                                           'Policy: other'])


class Plugins(Mistakes):
    def test_each_wrong_plugin_has_its_rule_reason_and_remedy(self):
        for name in PLUGIN_FAULTS:
            self.add(name, 'libatom-%s.so' % name)
        status, text, answer = self.plugins()
        self.assertEqual(status, 0)
        self.assertIn('Chosen Atom: host.', text)
        files = {os.path.basename(file['path']): file['verdict'] for folder in answer['folders']
                 for file in folder['files']}
        for name, rule in PLUGIN_FAULTS.items():
            verdict = files['libatom-%s.so' % name]
            with self.subTest(name=name, verdict=verdict):
                self.assertEqual((verdict['rule'], verdict['accepted']), (rule, False))
                self.assertTrue(verdict['reason'] and verdict['remedy'])
                # A long path may end a line in the middle of a sentence, and no more.
                self.assertIn(' '.join(('- libatom-%s.so: %s [%s] What to do: %s' % (
                    name, verdict['reason'], rule, verdict['remedy'])).split()), text)

    def test_one_that_the_policy_names_is_an_error_with_the_verdict_in_it(self):
        for name, rule in PLUGIN_FAULTS.items():
            path = self.add(name, 'libatom-%s.so' % name)
            policy = self.write('policy.yaml', 'version: 1\ndatapath: {prefer: ["./libatom-%s.so"]}\n' % name)
            for command in (EXPLAIN, ['perf', 'all_reduce', '-n', '2', '-e', '1KiB']):
                status, _, err = purlin(*command, '--device', 'host', '--policy', policy)
                with self.subTest(name=name, command=command[0], err=err):
                    self.assertEqual(status, 1)
                    self.holds(err, [path, policy + ':2:21', '[%s]; ' % rule])
            os.remove(path)

    def test_what_is_no_plugin_at_all(self):
        sound = self.add('sound', 'libatom-with space.so')
        self.write('libatom-text.so', 'not a shared object')
        self.write('notes.txt', 'a note')
        with open(sound, 'rb') as whole, open(self.path('libatom-cut.so'), 'wb') as cut:
            cut.write(whole.read()[:3000])
        os.mkdir(self.path('libatom-folder.so'))
        os.symlink('nowhere', self.path('libatom-dangling.so'))
        os.symlink(sound, self.path('libatom-again.so'))
        os.chmod(self.add('sound', 'libatom-open.so'), 0o666)
        # Of the same name as the first, and newer: the order is total.
        self.add('sound-newer', 'libatom-newer.so')
        expected = {'libatom-text.so': 'not-elf', 'notes.txt': 'file-name', 'libatom-cut.so': 'elf-truncated',
                    'libatom-folder.so': 'not-a-file', 'libatom-dangling.so': 'dangling-link',
                    'libatom-with space.so': 'same-file', 'libatom-open.so': 'world-writable'}
        if os.geteuid() == 0:
            os.chown(self.add('sound', 'libatom-stranger.so'), 12345, 12345)
            expected['libatom-stranger.so'] = 'stranger-owned'
        else:
            level.skip('only root can give a file away')
        status, text, answer = self.plugins()
        self.assertEqual(status, 0)
        verdicts = {os.path.basename(file['path']): file['verdict'] for folder in answer['folders']
                    for file in folder['files']}
        for name, rule in expected.items():
            self.assertEqual(verdicts[name]['rule'], rule, name)
            self.holds(text, ['- %s: ' % name, '[%s] What to do: ' % rule])
        self.assertEqual([c['atom']['name'] for c in answer['candidates'] if c['fit']['accepted']],
                         ['sound', 'sound', 'host'])
        self.holds(text, ['2. sound 1.0.0', '[newer-version]'])

    def test_every_form_of_a_name_from_any_working_folder(self):
        os.mkdir(self.path('sub'))
        path = self.add('eager', 'libatom-eager.so')
        self.add('eager', 'sub/other name.so')
        os.symlink(path, self.path('link.so'))
        for word in ('eager', 'libatom-eager.so', './libatom-eager.so', path, 'sub/other name.so', './link.so'):
            policy = self.write('policy.yaml', 'version: 1\ndatapath: {prefer: ["%s"]}\n' % word)
            for folder in ('/', self.path('sub')):
                status, text, answer = self.plugins('--policy', policy, cwd=folder)
                self.assertEqual((status, answer['chosen']['name']), (0, 'eager'), (word, text))

    def test_names_that_nothing_answers_to(self):
        self.write('libatom-text.so', 'not a shared object')
        for word, parts in (('hots', ['[name-unknown]', 'did you mean "host"?', 'correct the name']),
                            ('libatom-text', ['[name-unknown]', 'did you mean "libatom-text.so"?']),
                            ('text', ['[not-elf]', 'libatom-text.so']),
                            ('./none.so', ['[file-missing]', self.path('none.so'), 'give the path of an existing plugin']),
                            ('./', ['[file-name]']),
                            ('Not A Name', ['[name-invalid]', 'give a name such as'])):
            policy = self.write('policy.yaml', 'version: 1\ndatapath: {prefer: ["%s"]}\n' % word)
            status, text, answer = self.plugins('--policy', policy)
            with self.subTest(word=word, text=text):
                self.assertEqual((status, answer['chosen']), (1, None))
                self.assertTrue(text.startswith('Plugins for device host Chosen Atom: none. the policy names "'))
                self.holds(text, parts + ['datapath.prefer'])
            # With a fallback it is told and passed over.
            policy = self.write('policy.yaml', 'version: 1\ndatapath: {prefer: ["%s", auto]}\n' % word)
            status, text, answer = self.plugins('--policy', policy)
            self.assertEqual((status, answer['chosen']['name']), (0, 'host'))
            self.holds(text, ['What the policy names:', parts[0]])

    def test_denials_and_globs_hold_and_are_named(self):
        for body, parts in (('datapath: {prefer: [host], deny: ["h*"]}\n',
                             ['policy.yaml:2:35', '[denied]', 'datapath.deny']),
                            ('plugins: {disable: [host]}\n', ['policy.yaml:2:21', '[disabled]', 'plugins.disable']),
                            ('plugins: {enable: [other]}\n', ['[not-enabled]', 'plugins.enable'])):
            policy = self.write('policy.yaml', 'version: 1\n' + body)
            status, text, answer = self.plugins('--policy', policy)
            with self.subTest(body=body, text=text):
                self.assertEqual((status, answer['chosen']), (1, None))
                self.holds(text, parts)

    def test_wrong_folders_are_named_with_who_asked_for_them(self):
        file = self.write('file', '')
        policy = self.write('policy.yaml', 'version: 1\nplugins: {path: [absent]}\n')
        status, out, _ = purlin('plugins', '--device', 'host', '--policy', policy, PURLIN_PLUGIN_PATH=file)
        self.assertEqual(status, 0)
        self.holds(' '.join(out.split()), [
            self.path('absent'), '[folder-missing] What to do: create it, or take it out of ' + policy + ':2:18',
            '[folder-not-a-folder] What to do: give the folder that holds the plugin'])


if __name__ == '__main__':
    level.main()
