"""The command as a user runs it, and the files that a run leaves."""

import gzip
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

SEED = "20"
LIMIT = 300
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
        return yaml.safe_load((self.path / "verdict.yaml").read_text())["verdict"]

    @property
    def block(self) -> dict[str, Any]:
        return self.verdict["adversarial_verification"]

    @property
    def probe_files(self) -> list[Path]:
        return sorted((self.path / "adversarial").glob("probe-*.yaml"))

    @property
    def units(self) -> list[dict[str, Any]]:
        """Every record, as it lies in the segments."""
        return [
            json.loads(line)
            for segment in sorted((self.path / "evidence").glob("segment-*.jsonl.gz"))
            for line in gzip.decompress(segment.read_bytes()).splitlines()
        ]


def sirocco(*arguments: object, **environment: str) -> Finished:
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
