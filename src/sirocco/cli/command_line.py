"""The command line as other processes see it, hidden because it contains what a user passed to the command."""

import ctypes
import os
import sys
from pathlib import Path

_PROCESS = Path("/proc/self")


def hide_command_line() -> None:
    """Remove the arguments from this process's command line, which every account on the machine can read.

    A seed reveals what will be asked, and a header may be a credential for the agent. Only Linux has an interface for
    this.
    """
    given = sys.argv[1:]
    if sys.platform != "linux" or len(given) < 2 or sys.orig_argv[-len(given) :] != given:
        return
    kept = _area(sys.orig_argv[: 1 - len(given)])
    try:
        shown = (_PROCESS / "cmdline").read_bytes()
        fields = (_PROCESS / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return
    start, end = int(fields[45]), int(fields[46])
    if shown == _area(sys.orig_argv) and end - start == len(shown):
        ctypes.memmove(start, kept.ljust(len(shown), b"\0"), len(shown))


def _area(words: list[str]) -> bytes:
    """Words as they are stored in the memory of a process."""
    return b"".join(os.fsencode(word) + b"\0" for word in words)
