"""Equal work here and in other evaluation tools, in turns, as a table: `make bench-peers`.

Each tool has an environment of its own in .cache/peers. A unit is a world of one object, an agent that writes once,
reads once and answers at once, five checks, and a record on disk. If a tool cannot be installed or run, the table says
why.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "peers"
UNITS = ROOT / "tools" / "peers"
_LONGEST = 1800
"""Seconds that installing or measuring may take."""


class Absent(Exception):  # noqa: N818 - a reason, which the table gives
    """Why a tool cannot be measured here."""


@dataclass(frozen=True)
class Peer:
    """A tool in the version that is compared with, and how it is installed and measured."""

    name: str
    version: str
    install: Callable[[Path, str], None]
    command: Callable[[Path, int], list[str]]

    @property
    def folder(self) -> Path:
        """Its environment."""
        return CACHE / f"{self.name}-{self.version}"

    def ready(self) -> None:
        """Install it unless it is there."""
        mark = self.folder / ".ready"
        if not mark.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            self.install(self.folder, f"{self.name}=={self.version}")
            mark.touch()

    def seconds(self, units: int) -> float:
        """Processor time of a unit, in a process of its own."""
        return float(json.loads(_output(self.command(self.folder, units)).splitlines()[-1])["seconds"])


def _output(command: list[str], **variables: str) -> str:
    if shutil.which(command[0]) is None:
        raise Absent(f"{Path(command[0]).name} is not installed")
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=_LONGEST, check=False, env={**os.environ, **variables}
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise Absent(" ".join(said)[:160] or f"ended with {done.returncode}")
    return done.stdout


def _with_pip(folder: Path, wanted: str) -> None:
    _output([sys.executable, "-m", "venv", str(folder)])
    _output([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted])


def _with_npm(folder: Path, wanted: str) -> None:
    options = ["--no-audit", "--no-fund", "--silent", "--prefix", str(folder)]
    _output(["npm", "install", *options, wanted.replace("==", "@")])


def _python(script: str) -> Callable[[Path, int], list[str]]:
    return lambda folder, units: [str(folder / "bin" / "python"), str(UNITS / script), str(units)]


def _promptfoo(folder: Path, units: int) -> list[str]:
    program = folder / "node_modules" / ".bin" / "promptfoo"
    return [sys.executable, str(UNITS / "promptfoo_units.py"), str(units), str(program)]


PEERS = (
    Peer("inspect-ai", "0.3.285", _with_pip, _python("inspect_units.py")),
    Peer("agentdojo", "0.1.35", _with_pip, _python("agentdojo_units.py")),
    Peer("pyrit", "1.1.0", _with_pip, _python("pyrit_units.py")),
    Peer("promptfoo", "0.123.1", _with_npm, _promptfoo),
)


def _own_seconds(units: int) -> float:
    """Processor time of our unit, in a process of its own as well."""
    command = [sys.executable, "-m", "sirocco", "bench", "run", "--rounds", str(units), "--scenarios", "1"]
    return float(json.loads(_output(command).splitlines()[0])["value"]) / 1000


def main() -> None:
    """Install what is missing, measure in turns, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=200, help="units in each round")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    absent: dict[str, str] = {}
    for peer in PEERS:
        try:
            peer.ready()
        except (Absent, OSError, subprocess.SubprocessError) as reason:
            absent[peer.name] = f"cannot be installed: {reason}"
    own: list[float] = []
    taken: dict[str, list[float]] = {peer.name: [] for peer in PEERS}
    for _ in range(chosen.rounds):
        own.append(_own_seconds(chosen.units))
        for peer in PEERS:
            if peer.name not in absent:
                try:
                    taken[peer.name].append(peer.seconds(chosen.units))
                except (Absent, OSError, ValueError, subprocess.SubprocessError) as reason:
                    absent[peer.name] = f"cannot be measured: {reason}"
    ours = statistics.median(own)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    print(f"equal work, CPU milliseconds per unit, Python {platform.python_version()}, {machine}")
    print(f"{'sirocco':<12}{'':<10}{ours * 1000:>9.2f}")
    for peer in PEERS:
        if peer.name in absent:
            print(f"{peer.name:<12}{peer.version:<10}{'skipped':>9}  {absent[peer.name]}")
        else:
            theirs = statistics.median(taken[peer.name])
            print(f"{peer.name:<12}{peer.version:<10}{theirs * 1000:>9.2f}  ours takes {ours / theirs:.2f} of it")


if __name__ == "__main__":
    main()
