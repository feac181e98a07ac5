"""The project's source files, by folder and by what they include."""
import os
import re

SOURCE = ('.h', '.hpp', '.cc', '.c', '.cuh', '.cu')
SCRIPT = ('.py', '.sh', '.cmake', '.txt')
_OUTSIDE = {'.git', 'build', '.cache', '__pycache__'}
_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def files(root, suffixes):
    """Paths relative to root, with forward slashes, sorted; build folders left out."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _OUTSIDE]
        for name in names:
            if not suffixes or name.endswith(suffixes):
                found.append(os.path.relpath(os.path.join(folder, name), root))
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as file:
        return file.read()


def includes(root, path):
    """(name as written, project path or None if it lies outside the project)."""
    for name in _INCLUDE.findall(read(root, path)):
        yield name, resolve(root, path, name)


def resolve(root, path, name):
    for base in (os.path.dirname(path), '', 'runtime/include', 'runtime/src', 'tests'):
        candidate = os.path.normpath(os.path.join(base, name))
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None
