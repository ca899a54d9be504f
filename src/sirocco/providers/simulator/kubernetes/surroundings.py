"""What the API server needs from the world around it: time, what becomes of objects, what runs in containers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sirocco.providers.simulator.kubernetes.status import Json


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line that a container wrote, and when."""

    time: str
    text: str


@dataclass(frozen=True, slots=True)
class Execution:
    """What a command in a container printed, and how it ended."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0


class Surroundings(Protocol):
    """Port: the cluster behind an API server."""

    def tick(self) -> tuple[str, str]:
        """When a request arrives and when it is answered, as audit timestamps with microseconds."""
        ...

    def settle(self) -> None:
        """A request was answered: let the controllers act on what it changed."""
        ...

    def advance(self) -> bool:
        """A watch waits: go on to the next thing that is due; False when nothing is."""
        ...

    def log(self, pod: Json, container: str, *, previous: bool) -> Sequence[LogLine]:
        """What a container, or the run of it before the last restart, wrote."""
        ...

    def execute(self, pod: Json, container: str, command: Sequence[str]) -> Execution:
        """Run a command in a container."""
        ...
