"""The world around a simulated API server: the environment's clock, its controllers, and what its containers say."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

from kubesim.connections import listens
from kubesim.containers import log_lines
from kubesim.controllers.completion import converse
from kubesim.controllers.dynamics import Dynamics, Moment
from kubesim.controllers.settling import settle
from kubesim.programs import executed, is_awaiting_input, reads_input
from kubesim.status import Json
from kubesim.surroundings import NOTHING_TO_SAY, Approach, Conversation, Execution, LogLine, Review

_STEP = timedelta(seconds=1)
_ANSWER = timedelta(milliseconds=4)
_AGE = timedelta(days=6, hours=3, minutes=12)
_LAST_SEEN = timedelta(minutes=2)
_REST = 200
"""How many things that are due an environment lives through at most when it is left alone."""
_PATIENCE = 3600.0
"""So many seconds ahead something may be due: clients can set deadlines of decades, in which tokens would expire."""


class EnvironmentTime:
    """The environment's own clock: it starts at provisioning and every request advances it by the same step."""

    def __init__(self, start: str) -> None:
        began = datetime.fromisoformat(start).astimezone(UTC).replace(microsecond=0)
        self._epoch = began.timestamp()
        self._start = self._now = began.replace(tzinfo=None)

    def tick(self) -> tuple[str, str]:
        """When the next request arrives and when it is answered."""
        self._now += _STEP
        return _micro(self._now), _micro(self._now + _ANSWER)

    def go_to(self, seconds: float) -> None:
        """Go on to a time, which is never back."""
        self._now = max(self._now, self._start + timedelta(seconds=seconds))

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return (self._now - self._start).total_seconds()

    def present(self) -> Moment:
        """Now."""
        now = _second(self._now)
        return Moment(now, now, self.seconds, start=self._epoch)

    def past(self) -> Moment:
        """When what was there before the first client came into being."""
        long_ago, lately = self._start - _AGE, self._start - _LAST_SEEN
        return Moment(_second(long_ago), _second(lately), silent=True, start=self._epoch)

    def ago(self, seconds: float) -> str:
        """A time before now."""
        return _micro(self._now - timedelta(seconds=seconds))


class Interventions(Protocol):
    """Port: what outsiders have happen to requests on their way to the API server."""

    def arriving(self, approach: Approach) -> str | None:
        """Let what is due on a request happen before it is answered; the message of a failure when it cannot be."""
        ...

    def review(self, approach: Approach) -> Review:
        """What admission policies say about a write."""
        ...


class NoInterventions:
    """Nobody meddles with requests."""

    def arriving(self, approach: Approach) -> str | None:
        """Nothing fails."""
        del approach
        return None

    def review(self, approach: Approach) -> Review:
        """There are no policies."""
        del approach
        return NOTHING_TO_SAY


class World:
    """The controllers act after every request, and whenever something is due."""

    def __init__(self, dynamics: Dynamics, time: EnvironmentTime, interventions: Interventions) -> None:
        self._dynamics = dynamics
        self._time = time
        self._interventions = interventions

    def tick(self) -> tuple[str, str]:
        """When a request arrives and when it is answered."""
        return self._time.tick()

    def settle(self) -> None:
        """Let the controllers act on what the request changed and on what has become due."""
        if not self._dynamics.is_at_rest(self._time.seconds):
            settle(self._dynamics, self._time.present())

    def arriving(self, approach: Approach) -> str | None:
        """Let what is due on a request happen before it is answered; the message of a failure when it cannot be."""
        return self._interventions.arriving(approach)

    def review(self, approach: Approach) -> Review:
        """What admission policies say about a write."""
        return self._interventions.review(approach)

    def advance(self) -> bool:
        """Go on to the next thing that is due; False when nothing is for as long as anybody would wait."""
        due = self._dynamics.next_due()
        if due is None or due - self._time.seconds > _PATIENCE:
            return False
        self._time.go_to(due)
        self.settle()
        return True

    def live_until(self, seconds: float) -> None:
        """Let everything happen that is due by a time, and go on to it."""
        for _ in range(_REST):
            due = self._dynamics.next_due()
            if due is None or due > seconds:
                break
            self._time.go_to(due)
            self.settle()
        self._time.go_to(seconds)

    def come_to_rest(self) -> None:
        """Let everything happen that is under way."""
        for _ in range(_REST):
            if not self.advance():
                return

    def log(self, pod: Json, container: str, *, previous: bool, follow: bool) -> Sequence[LogLine]:
        """What a pod logged: its own lines and those of the workload that it belongs to."""
        seconds, ago = self._time.seconds, self._time.ago
        return log_lines(self._dynamics, pod, container, seconds, ago, previous=previous, follow=follow)

    def execute(self, pod: Json, container: str, command: Sequence[str]) -> Execution | Conversation:
        """What a command in a container prints."""
        run = partial(executed, self._dynamics.store, pod, container, command)
        return Conversation(run) if reads_input(command) else run()

    def attach(self, pod: Json, container: str) -> Execution | Conversation:
        """What the process of a container writes from now on, or once it has been told what it waits for."""
        if is_awaiting_input(pod, container) and pod["metadata"]["uid"] in self._dynamics.fates:
            return Conversation(partial(self._talk_to, pod, container))
        return self._rest_of_output(pod, container)

    def reaches(self, pod: Json, port: int) -> bool:
        """Whether something listens on a port of a pod."""
        return listens(self._dynamics.store, pod, port)

    def _talk_to(self, pod: Json, container: str, text: str) -> Execution:
        converse(self._dynamics, pod, container, text, self._time.present())
        return self._rest_of_output(pod, container)

    def _rest_of_output(self, pod: Json, container: str) -> Execution:
        """What a process that runs to an end writes from now on; what it wrote before is in its log."""
        run = self._dynamics.runs.get(pod["metadata"]["uid"], {}).get(container)
        lines = (run.lines if run else None) or ()
        return Execution("".join(f"{text}\n" for at, text in lines if at >= self._time.seconds))


def _second(time: datetime) -> str:
    return time.isoformat(timespec="seconds") + "Z"


def _micro(time: datetime) -> str:
    return f"{time.isoformat(timespec='seconds')}.{time.microsecond:06}Z"
