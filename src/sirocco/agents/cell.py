"""Starts a program where it cannot see its runner: in separate namespaces and under a separate account.

The text of this module runs as a program in an interpreter without the other modules, so it imports only the standard
library. Its argument is a plan as JSON, which `confinement` writes. With namespaces there are three processes: this one
waits outside, the first one inside is the `init` of all others, and the last one becomes the program. A step that
cannot be carried out is reported on the plan's descriptor `status`, to which nothing is written if the program runs.
"""

import ctypes
import json
import os
import signal
import stat
import sys
from typing import Any, NoReturn

_NEW_MOUNTS, _NEW_IPC, _NEW_USERS, _NEW_PROCESSES = 0x20000, 0x8000000, 0x10000000, 0x20000000
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_PROGRAMS, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = (
    1, 2, 4, 8, 32, 4096, 16384, 1 << 18,
)  # fmt: skip
_RELATIVE_TIME = {4096: 1 << 21}
"""The one flag with different numbers in statvfs and mount."""
_KEPT_FLAGS = 2 | 4 | 8 | 1024 | 2048
_DUMPABLE, _PARENT_DEATH, _NO_NEW_PRIVILEGES = 4, 1, 38
_CAPABILITIES_VERSION = 0x20080522


class Refusal(Exception):  # noqa: N818 - what the system said to a step of the plan
    """A step of the plan that the system does not permit."""


def call(name: str, *arguments: Any) -> None:
    """Call a function of the C library; raise Refusal unless it returns 0."""
    encoded = [os.fsencode(one) if isinstance(one, str) else one for one in arguments]
    if getattr(_LIBRARY, name)(*encoded) != 0:
        raise Refusal(f"{name}: {os.strerror(ctypes.get_errno())}")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Mount something, or raise Refusal with the place."""
    try:
        call("mount", source, target, kind, ctypes.c_ulong(flags), data)
    except Refusal as refusal:
        raise Refusal(f"{refusal} ({target})") from None


def enter_namespaces(*, with_users: bool) -> None:
    """Leave the machine's mounts and processes behind, and without root its users, too."""
    user, group = os.geteuid(), os.getegid()
    call("unshare", _NEW_MOUNTS | _NEW_IPC | _NEW_PROCESSES | (_NEW_USERS if with_users else 0))
    if with_users:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)


def arrange_files(covered: list[str], shown: list[tuple[str, bool]], opened: list[str], scratch: list[str]) -> None:
    """Cover what the program must not see, and show inside the covers what it may see.

    Deeper paths are handled later, so a cover inside a shown folder takes effect, and so does a shown path inside a
    cover. All entries of `opened` folders are shown, because a folder that only its owner may enter would stay closed.
    """
    mount(None, "/", None, _RECURSIVE | _PRIVATE)
    sources = {path: (os.open(path, os.O_PATH), writable) for path, writable in shown if os.path.exists(path)}
    for folder in opened:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                sources.setdefault(path, (os.open(path, os.O_PATH), True))
    covers = {path for path in (*covered, *opened, *scratch) if os.path.exists(path)}
    before = os.umask(0)
    folders: list[str] = []
    for path in sorted({*covers, *sources}, key=lambda one: (one.count("/"), one)):
        is_covered = any(is_inside(path, folder) for folder in folders)
        if path not in covers:
            if is_covered:
                source, is_writable = sources[path]
                put_back(path, source, is_writable=is_writable)
        elif path in opened and is_covered and not os.path.exists(path):
            os.makedirs(path, mode=0o755)
        elif os.path.isdir(path):
            mode = "1777" if path in scratch else "0755" if path in opened else "0711"
            mount("none", path, "tmpfs", _NO_SUID | _NO_DEVICES, f"mode={mode}")
            folders.append(path)
        elif os.path.exists(path):
            mount("/dev/null", path, None, _BIND)
    for path in folders:
        if path not in scratch:
            if not os.listdir(path):
                os.chmod(path, 0)
            mount(None, path, None, _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_DEVICES)
    mount("none", "/proc", "proc", _NO_SUID | _NO_DEVICES | _NO_PROGRAMS)
    os.umask(before)


def is_inside(path: str, folder: str) -> bool:
    """Whether a path lies below a folder."""
    return path.startswith(folder.rstrip("/") + "/")


def put_back(path: str, source: int, *, is_writable: bool) -> None:
    """Show at a path what was there before the cover."""
    held = f"/proc/self/fd/{source}"
    if stat.S_ISDIR(os.stat(held).st_mode):
        os.makedirs(path, mode=0o711, exist_ok=True)
    elif not os.path.exists(path):
        os.makedirs(os.path.dirname(path), mode=0o711, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o444))
    mount(held, path, None, _BIND | _RECURSIVE)
    if not is_writable:
        # Existing flags of the mount must be repeated, because only its owner can remove them.
        flags = os.statvfs(path).f_flag
        kept = (flags & _KEPT_FLAGS) | (_RELATIVE_TIME[4096] if flags & 4096 else 0)
        mount(None, path, None, _REMOUNT | _BIND | _READ_ONLY | kept)


