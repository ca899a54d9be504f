"""The account, folder and variables of a child process: as little of the user's own as the system allows.

A child works in an empty folder, which is removed with it. That folder is also its home, and the files that lead to its
environment, if it has one, are next to it, because an agent must not use what the user is logged in to. The mechanisms
that `isolation` lists for the system are tried here, the strongest first, and one only counts if a test process started
in the same way cannot read what it should not.
"""

import atexit
import ctypes
import importlib.resources
import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from sirocco.agents.isolation import NOTHING, PROCESS, SHIELDED, Level, Mechanism, Secret, candidates
from sirocco.errors import ConfigError

NOBODY = "nobody"
HOSTS = "/etc/hosts"
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""The user's variables that every child gets; `--agent-env` names more."""
OWN = ("HOME", "TMPDIR", "PWD", "USER", "LOGNAME")
"""Variables that are always the child's own, so that the user's cannot be passed instead; so are those that lead to
its environment."""
_SYSTEM = frozenset(
    {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "opt", "nix", "gnu", "sys", "dev", "proc"}
)
"""Folders in the root directory that belong to the system and are the same for every account."""
_MANY = frozenset({"boot", "home", "media", "mnt", "root", "run", "srv", "tmp", "var"})
"""Folders there that hold the files of several accounts."""
_SCRATCH = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - they are replaced, not used
_PROGRAM_FOLDERS = frozenset({"bin", "sbin", "shims"})
_TRIAL_SECONDS = 60
_DUMPABLE = 4


class _NotHeldError(Exception):
    """Why a mechanism does not keep its promise on this machine; `remedy` is set if the user can change that."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem)
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Confinement:
    """How a child is confined; `note` says what it is not kept from, and why there is no stronger confinement."""

    mechanism: Mechanism = PROCESS
    account: tuple[int, int] | None = None
    note: str = ""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    needed: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = field(default=(), repr=False)
    asked: str = ""
    """The level that is reported because it was requested, even if a stronger one holds."""
    leading: tuple[str, ...] = ()
    """The variables that lead to files of the child's environment."""

    @property
    def isolation(self) -> str:
        """The achieved level, as reports state it."""
        return self.asked or self.mechanism.isolation

    @property
    def mechanism_name(self) -> str:
        """The mechanism that achieves it."""
        return self.mechanism.name

    @property
    def is_started_directly(self) -> bool:
        """Whether the program is started without anything in between."""
        return self.account is None and not self.mechanism.is_enclosed

    @property
    def has_hosts(self) -> bool:
        """Whether a child has its own hosts file."""
        return self.mechanism.is_enclosed and Path(HOSTS).is_file()

    def launch(self, command: Sequence[str], quarters: "Quarters", status: int) -> list[str]:
        """The command line that starts a command in its quarters; an earlier failure is written to a descriptor."""
        return list(command) if self.is_started_directly else _cell(self._plan(command, quarters, status))

    def trial(self, quarters: "Quarters", status: int, questions: Mapping[str, Any]) -> list[str]:
        """The command line that, instead of a program, starts a process answering questions about what it can read."""
        return _cell({**self._plan((), quarters, status), "questions": questions})

    def _plan(self, command: Sequence[str], quarters: "Quarters", status: int) -> dict[str, Any]:
        needed = (*self.needed, *map(Path, command[:1]))
        files = _Files(self, quarters, needed) if self.mechanism.is_enclosed else None
        return {
            "enclosed": self.mechanism.is_enclosed,
            "account": self.account,
            "covered": sorted(map(str, files.covered)) if files else [],
            "opened": sorted(map(str, files.opened)) if files else [],
            "shown": [[str(path), is_writable] for path, is_writable in files.shown.items()] if files else [],
            "scratch": [path for path in _SCRATCH if files and self.account is None],
            "hosts": [str(quarters.hosts), HOSTS] if self.has_hosts else [],
            "folder": str(quarters.home),
            "command": list(command),
            "status": status,
            "questions": None,
        }


class ConfinedAgent:
    """An agent in a separate process: how isolated it is, as reports state it."""

    _confined: Confinement

    @property
    def isolation(self) -> str:
        """The level that was achieved, under another account where that is possible."""
        return self._confined.isolation

    @property
    def isolation_means(self) -> str:
        """The mechanism that achieves it."""
        return self._confined.mechanism_name

    @property
    def isolation_note(self) -> str:
        """Why the level is no higher."""
        return self._confined.note


