"""As whom, where and with which variables a child process runs: as little of the user's own as the system allows.

A child works in an empty folder that goes away with it. Its home is that folder, and its kubeconfig, if it has one, is
that of its environment: what the user is logged in to is not for an agent. Where this program may change users, a
child runs as one who owns nothing, and so cannot read the run's files either.
"""

import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sirocco.errors import ConfigError

NOBODY = "nobody"
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""What a child gets of the user's variables without being asked for; `--agent-env` names more."""
OWN = ("HOME", "KUBECONFIG", "TMPDIR", "PWD", "USER", "LOGNAME")
"""What a child always has of its own, so that nothing of the user's can be passed in its place."""
_OTHERS = {"read": stat.S_IROTH, "search": stat.S_IXOTH}


@dataclass(frozen=True, slots=True)
class Confinement:
    """What keeps a child apart; `note` says why it is not more, where more was possible."""

    user: int | None = None
    group: int | None = None
    note: str = ""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def isolation(self) -> str:
        """What was achieved, as a report says it."""
        return "process" if self.user is None else "process+uid"

    def options(self) -> dict[str, Any]:
        """For the call that starts the process."""
        if self.user is None:
            return {"start_new_session": True, "umask": 0o077}
        identity = {"user": self.user, "group": self.group, "extra_groups": ()}
        return {"start_new_session": True, "umask": 0o077, **identity}


def confinement(needed: Iterable[Path], passed: Sequence[str] = ()) -> Confinement:
    """The closest one in which a child can still read the files that it needs."""
    variables = _variables(passed)
    if os.name != "posix" or os.geteuid() != 0:
        return Confinement(note="only root can start it under another account", variables=variables)
    try:
        account = pwd.getpwnam(NOBODY)
    except KeyError:
        return Confinement(note=f"there is no account {NOBODY!r}", variables=variables)
    for path in (Path(tempfile.gettempdir()), *needed):
        if closed := _closed_to_others(path):
            note = f"the account {NOBODY!r} cannot read {closed}"
            return Confinement(note=note, variables=variables)
    return Confinement(account.pw_uid, account.pw_gid, "", variables)


def _variables(passed: Sequence[str]) -> dict[str, str]:
    if own := [name for name in passed if name in OWN]:
        problem = f"{own[0]} is the child's own, so that it does not work with what you are logged in to"
        raise ConfigError("--agent-env", problem, "pass what it needs under another name")
    if missing := [name for name in passed if name not in os.environ]:
        raise ConfigError("--agent-env", f"{missing[0]} is not set", f"export {missing[0]}=... before, or drop it")
    return {name: os.environ[name] for name in (*KEPT, *passed) if name in os.environ}


def _closed_to_others(path: Path) -> Path | None:
    """The first part of a path, with links followed, that somebody who owns nothing cannot pass or read."""
    try:
        whole = path.resolve(strict=True)
        for folder in reversed(whole.parents):
            if not folder.stat().st_mode & _OTHERS["search"]:
                return folder
        mode = whole.stat().st_mode
    except OSError:
        return path
    wanted = _OTHERS["read"] | (_OTHERS["search"] if stat.S_ISDIR(mode) else 0)
    return whole if mode & wanted != wanted else None


class Quarters:
    """The folder of one child: an empty one to work in, and beside it, where only we write, its kubeconfig."""

    def __init__(self, confined: Confinement) -> None:
        self._confined = confined
        self._base = Path(tempfile.mkdtemp(prefix="work-"))
        self.home = self._base / "home"
        self.kubeconfig = self._base / "kubeconfig"
        self.home.mkdir(mode=0o700)
        if confined.user is not None:
            self._base.chmod(0o711)
            self._give(self.home)

    def variables(self) -> dict[str, str]:
        """The environment of the process."""
        home = str(self.home)
        name = NOBODY if self._confined.user is not None else "agent"
        own = {"HOME": home, "TMPDIR": home, "PWD": home, "KUBECONFIG": str(self.kubeconfig)}
        return {**self._confined.variables, **own, "USER": name, "LOGNAME": name}

    def hand_over(self, kubeconfig: str) -> None:
        """Put a kubeconfig where the child's variable points.

        The folder is ours, so the child cannot have put a link there that would make us write elsewhere.
        """
        fresh = self._base / "kubeconfig.new"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - it is a descriptor
            file.write(kubeconfig)
        if self._confined.user is not None:
            self._give(fresh)
        fresh.replace(self.kubeconfig)

    def remove(self) -> None:
        """Take everything away that the child left."""
        shutil.rmtree(self._base, ignore_errors=True)

    def _give(self, path: Path) -> None:
        os.chown(path, self._confined.user or 0, self._confined.group or 0)
