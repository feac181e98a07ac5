"""One run: what was asked, the time that is left, what was measured, what each stage came to."""
import json
import os
import shlex
import shutil
import sys
import tarfile
import tempfile
import time

import command
import machine

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAUNCHERS = ('OMPI_', 'PMI_', 'SLURM_', 'RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'MASTER_', 'PURLIN_RANK',
             'PURLIN_NRANKS', 'PURLIN_UNIQUE_ID')


class Skip(Exception):
    """A stage cannot run on this machine; the text says why."""


class Session:
    def __init__(self, options):
        self.options, self.ranks, self.host = options, options.ranks, options.host
        self.begun = time.monotonic()
        self.deadline = self.begun + options.minutes * 60
        self.stage_end = self.deadline
        self.gpus = 0 if self.host else machine.gpu_count()
        self.rehearsal = self.gpus < self.ranks  # ranks share a GPU, or there is none
        self.machine = machine.describe()
        self.out = os.path.abspath(options.out)
        os.makedirs(self.out, exist_ok=True)
        self.scratch = tempfile.mkdtemp(prefix='purlin-multi-')
        self.logs = os.path.join(self.scratch, 'logs')
        os.makedirs(self.logs)
        self.purlin = os.path.join(os.path.abspath(options.build), 'bin', 'purlin')
        self.drop_in = os.path.join(os.path.abspath(options.build), 'lib', 'libnccl.so.2')
        self.nccl = options.nccl or (self.drop_in if self.host else machine.nccl_of_python()) or 'libnccl.so.2'
        self.nccl_version, self.nccl_refusal = None, 'it was not tried'
        self.environment = self._environment()
        self.version = command.run([self.purlin, '--version'], self.log('version'), 30, self.environment).text.strip()
        self.records, self.facts, self.stages = [], {}, []
        self.failures, self.log_name = [], 'start'

    def _environment(self):
        made = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}
        if self.host:
            made['PURLIN_NCCL_DEVICE'] = 'host'
        elif self.rehearsal:
            # What NCCL needs to have several ranks on one GPU; loading a kernel when it is first launched
            # would wait for kernels of other ranks.
            for name, value in (('NCCL_MULTI_RANK_GPU_ENABLE', '1'), ('NCCL_MAX_CTAS', '16'),
                                ('CUDA_MODULE_LOADING', 'EAGER'), ('CUDA_DEVICE_MAX_CONNECTIONS', '32'),
                                ('PURLIN_ALLOW_TURNS', '1')):
                made.setdefault(name, value)
        return made

    # Time.

    def left(self):
        """Seconds that the running stage has."""
        return self.stage_end - time.monotonic()

    def left_in_all(self):
        return self.deadline - time.monotonic()

    # What a stage says.

    def fail(self, text):
        self.failures.append(text)
        print('  FAILED %s' % text, flush=True)

    def say(self, text):
        print('  ' + text, flush=True)

    def need_gpus(self):
        if self.rehearsal:
            raise Skip('needs %d GPUs; there %s' % (self.ranks, 'is 1' if self.gpus == 1 else 'are %d' % self.gpus))

    # What a stage does.

    def log(self, name):
        return os.path.join(self.logs, name + '.log')

    def run(self, arguments, limit, **more):
        """A command within the stage's time. Returns what command.run does; failures are the caller's to tell."""
        environment = {**self.environment, **more}
        return command.run(arguments, self.log(self.log_name), min(limit, self.left()), environment)

    def perf(self, label, collective, *arguments, versus=None, atom=None, processes=False, limit=60, host=False,
             optional=False, **more):
        """`purlin perf` of all ranks; the document is kept under `label` and returned, None after a failure.
        `optional`: a failure is told but does not count."""
        file = os.path.join(self.scratch, 'perf.json')
        if os.path.exists(file):
            os.remove(file)
        asked = [self.purlin, 'perf', collective, '--json', file, '--device',
                 'host' if host or self.host else 'cuda']
        asked += [str(argument) for argument in arguments]
        if processes:
            asked = [self.purlin, 'run', '--no-label', '-n', str(self.ranks), '--'] + asked
        else:
            asked += ['-n', str(self.ranks)]
        if versus:
            asked += ['--vs', versus, '--nccl', self.nccl]
        if '--policy' not in arguments and self.options.policy:
            asked += ['--policy', self.options.policy]
        if atom:
            more['PURLIN_DATAPATH'] = atom
        if self.left() < 1:
            self.fail('%s: no time left in this stage' % ' '.join(asked[1:]))
            return None
        ended = self.run(asked, limit, **more)
        if ended.status != 0 or not os.path.exists(file):
            said = 'over its limit of %d s' % min(limit, ended.seconds + 1) if ended.status is None else (
                'status %d: %s' % (ended.status, last_line(ended.text)))
            (self.say if optional else self.fail)('%s: %s' % (shlex.join(asked[1:]), said))
            return None
        with open(file, encoding='utf-8') as written:
            document = json.load(written)
        self.keep(label, collective, document, atom=atom, seconds=round(ended.seconds, 1))
        return document

    def keep(self, label, collective, document, **more):
        self.records.append({'label': label, 'collective': collective, **more, 'document': document})

    def documents(self, label, collective=None):
        return [record['document'] for record in self.records
                if record['label'] == label and collective in (None, record['collective'])]

    # Files.

    def save(self):
        """The figures and logs so far: a run that is cut off leaves what it had."""
        with open(os.path.join(self.out, 'rows.jsonl'), 'w', encoding='utf-8') as file:
            for record in self.records:
                file.write(json.dumps(record) + '\n')
        with tarfile.open(os.path.join(self.out, 'logs.tar.gz'), 'w:gz') as packed:
            packed.add(self.logs, 'logs')

    def close(self):
        shutil.rmtree(self.scratch)

    def command_line(self):
        return shlex.join(['bench/multi.sh'] + sys.argv[1:])


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:300] if lines else 'it said nothing'
