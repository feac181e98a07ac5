"""The measuring instruments: `purlin perf`, `purlin perf atom` and `purlin explain`, with a journal of what they said.

The journal, JSON lines, makes a sweep resumable: what it holds is not measured again. Its first line says what
was measured on and with; a journal of something else is refused.
"""
import datetime
import json
import os
import subprocess
import tempfile

from settings import REDUCING

LAUNCHERS = ('PURLIN_', 'OMPI_', 'PMI_', 'SLURM_', 'RANK', 'WORLD_SIZE')
KEPT = ('PURLIN_PLUGIN_PATH', 'PURLIN_CACHE_DIR', 'PURLIN_PROGRAM_PATH', 'PURLIN_CUDA_DRIVER')
MOST_SECONDS = 120  # of one command


class Failed(Exception):
    """A command that must succeed did not; the text says which and what it said."""


def size_text(size):
    for unit, shift in (('GiB', 30), ('MiB', 20), ('KiB', 10)):
        if size and size % (1 << shift) == 0:
            return '%d%s' % (size >> shift, unit)
    return str(size)


def candidate_policy(kind, atom, staging, collective, setting=None, limits=None):
    """Text of a policy that serves calls by `setting`; `limits`: crossover and one-shot limit of all_reduce."""
    lines = ['version: 1', 'name: a candidate of bench/sweep', 'match: {kind: %s}' % kind]
    if atom:
        lines.append('datapath: {prefer: [%s, auto]}' % atom)
    lines.append('staging: {latency_bytes: %d, throughput_bytes: %d}' % staging)
    if collective in REDUCING:
        lines.append('programs: [{kind: copy}, {kind: reduce, dtypes: [f32], ops: [sum]}]')
    else:
        lines.append('programs: [{kind: copy}]')
    if limits:
        lines.append('crossover: {rows: [{collectives: [all_reduce], value: %d}]}\none_shot_limit: %d' % limits)
    if setting:
        parts = ['direction: %s' % setting.direction, 'chunk: %d' % setting.chunk]
        if kind == 'cuda':
            parts.append('ctas: {stage: %d, reduce: %d, gather: %d}' % setting[2:5])
            parts += ['%s: %d' % (key, value) for key, value in
                      (('stages', setting.stages), ('stage_bytes', setting.stage_bytes)) if value]
        lines.append('tuning: {default: {%s}}' % ', '.join(parts))
    return '\n'.join(lines) + '\n'


class Instrument:
    def __init__(self, purlin, kind, journal, iterations):
        self.purlin, self.kind, self.path = purlin, kind, journal
        self.iterations = ['--iters', iterations] if iterations else []  # else as many as perf finds right
        self.environment = {k: v for k, v in os.environ.items() if k in KEPT or not k.startswith(LAUNCHERS)}
        self.known = {}
        self.commands = 0  # that were run, not read from the journal

    def run(self, *arguments):
        """(exit status, standard output, standard error)"""
        command = [self.purlin, *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS, check=False,
                                  env=self.environment)
        except subprocess.TimeoutExpired:
            return 1, '', 'ended after %d seconds: %s' % (MOST_SECONDS, ' '.join(command))
        except OSError as error:
            raise Failed('%s cannot be run: %s; build it, or name it with --purlin' % (self.purlin, error)) from error
        return done.returncode, done.stdout, done.stderr

    def begin(self, machine):
        """Reads the journal, or begins one. `machine` is what must not change from one run to the next."""
        if os.path.exists(self.path):
            with open(self.path, encoding='utf-8') as file:
                entries = [json.loads(line) for line in file if line.endswith('\n')]
            if entries and entries[0]['machine'] != machine:
                changed = [key for key in machine if entries[0]['machine'].get(key) != machine[key]]
                raise Failed('%s was measured with another %s (%r, here %r); name another --out, or remove it' % (
                    self.path, changed[0], entries[0]['machine'].get(changed[0]), machine[changed[0]]))
            self.known = {json.dumps(entry['asked']): entry for entry in entries[1:]}
            with open(self.path, 'w', encoding='utf-8') as file:  # without a line that was cut off
                file.writelines(json.dumps(entry) + '\n' for entry in entries)
            if entries:
                return
        self.write({'machine': machine, 'date': today()})

    def write(self, entry):
        with open(self.path, 'a', encoding='utf-8') as file:
            file.write(json.dumps(entry) + '\n')

    def remembered(self, asked, measure):
        key = json.dumps(asked)
        if key not in self.known:
            self.commands += 1
            self.known[key] = {'asked': asked, 'date': today(), **measure()}
            self.write(self.known[key])
        return self.known[key]

    def perf(self, collective, ranks, path, policy, sizes, repetition=0):
        """{size: median microseconds}, or the text of the refusal. Sizes are powers of two, evenly spaced."""
        asked = ['perf', collective, ranks, path, policy, [sizes[0], sizes[-1], len(sizes)], repetition]
        asked += self.iterations

        def measure():
            with tempfile.NamedTemporaryFile('w', suffix='.yaml', encoding='utf-8') as file:
                file.write(policy)
                file.flush()
                factor = sizes[1] // sizes[0] if len(sizes) > 1 else 2
                status, out, err = self.run('perf', collective, '-n', ranks, '--device', self.kind, '--path', path,
                                            '-b', sizes[0], '-e', sizes[-1], '-f', factor, '--timeout', 20,
                                            '--policy', file.name, '--json', '-', *self.iterations)
                if status != 0:
                    return {'refused': err.strip().replace(file.name, 'POLICY')[-600:]}
            rows = json.loads(out)['rows']
            return {'us': [row['time_us']['median'] for row in rows]}

        entry = self.remembered(asked, measure)
        return dict(zip(sizes, entry['us'])) if 'us' in entry else entry['refused']

    def atom(self, atom, peer, ctas, size):
        """What `purlin perf atom` writes: bandwidth by CTAs, and the time of a load there and back."""
        arguments = ['perf', 'atom', '--ctas', ','.join(map(str, ctas)), '--bytes', size]
        arguments += ['--atom', atom] if atom else []
        arguments += ['--peer', peer] if peer else []

        def measure():
            with tempfile.NamedTemporaryFile('r', suffix='.json', encoding='utf-8') as file:
                status, _, err = self.run(*arguments, '--json', file.name)
                if status != 0:
                    raise Failed('purlin perf atom: ' + err.strip())
                return {'document': json.load(file)}

        return self.remembered(arguments, measure)['document']

    def explain(self, collective, size, ranks, device, policy=None):
        """The JSON of `purlin explain`, with its settings as a map."""
        arguments = ['explain', collective, '--bytes', size, '--ranks', ranks, '--device', device, '--json']
        status, out, err = self.run(*arguments, *(['--policy', policy] if policy else []))
        if status != 0:
            raise Failed('purlin explain: ' + (err or out).strip())
        answer = json.loads(out)
        answer['settings'] = {setting['name']: setting['value'] for setting in answer['settings']}
        return answer


def today():
    return datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d %H:%M UTC')
