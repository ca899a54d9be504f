"""Runs that were started from a page: each is a `sirocco run` of its own, which goes on when the console ends."""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

_SAID = 8_000


@dataclass(frozen=True, slots=True)
class Job:
    """One started run: where it writes, and its process."""

    out: Path
    process: "subprocess.Popen[bytes]"
    output: Path

    @property
    def code(self) -> int | None:
        """How it ended; None while it runs."""
        return self.process.poll()

    @property
    def printed_text(self) -> str:
        """The end of what it said."""
        try:
            return self.output.read_bytes()[-_SAID:].decode(errors="replace")
        except OSError:
            return ""


class Jobs:
    """What was started since the console began."""

    def __init__(self) -> None:
        self._jobs: dict[Path, Job] = {}
        self._lock = RLock()
        self._held = tempfile.TemporaryDirectory(prefix="sirocco-console-", ignore_cleanup_errors=True)
        self.folder = Path(self._held.name)
        """For what the console itself writes; it goes when the console ends."""

    def start(self, out: Path, options: Sequence[str]) -> Job:
        """Start a run that writes to a directory; no shell is between."""
        with self._lock:
            output = self.folder / f"{len(self._jobs)}.txt"
            with output.open("wb") as file:
                process = subprocess.Popen(  # noqa: S603 - our own program; every value is an argument of its own
                    [sys.executable, "-m", "sirocco", "run", *options, f"--out={out}"],
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            job = self._jobs[out.resolve()] = Job(out, process, output)
            return job

    def close(self) -> None:
        """Let go of what the console itself wrote; runs go on."""
        self._held.cleanup()

    def of_run(self, path: Path) -> Job | None:
        """The job that writes to a directory, if this console started it."""
        return self._jobs.get(path.resolve())

    @property
    def latest(self) -> list[Job]:
        """Every job, the one that was started last first."""
        return list(reversed(self._jobs.values()))
