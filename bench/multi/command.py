"""Commands under a wall limit; nothing that they started outlives them."""
import collections
import os
import signal
import subprocess
import time

Ended = collections.namedtuple('Ended', 'status seconds text')  # status: None when it was over its limit

_GRACE = 3  # seconds between asking a command to end and killing it


def run(arguments, log, limit, environment):
    """Runs it with its output appended to the file `log`; `text` is what it said."""
    begun = time.monotonic()
    with open(log, 'ab') as out:
        out.write(('$ %s\n' % ' '.join(arguments)).encode())
        out.flush()
        start = out.tell()
        try:
            process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                       env=environment, start_new_session=True)
        except OSError as error:
            return Ended(127, 0.0, str(error))
        try:
            status = process.wait(timeout=max(limit, 0.1))
        except subprocess.TimeoutExpired:
            status = None
        finally:
            _end(process)
    with open(log, 'rb') as written:
        written.seek(start)
        text = written.read().decode(errors='replace')
    return Ended(status, time.monotonic() - begun, text)


def _end(process):
    """Ends the process and all that it started, which share its session."""
    for signal_number, wait in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, signal_number)
        except ProcessLookupError:
            return
        try:
            process.wait(timeout=wait)
        except subprocess.TimeoutExpired:
            continue
        if not _group_lives(process.pid):
            return


def _group_lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