class _Files:
    """The files that an enclosed child sees: what is covered, and what is shown despite a cover.

    Under a separate account, it sees what that account may read. Under the runner's, it sees the system's folders.
    """

    def __init__(self, confined: Confinement, quarters: "Quarters", needed: Sequence[Path]) -> None:
        self._is_other = confined.account is not None
        self.covered = {path for path in _resolve_paths(confined.hidden) if path.exists()}
        self.covered.add(quarters.parent)
        self.opened: set[Path] = set()
        self.shown: dict[Path, bool] = {quarters.base: self._is_other, quarters.home: True}
        if not self._is_other:
            self.covered |= {path for path in Path("/").iterdir() if _is_foreign(path)}
            self._show(Path("/etc/resolv.conf"), is_writable=False)
            for entry in os.environ.get("PATH", "").split(os.pathsep):
                if entry.startswith("/") and not _is_shared(Path(entry)):
                    self._show(Path(entry), is_writable=False)
        for path in needed:
            for part in _needed_parts(path):
                self._show(part)
        if not self._is_other:
            # A child that could write to the runner's own interpreter or packages would be free in the next run.
            for prefix in _resolve_paths([Path(sys.prefix), Path(sys.base_prefix)]):
                if any(prefix.is_relative_to(place) for place in self.shown):
                    self.shown[prefix] = False
        self._open_way(quarters.base)

    def _show(self, path: Path, *, is_writable: bool = True) -> None:
        for place in {path, *_resolve_paths([path])}:
            self.shown.setdefault(place, is_writable)
            self._open_way(place)

    def _open_way(self, place: Path) -> None:
        """Let the other account reach a place: an open folder replaces each closed one on the way."""
        if not self._is_other or not place.exists():
            return
        whole = place.resolve()
        if (closed := next((folder for folder in reversed(whole.parents) if not _admits(folder)), None)) is not None:
            self.covered.add(closed)
        if whole.is_dir() and not _admits(whole):
            self.opened.add(whole)
            self.shown.pop(place)


def confinement(
    needed: Iterable[Path],
    passed: Sequence[str] = (),
    *,
    leading: tuple[str, ...] = (),
    hidden: Iterable[Path] = (),
    level: Level = Level.AUTO,
    platform: str = sys.platform,
) -> Confinement:
    """The strongest confinement of the level that holds; raise ConfigError if none holds on this machine (CO-10).

    The child can read what it needs, and nothing that is hidden. `leading` are the variables by which it finds the
    files that lead to its environment.
    """
    variables, files = _variables(passed, leading), tuple(needed)
    kept = (*hidden, Path(str(importlib.resources.files("sirocco"))))
    asked = str(level) if level is Level.PROCESS else ""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    problems: list[str] = []
    remedies: list[str] = []
    for mechanism in candidates(level, platform, is_root=is_root):
        try:
            account = _account() if mechanism.has_account else None
            found = Confinement(mechanism, account, "", variables, files, kept, asked, leading)
            _require_held(found)
        except _NotHeldError as error:
            problems.append(f"{mechanism.name}: {error}")
            remedies += [error.remedy] if error.remedy else []
        else:
            return replace(found, note="; ".join([*problems, *_open_ends(mechanism)]))
    told = "; ".join(problems) or "no mechanism of this system provides it"
    last = "run it with the rights of root: --isolation none" if is_root else "run as root, or use --isolation auto"
    raise ConfigError("--isolation", f"{level} does not hold here: {told}", ", or ".join([*remedies[:1], last]))


def _open_ends(mechanism: Mechanism) -> list[str]:
    """What a mechanism does not keep from a child, in words."""
    if mechanism is NOTHING:
        return ["it runs with all rights of this account"]
    left = [str(secret) for secret in Secret if secret not in mechanism.holds]
    return [f"it is not kept from: {', '.join(left)}"] if left else []


def _account() -> tuple[int, int]:
    try:
        found = pwd.getpwnam(NOBODY)
    except KeyError:
        raise _NotHeldError(f"there is no account {NOBODY!r}", f"create the account {NOBODY}") from None
    return found.pw_uid, found.pw_gid


