"""Durable files: written completely and synced, locked by one writer, with a clear error if that fails.

A full or broken disk ends a run with an error about what is recorded, never with a partial file in place of a whole
one.
"""

import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any

import yaml

from sirocco.errors import ConfigError, EvidenceError

LOCK = "run.lock"
_DEEPEST = 100
"""No run document is nested deeper; recursive readers would crash the process on deeper ones."""
_GO_ON = "all units recorded before are kept: fix it, then continue with `sirocco run --resume`"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def writing(path: Path, what: str, *, remedy: str = _GO_ON) -> Iterator[None]:
    """Turn a write failure into an EvidenceError; what was recorded before is kept for a resumed run."""
    try:
        yield
    except OSError as error:
        raise _write_error(path, what, remedy, full=error.errno in _FULL, cause=error.strerror or str(error)) from error
    except sqlite3.Error as error:
        full = error.sqlite_errorcode == sqlite3.SQLITE_FULL if hasattr(error, "sqlite_errorcode") else False
        raise _write_error(path, what, remedy, full=full, cause=str(error)) from error


def _write_error(path: Path, what: str, remedy: str, *, full: bool, cause: str) -> EvidenceError:
    problem = "there is no room left on the disk" if full else "it cannot be written"
    return EvidenceError(path, f"{problem}: {what} is not recorded ({cause})", remedy)


def stored_document(file: Path) -> Any:
    """The contents of a run's YAML or JSON file; ValueError or YAMLError if it is not a valid document."""
    if file.exists() and not file.is_file():
        raise ValueError("not a file")
    content = file.read_bytes()
    depth = 0
    for event in yaml.parse(content, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("run documents contain no aliases, which can expand without limit")  # noqa: TRY004
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ValueError(f"nested deeper than {_DEEPEST} levels")
    return yaml.load(content, Loader=yaml.CSafeLoader)


def write_all(file: FileIO, content: bytes) -> None:
    """Write to an unbuffered file; a nearly full disk may silently accept only a part."""
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]


def write_whole(target: Path, content: bytes) -> None:
    """Write a file durably: a reader sees the old content or the new, never a part."""
    temporary = target.with_name(target.name + ".part")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make names in a folder survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Lock:
    """Keeps a second process from writing to the same run directory; the system releases it however its holder ends.

    The lock belongs to the process, not the open file: a child that outlives us does not hold it.
    """

    def __init__(self, folder: Path) -> None:
        self._descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._descriptor, 20).decode(errors="replace").strip()
            os.close(self._descriptor)
            if error.errno not in {errno.EACCES, errno.EAGAIN}:
                raise
            problem = f"process {holder or 'unknown'} is writing to this run directory"
            raise ConfigError(folder, problem, "wait until it has ended, or choose another --out") from error
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let others write."""
        os.close(self._descriptor)


def is_being_written(folder: Path) -> bool:
    """Whether the process that last locked a run directory still exists; does not take the lock."""
    try:
        holder = int((folder / LOCK).read_bytes()[:20])
        os.kill(holder, 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return holder > 0
