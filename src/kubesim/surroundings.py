"""What the API server needs from the world around it: time, what becomes of objects, what runs in containers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kubesim.status import Json


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


@dataclass(frozen=True, slots=True)
class Approach:
    """What a request that may be answered is about; without a name it is about all of the type in its namespace."""

    verb: str
    noun: str
    namespace: str
    name: str
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """What admission policies say about a write: warnings that go with the answer, or why it is refused."""

    warnings: tuple[str, ...] = ()
    refusal: str | None = None


NOTHING_TO_SAY = Review()


class Surroundings(Protocol):
    """Port: the cluster behind an API server."""

    def tick(self) -> tuple[str, str]:
        """When a request arrives and when it is answered, as audit timestamps with microseconds."""
        ...

    def settle(self) -> None:
        """A request was answered: let the controllers act on what it changed."""
        ...

    def arriving(self, approach: Approach) -> str | None:
        """An authorized request is about to be answered; the message of a failure when it cannot be."""
        ...

    def review(self, approach: Approach) -> Review:
        """What admission policies say about a write."""
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