def _require_held(confined: Confinement) -> None:
    """Start a test process in the same way as the program will be, and see what it can read."""
    if not confined.mechanism.holds:
        return
    if confined.mechanism is SHIELDED:
        shield_process()
    with tempfile.TemporaryDirectory(prefix="closed-") as folder:
        canary = Path(folder) / "canary"
        canary.write_text("closed to others")
        canary.chmod(0o600)
        hidden = _promised_hidden(confined, canary)
        quarters = Quarters(confined)
        try:
            found = _trial_findings(confined, quarters, hidden)
        finally:
            quarters.remove()
    if leaks := [leak for leak in found["leaks"] if _is_promised(leak, confined.mechanism)]:
        raise _NotHeldError(f"a probe could read {leaks[0]}")
    if found["missing"]:
        missing = found["missing"][0]
        who = f"the account {NOBODY!r}" if confined.account else "it"
        raise _NotHeldError(f"{who} cannot read {missing}", f"let others read it (chmod -R o+rX {missing})")


def _promised_hidden(confined: Confinement, canary: Path) -> list[Path]:
    holds = confined.mechanism.holds
    return [
        *([canary] if Secret.PRIVATE_FILES in holds else []),
        *(_resolve_paths(confined.hidden) if Secret.CORPUS in holds else []),
    ]


def _is_promised(leak: str, mechanism: Mechanism) -> bool:
    spoken = {"the runner's environment": Secret.ENVIRONMENT, "the runner's command line": Secret.COMMAND_LINE}
    return leak not in spoken or spoken[leak] in mechanism.holds


def _trial_findings(confined: Confinement, quarters: "Quarters", hidden: list[Path]) -> dict[str, list[str]]:
    questions = {
        "hidden": list(map(str, hidden)),
        "needed": list(map(str, confined.needed)) if not confined.is_started_directly else [],
        "runner": [str(os.getpid()), _start_time()],
        "arguments": sys.argv[2:],
    }
    reading, writing = os.pipe()
    try:
        words = confined.trial(quarters, writing, questions)
        with subprocess.Popen(  # noqa: S603 - our own program
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=[writing],
            env=quarters.variables(), start_new_session=True,
        ) as running:  # fmt: skip
            try:
                _, said = running.communicate(timeout=_TRIAL_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, signal.SIGKILL)
                said = b"the probe did not end"
    except OSError as error:
        raise _NotHeldError(str(error)) from error
    finally:
        os.close(writing)
        with open(reading, "rb") as file:  # noqa: PTH123 - it is a descriptor
            answer = file.read()
    document: dict[str, Any] = json.loads(answer) if answer else {"refusal": said.decode(errors="replace").strip()}
    if "leaks" not in document:
        raise _NotHeldError(document.get("refusal") or document.get("failure") or "no answer")
    return document


def _start_time() -> str:
    """The start time of this process, by which others recognize it in /proc; empty if there is no /proc."""
    try:
        return Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        return ""


def shield_process() -> None:
    """Close the variables and the memory of this process to others of the same account; only Linux can."""
    ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)


def _cell(plan: Mapping[str, Any]) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", _cell_program(), json.dumps(plan)]


@cache
def _cell_program() -> str:
    return importlib.resources.files("sirocco.agents").joinpath("cell.py").read_text(encoding="utf-8")


def _variables(passed: Sequence[str], leading: Sequence[str]) -> dict[str, str]:
    if own := [name for name in passed if name in {*OWN, *leading}]:
        problem = f"{own[0]} is always the child's own, so that it cannot use your logins"
        raise ConfigError("--agent-env", problem, "pass what it needs under another name")
    if missing := [name for name in passed if name not in os.environ]:
        raise ConfigError("--agent-env", f"{missing[0]} is not set", f"export {missing[0]}=... before, or drop it")
    return {name: os.environ[name] for name in (*KEPT, *passed) if name in os.environ}


def _resolve_paths(paths: Iterable[Path]) -> list[Path]:
    return [path.resolve() for path in paths]


def _is_foreign(path: Path) -> bool:
    """Whether an entry of the root directory is a folder that does not belong to the system."""
    return path.name not in _SYSTEM and path.is_dir() and not path.is_symlink()


def _is_shared(folder: Path) -> bool:
    """Whether a folder holds more than one agent's files: a home, a shared place, or a parent of these."""
    whole = folder.resolve()
    places = [
        *_homes(),
        Path(tempfile.gettempdir()).resolve(),
        *map(Path, _SCRATCH),
        *(Path("/", name) for name in _MANY),
    ]
    return any(whole == place or whole in place.parents for place in places)


