"""Makes the process that handles reserved scenarios leave nothing behind, however it ends (AV-19).

It dies with the process that started it, dumps no core, and has a folder for temporary files that only it and its
children see: memory in a private mount namespace, which the kernel reclaims with the last of these processes.
"""

import os
import resource
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from sirocco.agents.cell import Refusal, call, enter_namespaces, mount

_PARENT_DEATH, _DUMPABLE = 1, 4
_NO_SUID, _NO_DEVICES, _NO_PROGRAMS, _RECURSIVE, _PRIVATE = 2, 4, 8, 16384, 1 << 18
_DETACHED = 2


def seclude_process() -> bool:
    """Give this process a private place for temporary files, and keep its memory off disks; returns whether it has one.

    With namespaces, the caller continues in a child process, which is the `init` of everything it starts: whatever is
    still running when it is killed is killed with it.
    """
    _limit_dumps()
    if sys.platform != "linux":
        return False
    _die_with_parent()
    place = Path(tempfile.mkdtemp(prefix="reserved-"))
    try:
        enter_namespaces(with_users=os.geteuid() != 0)
        _die_with_parent()
        child = os.fork()
        if child:
            _wait_outside(child, place)
        _die_with_parent()
        mount(None, "/", None, _RECURSIVE | _PRIVATE)
        mount("none", str(place), "tmpfs", _NO_SUID | _NO_DEVICES, "mode=0711")
    except (OSError, Refusal):
        with suppress(OSError):
            place.rmdir()
        _forbid_dumps()
        return False
    with suppress(Refusal):
        mount("none", "/proc", "proc", _NO_SUID | _NO_DEVICES | _NO_PROGRAMS)
    os.environ["TMPDIR"] = tempfile.tempdir = str(place)
    _forbid_dumps()
    return True


def _wait_outside(child: int, place: Path) -> NoReturn:
    """Forward signals to the child, end as it ends, and remove the empty folder."""
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    _, status = os.waitpid(child, 0)
    with suppress(OSError, Refusal):
        call("umount2", str(place), _DETACHED)
    with suppress(OSError):
        place.rmdir()
    os._exit(max(os.waitstatus_to_exitcode(status), 0))


def _die_with_parent() -> None:
    call("prctl", _PARENT_DEATH, int(signal.SIGKILL), 0, 0, 0)


def _limit_dumps() -> None:
    """Keep this process and every program that it starts, such as an agent, from leaving a core dump.

    A limit of one byte is less than the smallest dump file; and if dumps are piped to a program, which Linux normally
    starts whatever the limit, a limit of exactly 1 prevents it.
    """
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    least = 1 if most else 0
    resource.setrlimit(resource.RLIMIT_CORE, (least, least))


def _forbid_dumps() -> None:
    """Close the memory of this process to others of the same account, including debuggers and crash reporters."""
    call("prctl", _DUMPABLE, 0, 0, 0, 0)