def drop_rights(account: list[int] | None) -> None:
    """Switch irrevocably to the account, if there is one."""
    if account:
        user, group = account
        os.setgroups([])
        if sys.platform == "linux":
            os.setresgid(group, group, group)
            os.setresuid(user, user, user)
        else:
            os.setgid(group)
            os.setuid(user)
    if sys.platform == "linux":
        call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
        if os.geteuid() != 0:
            call("capset", header, (ctypes.c_uint32 * 6)())


def findings(questions: dict[str, Any]) -> dict[str, list[str]]:
    """What this process can read but should not, and what it needs but cannot read."""
    leaks = [path for path in questions["hidden"] if is_readable(path)]
    numbers = [name for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc/self") else []
    runner, started = questions["runner"]
    # In a separate process namespace, another process may have the runner's number.
    for number in (one for one in numbers if one == runner):
        if contents(f"/proc/{number}/stat").rpartition(b")")[2].split()[19:20] != [started.encode()]:
            continue
        if contents(f"/proc/{number}/environ").strip(b"\0"):
            leaks.append("the runner's environment")
        words = os.fsencode("\0".join(questions["arguments"]))
        if words and words in contents(f"/proc/{number}/cmdline"):
            leaks.append("the runner's command line")
    return {"leaks": leaks, "missing": [path for path in questions["needed"] if not is_usable(path)]}


def contents(path: str) -> bytes:
    """The beginning of a file; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""


def is_readable(path: str) -> bool:
    """Whether anything can be read from a file or a folder."""
    try:
        return bool(os.listdir(path)) if os.path.isdir(path) else bool(contents(path))
    except OSError:
        return False


def is_usable(path: str) -> bool:
    """Whether a file can be read, or a folder entered and listed."""
    return os.access(path, os.R_OK | (os.X_OK if os.path.isdir(path) else 0))


def hide_arguments() -> None:
    """Remove the plan from the command line of this process, which the program can read."""
    fields = contents("/proc/self/stat").rpartition(b")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    if end > start > 0:
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, b"init"[: end - start - 1], min(4, end - start - 1))


def become_program(plan: dict[str, Any]) -> NoReturn:
    """Drop all rights and run the program, or answer the questions instead."""
    try:
        drop_rights(plan["account"])
        os.chdir(plan["folder"])
        if plan["questions"]:
            report(plan, findings(plan["questions"]))
            os._exit(0)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execv(plan["command"][0], plan["command"])  # noqa: S606 - no shell reads it
    except OSError as error:
        report(plan, {"failure": error.strerror or str(error)})
    except Refusal as refusal:
        report(plan, {"refusal": str(refusal)})
    os._exit(127)


def report(plan: dict[str, Any], document: dict[str, Any]) -> None:
    """Report to the runner."""
    os.write(plan["status"], json.dumps(document).encode())


def let_go(*descriptors: int) -> None:
    """Close what only the program uses, so that the ends of its pipes are noticed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    for number in (nothing, *descriptors):
        os.close(number)


def run_inside(plan: dict[str, Any], outcome: int) -> NoReturn:
    """Be the first process inside: arrange the files, start the program, reap orphans, and pass on its exit status."""
    try:
        call("prctl", _PARENT_DEATH, int(signal.SIGKILL), 0, 0, 0)
        arrange_files(
            plan["covered"],
            [(path, bool(writable)) for path, writable in plan["shown"]],
            plan["opened"],
            plan["scratch"],
        )
        if plan["hosts"]:
            own, everybodys = plan["hosts"]
            put_back(everybodys, os.open(own, os.O_PATH), is_writable=False)
        # The program may run as the same user as this process, and must not gain its rights.
        call("prctl", _DUMPABLE, 0, 0, 0, 0)
        child = os.fork()
    except (OSError, Refusal) as error:
        report(plan, {"refusal": str(error)})
        os._exit(127)
    if child == 0:
        become_program(plan)
    let_go(plan["status"])
    while True:
        ended, status = os.wait()
        if ended == child:
            os.write(outcome, str(os.waitstatus_to_exitcode(status)).encode())
            os._exit(0)


def run_enclosed(plan: dict[str, Any]) -> NoReturn:
    """Wait outside, and end with the program's exit status."""
    try:
        enter_namespaces(with_users=plan["account"] is None)
    except (OSError, Refusal) as error:
        report(plan, {"refusal": str(error)})
        os._exit(127)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        run_inside(plan, writing)
    let_go(plan["status"], writing)
    said = os.read(reading, 32)
    os.waitpid(child, 0)
    code = int(said or b"-9")
    if code >= 0:
        os._exit(code)
    if -code not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    os._exit(128 - code)


def main(text: str) -> None:
    """Carry out a plan."""
    plan = json.loads(text)
    os.set_inheritable(plan["status"], False)  # noqa: FBT003 - the library's signature
    if sys.platform == "linux":
        hide_arguments()
    if plan["enclosed"]:
        run_enclosed(plan)
    become_program(plan)


_LIBRARY = ctypes.CDLL(None, use_errno=True)

if __name__ == "__main__":
    main(sys.argv[1])
