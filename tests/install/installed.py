"""An installed copy of the build under test, and commands run with it alone."""
import os
import shutil
import subprocess

import level

BUILD = os.environ['PURLIN_BINARY_DIR']


def missing():
    """Why this build cannot be installed and used by plain programs; empty if it can."""
    if os.environ.get('PURLIN_SANITIZE'):
        return 'a plain program cannot load a sanitized library'
    if not os.path.exists(os.path.join(BUILD, 'bin', 'purlin')):
        return '%s/bin/purlin is not built' % BUILD
    return ''


def run(*command, folder=None, prefix=None, expect=0, **environment):
    """stdout and stderr of a command; fails unless it ends with `expect`. No variable of Purlin's is inherited."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith('PURLIN_')}
    if prefix:
        clean['PATH'] = os.path.join(prefix, 'bin') + ':' + clean['PATH']
        clean['CMAKE_PREFIX_PATH'] = prefix
    clean.update(environment)
    done = subprocess.run(command, cwd=folder, env=clean, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=280, check=False)
    level.count_cases(1)
    if done.returncode != expect:
        raise AssertionError('%s ended with %d:\n%s' % (' '.join(command), done.returncode, done.stdout))
    return done.stdout


def install(prefix, *components):
    """Installs all, or these components, below `prefix`."""
    if not components:
        run('cmake', '--install', BUILD, '--prefix', prefix)
    for component in components:
        run('cmake', '--install', BUILD, '--prefix', prefix, '--component', component)


def clang():
    """Environment that makes clang the compiler, or none where there is no clang."""
    if not shutil.which('clang') or not shutil.which('clang++'):
        return {}
    return {'CC': 'clang', 'CXX': 'clang++'}
