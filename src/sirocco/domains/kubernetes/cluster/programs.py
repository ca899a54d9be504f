"""The programs of a control plane: where they are found, and how they are kept from outliving their parent."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sirocco.errors import ConfigError

ASSETS = "KUBEBUILDER_ASSETS"
"""The variable by which `setup-envtest` and its users say where the programs are."""
_NAMES = ("etcd", "kube-apiserver", "kube-controller-manager")
_FOLDER_PREFIX = "sirocco-control-plane-"
_OWNER = "owner"
_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made inside
_PARENT_DEATH = 1
_FAREWELL_SECONDS = 5.0
_LOG_TAIL = 2000


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of one release."""

    etcd: Path
    apiserver: Path
    controllers: Path


def find_programs(environment: Mapping[str, str]) -> Programs:
    """The programs that the environment names, or those that `make control-plane` built; ConfigError without them."""
    folder = Path(environment.get(ASSETS) or cache_folder(environment))
    found = [folder / name if (folder / name).exists() else None for name in _NAMES]
    if found[0] is None and (elsewhere := shutil.which("etcd")):
        found[0] = Path(elsewhere)
    missing = [name for name, path in zip(_NAMES, found, strict=True) if path is None]
    if missing:
        problem = f"{folder} has no {', '.join(missing)}"
        raise ConfigError("--provider cluster", problem, f"run `make control-plane`, or set {ASSETS} to their folder")
    etcd, apiserver, controllers = (path for path in found if path is not None)
    return Programs(etcd, apiserver, controllers)


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where `make control-plane` puts what it builds."""
    cache = environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME") or "~").expanduser() / ".cache"
    return Path(cache) / "sirocco" / "control-plane"


def scratch_folder() -> Path:
    """A new folder for a control plane's files, in memory if possible; those of ended processes are removed.

    Only the account that runs this can look into it.
    """
    parent = _MEMORY if os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    _remove_abandoned(parent)
    folder = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX, dir=parent))
    (folder / _OWNER).write_text(str(os.getpid()))
    return folder


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of processes that were killed and so could not remove their own."""
    for folder in parent.glob(f"{_FOLDER_PREFIX}*"):
        with suppress(OSError, ValueError):
            os.kill(int((folder / _OWNER).read_text()), 0)
            continue
        with suppress(OSError):
            if folder.stat().st_uid == os.getuid() and (folder / _OWNER).exists():
                shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """A port of loopback on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Child:
    """A program that ends with this process, however that ends."""

    def __init__(self, program: Path, arguments: Sequence[str], log: Path) -> None:
        self.name = program.name
        self._log = log
        # The signal comes when the thread ends that started it, so children are started from one that stays.
        with log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - a program that the user named or built
                [str(program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={"PATH": os.defpath, "HOME": str(log.parent)},
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - one call into the kernel, which takes no lock
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    @property
    def last_words(self) -> str:
        """The end of its output."""
        with suppress(OSError):
            return self._log.read_text(errors="replace")[-_LOG_TAIL:].strip()
        return ""

    def kill(self) -> None:
        """End it at once."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(_FAREWELL_SECONDS)


_PRCTL = ctypes.CDLL(None).prctl
"""Looked up beforehand: a process that has just been forked must not load anything."""


def _die_with_parent() -> None:
    _PRCTL(_PARENT_DEATH, int(signal.SIGKILL), 0, 0, 0)
