"""Files that outlive the process: written whole and synced, locked by one writer, with a clear error when it fails.

A disk that is full or broken ends a run with words about what is recorded, never with half a file in a whole one's
place.
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
"""No document of a run is deeper; a reader that calls itself for every level would bring the process down."""
_GO_ON = "all units recorded before are kept: put it right, then go on with `sirocco run --resume`"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def writing(path: Path, what: str, *, remedy: str = _GO_ON) -> Iterator[None]:
    """Turn a failure to write into an EvidenceError; what was recorded before stays, for a resumed run to build on."""
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
    """What a YAML or JSON file of a run holds; a ValueError or YAMLError when it is no such document."""
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
    """Write to a file without a buffer; a disk that has room for a part of it takes that part without a word."""
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
    """Make names in a folder survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Lock:
    """Keeps a second process from writing to the same run directory; however its holder ends, the system lifts it.

    A lock of the process, not of the open file: a child that outlives us does not hold it.
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
    """Whether the process that locked a run directory last is still there; asks without taking the lock itself."""
    try:
        holder = int((folder / LOCK).read_bytes()[:20])
        os.kill(holder, 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return holder > 0
