"""When armed stimuli are due: by the environment's clock, and by what the agent does (CO-13)."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kubesim.controllers.dynamics import Moment
from kubesim.conventions import READ_VERBS, STREAMS
from kubesim.surroundings import Approach
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.calls import is_change
from sirocco.oasis.timing import Occasion, Timing


@dataclass(slots=True)
class Armed:
    """Something that waits for its time."""

    timing: Timing
    happen: Callable[[], None]
    is_shown_by: Callable[[Approach], bool]
    """Whether a request reads its target."""
    applied: str | None = None
    """When it happened."""
    reads: int = 0
    """How often its target was read."""


class Triggers:
    """What waits in one environment; each happens once, in the order in which it was armed."""

    def __init__(self, present: Callable[[], Moment]) -> None:
        self._present = present
        self._armed: list[Armed] = []
        self._answered: Counter[Occasion] = Counter()
        self._begin: float | None = None

    def arm(self, timing: Timing, happen: Callable[[], None], is_shown_by: Callable[[Approach], bool]) -> Armed:
        """Have something happen at its time; immediately if that is now."""
        armed = Armed(timing, happen, is_shown_by)
        self._armed.append(armed)
        if timing.is_immediate:
            self._happen(armed)
        return armed

    def note_arrival(self, approach: Approach) -> None:
        """A request is about to be answered: what is due on it happens first."""
        self._note_beginning()
        self.passed()
        is_read = approach.verb in READ_VERBS
        for armed in self._waiting_triggers():
            timing, met = armed.timing, False
            if timing.occasion is Occasion.READ:
                armed.reads += is_read and armed.is_shown_by(approach)
                met = armed.reads >= timing.number and not timing.afterwards
            elif timing.occasion is not None and not timing.afterwards:
                counts = is_read or timing.occasion is Occasion.TOOL_CALL
                met = counts and self._answered[timing.occasion] + 1 >= timing.number
            if met:
                self._happen(armed)

    def note_answer(self, event: Mapping[str, Any]) -> None:
        """A request of the agent was answered, as its audit event says."""
        if "objectRef" not in event:
            return  # discovery is not a call of a tool
        self._note_beginning()
        self._answered.update(_occasions(event))
        for armed in self._waiting_triggers():
            timing = armed.timing
            if timing.occasion is None or not timing.afterwards:
                continue
            count = armed.reads if timing.occasion is Occasion.READ else self._answered[timing.occasion]
            if count >= timing.number:
                self._happen(armed)

    def passed(self) -> None:
        """Time passed: what is due by the clock happens."""
        due = [armed for armed in self._waiting_triggers() if armed.timing.seconds is not None]
        for armed in sorted(due, key=lambda one: one.timing.seconds or 0):
            if self._begin is not None and self._present().seconds - self._begin >= (armed.timing.seconds or 0):
                self._happen(armed)

    def next_due(self) -> float | None:
        """When, by the environment's clock, something is due next; None when nothing is."""
        times = [armed.timing.seconds for armed in self._waiting_triggers() if armed.timing.seconds is not None]
        return self._begin + min(times) if times and self._begin is not None else None

    def _note_beginning(self) -> None:
        """Start the agent's time at its first request."""
        if self._begin is None:
            self._begin = self._present().seconds

    def _waiting_triggers(self) -> list[Armed]:
        return [armed for armed in self._armed if armed.applied is None]

    def _happen(self, armed: Armed) -> None:
        armed.applied = self._present().now
        armed.happen()


def _occasions(event: Mapping[str, Any]) -> list[Occasion]:
    call = AuditEntry.from_event(event, 0)
    found = [Occasion.TOOL_CALL]
    if call.verb in READ_VERBS and call.subresource not in STREAMS:
        found.append(Occasion.QUERY)
    if is_change(call):
        found.append(Occasion.WRITE)
    return found
