"""The task of the process for reserved scenarios, and the requests to it, from the run that it belongs to."""

import pickle
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sirocco.errors import ConfigError
from sirocco.oasis.report import CoreResult, RunIdentity
from sirocco.reserved.worker import Message, ReservedPlan, answer, broken_off_error, worker_program
from sirocco.wiring.agents import CHILDREN, kind_of
from sirocco.wiring.config import RunConfig, Seed

PROGRAM = "sirocco.wiring.reserved_worker"


@dataclass(frozen=True, slots=True)
class Task:
    """One task; it is sent through a pipe, and neither bundle nor key is opened before it arrives."""

    config: RunConfig
    seed: Seed
    directory: Path | None = None
    """Where sealed evidence goes."""
    identity: RunIdentity | None = None
    """What to run with; without it the bundles are only checked."""
    files: Mapping[str, str] | None = field(default=None, repr=False)
    """Public files in which to search for words of reserved scenarios."""
    modules: tuple[str, ...] = field(default_factory=lambda: tuple(sys.path))

    def pickle_bytes(self) -> bytes:
        """The task in the form that the worker reads."""
        return pickle.dumps(self)

    def for_run(self, core: CoreResult) -> bytes:
        """The task of running the scenarios with the agent that was evaluated in the core."""
        return replace(self, identity=core.identity).pickle_bytes()

    def plan(self) -> ReservedPlan:
        """What the bundles contain, if everything about them is in order; ReservedError otherwise."""
        found = self._answer().plan
        if found is None:
            raise broken_off_error()
        if not found.is_private and kind_of(self.config.agent) in CHILDREN:
            problem = "there is no private location here for the files that the agent needs"
            remedy = "run as root, or where users may create namespaces; agents behind HTTP need no such files"
            raise ConfigError("--reserved", problem, remedy)
        return found

    def leaking_files(self, files: Mapping[str, str]) -> tuple[str, ...]:
        """Which of some public files contain words of a reserved scenario."""
        found = replace(self, files=files)._answer()
        if found.searched != len(files):
            raise broken_off_error()
        return found.leaking

    def _answer(self) -> Message:
        return answer(worker_program(PROGRAM), self.pickle_bytes())


def received_task() -> Task:
    """The task that the run sent to this process."""
    task = pickle.load(sys.stdin.buffer)  # noqa: S301 - the run that started this process wrote it
    if not isinstance(task, Task):
        raise TypeError("not a task")
    sys.path[:] = list(dict.fromkeys((*task.modules, *sys.path)))
    return task
