"""The command as a user runs it, and the files that a run leaves."""

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
"""Seconds after which a command is taken to hang, so that its test fails."""


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
        """Every record, as it lies in the segments, with whole states."""
        return [
            {**json.loads(line), "evidence": recorded_unit(line, segment).evidence}
            for segment in sorted((self.path / "evidence").glob("segment-*.jsonl.gz"))
            for line in gzip.decompress(segment.read_bytes()).splitlines()
        ]


def sirocco(*arguments: object, **environment: str) -> Finished:
    """Run the command: in this process, which is a second faster, unless variables of the environment are given.

    What programs write that the command starts is not in it; `sirocco_process` has that too.
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
    """A command does not end; not an Exception, so that no command takes it for one of its own troubles."""


@contextmanager
def _limited() -> Iterator[None]:
    """For so long, and without a trace of what a command sets for its process."""

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
    """What a command writes to, as it would to a pipe."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")

    def close(self) -> None:
        """Stay open: what was written is read after the command."""
        self.flush()

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()


def sirocco_process(*arguments: object, **environment: str) -> Finished:
    """Run the command as a user would, in a process of its own."""
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
