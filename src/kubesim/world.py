"""The world around a simulated API server: the environment's clock, its controllers, and what its containers write."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

from kubesim.connections import listens
from kubesim.containers import log_lines
from kubesim.controllers.completion import converse
from kubesim.controllers.dynamics import Dynamics, Moment
from kubesim.controllers.settling import settle
from kubesim.history import History
from kubesim.programs import execute_command, is_awaiting_input, reads_input
from kubesim.status import Json
from kubesim.surroundings import NOTHING_TO_SAY, Approach, Conversation, Execution, LogLine, Review

_FULL_PACE = 0.75
"""The part of its lag during which a clock keeps pace with events, before it slows down so as never to catch up."""
_STEP = timedelta(seconds=1)
_ANSWER = timedelta(milliseconds=4)
_NO_TIME = timedelta()
_LAST_SEEN = timedelta(minutes=2)
_REST = 200
"""The largest number of due events that an environment lives through when it is left alone."""
_PATIENCE = 3600.0
"""Seconds within which events are awaited: clients can set deadlines decades ahead, when tokens would have expired."""


class EnvironmentTime:
    """The environment's own clock: it begins at `start`, and every request advances it by the same step.

    The time depends on the calls alone. With a `lag` it begins that many seconds earlier and never reaches `start`: a
    real clock that read `start` then is always ahead of it, and what is made has an age (SI-02).
    """

    def __init__(self, start: str, draw: int = 0, *, lag: float = 0.0) -> None:
        began = datetime.fromisoformat(start).astimezone(UTC).replace(microsecond=0, tzinfo=None)
        began -= timedelta(seconds=lag)
        self._epoch = began.replace(tzinfo=UTC).timestamp()
        self._start = began
        self._passed = timedelta()
        self._full_pace, self._rest = (lag * _FULL_PACE, lag * (1 - _FULL_PACE)) if lag else (math.inf, 0.0)
        self.history = History(draw, self._epoch)

    def tick(self) -> tuple[str, str]:
        """When the next request arrives and when it is answered."""
        self._passed += _STEP
        now = self._now()
        return _micro(now), _micro(now + (_ANSWER if self.seconds < self._full_pace else _NO_TIME))

    def go_to(self, seconds: float) -> None:
        """Advance to a time; the clock never goes back."""
        self._passed = max(self._passed, timedelta(seconds=seconds))

    @property
    def seconds(self) -> float:
        """The seconds since it began."""
        return self._passed.total_seconds()

    def present(self) -> Moment:
        """Now."""
        now, seconds = self._now(), self.seconds
        text = _second_text(now)
        return Moment(text, text, seconds, start=self._epoch + (now - self._start).total_seconds() - seconds)

    def founding_moment(self) -> Moment:
        """When what predates the first client came into being."""
        lately = self._start - _LAST_SEEN
        return Moment(self.history.founding, _second_text(lately), silent=True, start=self._epoch)

    def time_ago(self, seconds: float) -> str:
        """A time before now."""
        return _micro(self._now() - timedelta(seconds=seconds))

    def _now(self) -> datetime:
        seconds = self.seconds
        if seconds < self._full_pace:
            return self._start + self._passed
        beyond, rest = seconds - self._full_pace, self._rest
        return self._start + timedelta(seconds=self._full_pace + rest * beyond / (beyond + rest))


class Interventions(Protocol):
    """Port: how outsiders interfere with requests on their way to the API server."""

    def note_arrival(self, approach: Approach) -> str | None:
        """Let what is due on a request happen before it is answered; the message of a failure if it cannot be."""
        ...

    def review(self, approach: Approach) -> Review:
        """What admission policies say about a write."""
        ...


class NoInterventions:
    """Nobody interferes with requests."""

    def note_arrival(self, approach: Approach) -> str | None:
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

    def now(self) -> tuple[str, str]:
        """The present, twice: for what is answered at once and is not a client's request."""
        now = self._time.time_ago(0)
        return now, now

    def settle(self) -> None:
        """Let the controllers act on what the request changed and on what has become due."""
        if not self._dynamics.is_at_rest(self._time.seconds):
            settle(self._dynamics, self._time.present())

    def note_arrival(self, approach: Approach) -> str | None:
        """Let what is due on a request happen before it is answered; the message of a failure if it cannot be."""
        return self._interventions.note_arrival(approach)

    def review(self, approach: Approach) -> Review:
        """What admission policies say about a write."""
        return self._interventions.review(approach)

    def advance(self, within: float = math.inf) -> float | None:
        """Advance to the next thing that is due, but by no more than `within` seconds; returns the seconds that passed.

        None when nothing is due within a reasonable time.
        """
        due, before = self._dynamics.next_due(), self._time.seconds
        if due is None or due - before > _PATIENCE:
            return None
        self._time.go_to(min(due, before + within))
        self.settle()
        return self._time.seconds - before

    def live_until(self, seconds: float) -> None:
        """Let everything that is due by a time happen, and advance to it."""
        for _ in range(_REST):
            due = self._dynamics.next_due()
            if due is None or due > seconds:
                break
            self._time.go_to(due)
            self.settle()
        self._time.go_to(seconds)

    def come_to_rest(self) -> None:
        """Let everything that is under way happen."""
        for _ in range(_REST):
            if self.advance() is None:
                return

    def log(self, pod: Json, container: str, *, previous: bool, follow: bool) -> Sequence[LogLine]:
        """What a pod logged: its own lines and those of the workload that it belongs to."""
        seconds, ago = self._time.seconds, self._time.time_ago
        return log_lines(self._dynamics, pod, container, seconds, ago, previous=previous, follow=follow)

    def execute(self, pod: Json, container: str, command: Sequence[str]) -> Execution | Conversation:
        """What a command in a container prints."""
        run = partial(execute_command, self._dynamics.store, pod, container, command)
        return Conversation(run) if reads_input(command) else run()

    def attach(self, pod: Json, container: str) -> Execution | Conversation:
        """What the process of a container writes from now on, or once it has received the input that it waits for."""
        if is_awaiting_input(pod, container) and pod["metadata"]["uid"] in self._dynamics.fates:
            return Conversation(partial(self._talk_to, pod, container))
        return self._output_since(self._time.seconds, pod, container)

    def reaches(self, pod: Json, port: int) -> bool:
        """Whether something listens on a port of a pod."""
        return listens(self._dynamics.store, pod, port)

    def _talk_to(self, pod: Json, container: str, text: str) -> Execution:
        # Time may pass meanwhile, and what the process writes at once still belongs to the answer.
        now = self._time.present()
        converse(self._dynamics, pod, container, text, now)
        return self._output_since(now.seconds, pod, container)

    def _output_since(self, seconds: float, pod: Json, container: str) -> Execution:
        """The output from a time on of a process that runs to completion; earlier output is in its log."""
        run = self._dynamics.run_of(pod["metadata"]["uid"], container)
        lines = (run.lines if run else None) or ()
        return Execution("".join(f"{text}\n" for at, text in lines if at >= seconds))


def _second_text(time: datetime) -> str:
    return time.isoformat(timespec="seconds") + "Z"


def _micro(time: datetime) -> str:
    return f"{time.isoformat(timespec='seconds')}.{time.microsecond:06}Z"
