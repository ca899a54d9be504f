"""Commands that stay up until somebody ends them, as a user or a supervisor starts them."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

SIROCCO = [sys.executable, "-m", "sirocco"]


@contextmanager
def started(*arguments, **options):
    """A command with pipes for its output, ended at the latest with the block."""
    process = subprocess.Popen([*SIROCCO, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "PYTHONUNBUFFERED": "1"}, **options)  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(process, number=signal.SIGINT):
    """How the command ended on a signal: its exit code, and what else it wrote."""
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert "Traceback" not in err
    return process.returncode, out, err
