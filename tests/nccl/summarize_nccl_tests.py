"""summary.json and summary.md from the logs of run_nccl_tests.sh. Ends with 1 unless all is right."""
import json
import os
import re
import sys

# A line of results: size, count, type, operation (blank for some programs), root, then time, two
# bandwidths and #wrong, twice.
_ROW = re.compile(r'^\s+\d+\s+\d+\s+\S+(?:\s+[a-z]\S*)?\s+-?\d+((?:\s+\S+){8})\s*$')
_OURS = 'purlin (libnccl.so.2)'


def wrong_count(line):
    """Wrong elements out of and in place, None where unchecked; nothing if the line is none of results."""
    match = _ROW.match(line)
    if not match:
        return []
    fields = match.group(1).split()
    return [None if fields[i] == 'N/A' else int(float(fields[i])) for i in (3, 7)]


def verdict(program, shape, status, seconds, log):
    with open(log, encoding='utf-8', errors='replace') as file:
        lines = file.read().splitlines()
    counts = [found for line in lines if (found := wrong_count(line))]
    errors = [line for line in lines if 'error' in line.lower() or 'failure' in line.lower()]
    wrong = sum(count or 0 for pair in counts for count in pair)
    checked = bool(counts) and all(out_of_place is not None for out_of_place, _ in counts)
    over_purlin = any(line.startswith(_OURS) for line in lines)
    good = status == 0 and checked and wrong == 0 and over_purlin
    return {'program': program, 'arguments': shape, 'status': status, 'seconds': seconds,
            'rows': len(counts), 'wrong': wrong, 'over_purlin': over_purlin, 'good': good,
            'first_error': '' if good else (errors or lines[-1:] or ['no output'])[0][:300]}


def markdown(results):
    yield '| program | arguments | rows | wrong | seconds | verdict |'
    yield '|---|---|---|---|---|---|'
    for r in results:
        said = 'right' if r['good'] else 'status %d: %s' % (r['status'], r['first_error'].replace('|', '/'))
        yield '| %s | `%s` | %d | %d | %.1f | %s |' % (
            r['program'], r['arguments'], r['rows'], r['wrong'], r['seconds'], said)
    good = sum(r['good'] for r in results)
    yield '\n%d of %d runs right, %d rows, %d wrong elements.' % (
        good, len(results), sum(r['rows'] for r in results), sum(r['wrong'] for r in results))


def main(folder):
    results = []
    with open(os.path.join(folder, 'rows'), encoding='utf-8') as rows:
        for row in rows:
            program, shape, status, seconds, log = row.rstrip('\n').split('\t')
            results.append(verdict(program, shape, int(status), float(seconds), log))
    with open(os.path.join(folder, 'summary.json'), 'w', encoding='utf-8') as file:
        json.dump(results, file, indent=1)
    text = '\n'.join(markdown(results))
    with open(os.path.join(folder, 'summary.md'), 'w', encoding='utf-8') as file:
        file.write(text + '\n')
    print(text)
    return 0 if results and all(r['good'] for r in results) else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
