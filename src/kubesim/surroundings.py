"""What the API server needs from the world around it: time, what becomes of objects, what runs in containers."""

from collections.abc import Callable, Sequence
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
    complains_first: bool = False
    """Whether errors were written before anything else."""

    def texts(self) -> dict[str, str]:
        """The text of each stream, in the order of arrival."""
        written = {"stdout": self.stdout, "stderr": self.stderr}
        return dict(reversed(written.items())) if self.complains_first else written


class Session:
    """A stream in which the client also sends data; `on_end` is called once with what that was."""

    def __init__(self) -> None:
        self.on_end: Callable[[str], None] = _forget

    def end(self, told: str) -> None:
        """The client has sent everything that it had to send."""
        self.on_end(told)
        self.on_end = _forget


_END_OF_TRANSMISSION = "\x04"


class Conversation(Session):
    """A process that reads all of its input before it answers."""

    def __init__(self, answer: Callable[[str], Execution]) -> None:
        super().__init__()
        self._answer = answer

    def answer(self, told: str) -> Execution:
        """What the process prints, given all of its input."""
        self.end(told)
        return self._answer(told.partition(_END_OF_TRANSMISSION)[0].replace("\r", "\n"))


def is_complete(typed: str) -> bool:
    """Whether somebody at a terminal has nothing more to say: the shell was left, or its input ended."""
    return _END_OF_TRANSMISSION in typed or typed.replace("\r", "\n").endswith(("\nexit\n", "\nlogout\n"))


class Forwarding(Session):
    """A way to the ports of a pod; `reaches` says whether something listens on one."""

    def __init__(self, pod_uid: str, reaches: Callable[[int], bool]) -> None:
        super().__init__()
        self.pod_uid = pod_uid
        self.reaches = reaches


def _forget(told: str) -> None:
    del told


@dataclass(frozen=True, slots=True)
class Approach:
    """What an incoming request is about; without a name it is about all objects of the type in its namespace."""

    verb: str
    noun: str
    namespace: str
    name: str
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """The verdict of admission policies on a write: warnings that go with the answer, or why it is refused."""

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

    def note_arrival(self, approach: Approach) -> str | None:
        """An authorized request is about to be answered; returns the message of a failure if it cannot be."""
        ...

    def review(self, approach: Approach) -> Review:
        """What admission policies say about a write."""
        ...

    def log(self, pod: Json, container: str, *, previous: bool, follow: bool) -> Sequence[LogLine]:
        """What a container, or its run before the last restart, wrote; with `follow` also what it will write."""
        ...

    def execute(self, pod: Json, container: str, command: Sequence[str]) -> Execution | Conversation:
        """Run a command in a container."""
        ...

    def attach(self, pod: Json, container: str) -> Execution | Conversation:
        """What the process of a container writes from now on, or once it has received the input that it waits for."""
        ...

    def reaches(self, pod: Json, port: int) -> bool:
        """Whether something listens on a port of a pod."""
        ...