def _homes() -> list[Path]:
    """The home folders of the runner's account, by its variable and by the system's list."""
    try:
        listed = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        listed = "/"
    return _resolve_paths([Path(os.environ.get("HOME") or listed), Path(listed)])


def _needed_parts(path: Path) -> Iterator[Path]:
    """The paths that must be visible for a program, file or folder to be usable, including its surroundings.

    A program in PREFIX/bin needs PREFIX, and so does each link on the way to it. From a shared folder, only the file
    itself is shown.
    """
    for hop in _hops(path):
        if hop.is_dir():
            around = hop
        elif hop.parent.name in _PROGRAM_FOLDERS:
            around = hop.parent.parent if not _is_shared(hop.parent.parent) else hop.parent
        else:
            around = hop.parent
        if not _is_shared(around):
            yield around
        elif not hop.is_dir():
            yield hop


def _hops(path: Path, limit: int = 40) -> Iterator[Path]:
    """A path and the targets of its links, step by step."""
    current = path.absolute()
    for _ in range(limit):
        yield current
        if not current.is_symlink():
            return
        current = Path(os.path.normpath(current.parent / current.readlink()))


def _admits(folder: Path) -> bool:
    """Whether an account that owns nothing can enter a folder."""
    return bool(folder.stat().st_mode & stat.S_IXOTH)


class Quarters:
    """The folder of one child: an empty one to work in, and next to it, writable only by us, its access files."""

    def __init__(self, confined: Confinement) -> None:
        self._confined = confined
        self.parent = _quarters_folder()
        self.base = Path(tempfile.mkdtemp(prefix="work-", dir=self.parent))
        self.home = self.base / "home"
        self.files = {variable: self.base / variable.lower() for variable in confined.leading}
        """The paths to which the variables that lead to its environment point, whether or not the files exist."""
        self.hosts = self.base / "hosts"
        self.home.mkdir(mode=0o700)
        if confined.has_hosts:
            self.hosts.touch(mode=0o644)
            self._write_hosts("")
        if confined.account is not None:
            self.base.chmod(0o711)
            self._give(self.home)

    def variables(self) -> dict[str, str]:
        """The environment of the process."""
        home = str(self.home)
        user = NOBODY if self._confined.account is not None else "agent"
        own = {"HOME": home, "TMPDIR": home, "PWD": home, **{name: str(path) for name, path in self.files.items()}}
        return {**self._confined.variables, **own, "USER": user, "LOGNAME": user}

    def hand_over(self, contents: Mapping[str, str]) -> None:
        """Put files where the child's variables point, by variable.

        The folder is ours, so the child cannot have placed a link there that makes us write elsewhere.
        """
        for variable, path in self.files.items():
            if variable in contents:
                self._write(path, contents[variable])
        if self._confined.has_hosts:
            self._write_hosts(contents.get(HOSTS, ""))

    def _write_hosts(self, added: str) -> None:
        """Write the child's hosts file in place, because it is already mounted elsewhere."""
        self.hosts.chmod(0o644)
        self.hosts.write_text(Path(HOSTS).read_text(encoding="utf-8", errors="replace") + added, encoding="utf-8")

    def _write(self, path: Path, content: str) -> None:
        fresh = path.with_name(f"{path.name}.new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - it is a descriptor
            file.write(content)
        if self._confined.account is not None:
            self._give(fresh)
        fresh.replace(path)

    def remove(self) -> None:
        """Remove everything that the child left."""
        _remove_folder(self.base)

    def _give(self, path: Path) -> None:
        os.chown(path, *(self._confined.account or (0, 0)))


def _remove_folder(folder: Path) -> None:
    """Remove a folder, whatever a child did to it: closed folders, or more levels than fit into a path."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        for words in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            with suppress(OSError):
                subprocess.run([*words, str(folder)], check=False, capture_output=True)  # noqa: S603 - our own folder


@cache
def _quarters_folder() -> Path:
    """The parent of all quarters of this process, so that one step hides other children's quarters from a child."""
    folder = Path(tempfile.mkdtemp(prefix="work-"))
    folder.chmod(0o711)
    atexit.register(_remove_folder, folder)
    return folder.resolve()
