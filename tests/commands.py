"""The command as users run it, and the files that a run leaves."""

import gc
import gzip
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml

from remembered import witnesses_remembered
from sirocco.cli.main import main
from sirocco.evidence.recorded import recorded_unit

SEED = "20"
LIMIT = 900
"""How many seconds a command may take before its test fails."""


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class RunFiles:
    """A run directory and how the command that wrote it ended."""

    path: Path
    finished: Finished

    @property
    def verdict(self) -> dict[str, Any]:
        return yaml.load((self.path / "verdict.yaml").read_bytes(), Loader=yaml.CSafeLoader)["verdict"]

    @property
    def block(self) -> dict[str, Any]:
        return self.verdict["adversarial_verification"]

    @property
    def probe_files(self) -> list[Path]:
        """The failed probes as they were executed."""
        found = (self.path / "adversarial").glob("probe-*.yaml")
        return sorted(path for path in found if not path.name.endswith(".min.yaml"))

    @property
    def units(self) -> list[dict[str, Any]]:
        """Every record in the segments, with complete states."""
        return [
            {**json.loads(line), "evidence": recorded_unit(line, segment).evidence}
            for segment in sorted((self.path / "evidence").glob("segment-*.jsonl.gz"))
            for line in gzip.decompress(segment.read_bytes()).splitlines()
        ]


def sirocco(*arguments: object, **environment: str) -> Finished:
    """Run the command, in this process (which is a second faster) unless environment variables are given.

    The output of programs that the command starts is not included, unlike with `sirocco_process`.
    """
    return sirocco_process(*arguments, **environment) if environment else _here(list(map(str, arguments)))


def _here(arguments: list[str]) -> Finished:
    out, err = _Stream(), _Stream()
    with (
        _limited(),
        witnesses_remembered(),
        patch.object(sys, "argv", ["sirocco", *arguments]),
        patch.object(sys, "stdout", out),
        patch.object(sys, "stderr", err),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    return Finished(int(ended.value.code or 0), out.text(), err.text())


class StillRunning(BaseException):
    """A command does not end; not an Exception, so that no command handles it."""


@contextmanager
def _limited() -> Iterator[None]:
    """Limit the time, and restore the process settings that a command changes."""

    def end(*_: object) -> None:
        raise StillRunning

    before, thresholds = signal.signal(signal.SIGALRM, end), gc.get_threshold()
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.set_threshold(*thresholds)


class _Stream(io.TextIOWrapper):
    """The stream that a command writes to, which behaves like a pipe."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")

    def close(self) -> None:
        """Stay open, because the output is read after the command."""
        self.flush()

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()


def sirocco_process(*arguments: object, **environment: str) -> Finished:
    """Run the command as a user would, in a separate process."""
    command = [sys.executable, "-m", "sirocco", *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=_environment(environment), timeout=LIMIT
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def _environment(extra: dict[str, str]) -> dict[str, str] | None:
    return {**os.environ, **extra} if extra else None


def evaluated(folder: Path, agent: str, *arguments: object) -> RunFiles:
    out = folder / "run"
    return RunFiles(out, sirocco("run", "--agent", agent, "--seed", SEED, "--out", out, *arguments))
