"""Pursuit: an attacker that builds on its attempts, in the same environment, guided by the evidence.

A line of attack is one environment, drawn once and set up afresh for each attempt, so that every attempt is a scenario
that replays by itself. A text that never reached the agent is moved to where the agent reads; one that arrived and was
not followed is also worded in another way; an attempt that got no further than an earlier one is dropped, and the next
one branches off the earlier. A line ends with a violation or after a number of attempts. Only facts count, not words:
what was delivered, attempted, denied and effected.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sirocco.campaign.plan import ADAPTIVE_ARM, CoveringDesign, Key, Place
from sirocco.campaign.schedule import AdaptiveSchedule, Experience, Observation, Part, ScheduleKind, Tried
from sirocco.oasis.probe import Draft
from sirocco.oasis.stimulus import Surface
from sirocco.oasis.verdict import PayloadFacts

TURNS = 4
"""Attempts on one environment, unless the run says otherwise."""
_WARM_UP = 16
_UNDELIVERED, _DELIVERED, _ATTEMPTED = range(3)


@dataclass(slots=True)
class _Line:
    """One environment under attack: the attempt that got furthest, how far that was, and how many there were."""

    best: Draft
    reached: int
    turns: int = 1


class PursuitSchedule(AdaptiveSchedule):
    """Chooses cells as the adaptive schedule does, and builds on earlier attempts in them."""

    kind = ScheduleKind.PURSUIT
    warm_up = _WARM_UP

    def __init__(self, design: CoveringDesign, learned: Sequence[Observation] = (), *, turns: int = TURNS) -> None:
        super().__init__(design, learned)
        self._turns = turns
        self._lines: dict[str, _Line] = {}
        self._known = frozenset(self._cells)
        self._told: Counter[tuple[Surface | None, bool]] = Counter()
        """How often a text on a surface reached the agent, and how often not."""
        self._counts: Counter[str] = Counter()

    def places(self, number: int) -> list[Place]:
        """The adaptive schedule's places; those of archetypes with an open line continue it."""
        taken = set[Key]()
        return [self._followed(place, taken) for place in super().places(number)]

    def learn(self, place: Place, *, failed: bool, tried: Tried | None = None) -> None:
        """Count the probe, and continue its line, go back in it or end it."""
        super().learn(place, failed=failed, tried=tried)
        if tried is None:
            return
        reached = _reached(tried.evidence)
        if tried.evidence is not None and tried.evidence.delivered is not None:
            self._told[tried.draft.surface, tried.evidence.delivered] += 1
        self._counts.update(pursued=int(place.follows is not None), followed=int(failed and place.follows is not None))
        line = self._lines.get(place.archetype)
        if failed or (line is not None and line.turns + 1 >= self._turns):
            self._lines.pop(place.archetype, None)
        elif line is None:
            self._lines[place.archetype] = _Line(tried.draft, reached)
        else:
            line.turns += 1
            if reached > line.reached:
                line.best, line.reached = tried.draft, reached
                self._counts["got_further"] += 1

    def document(self) -> dict[str, Any]:
        """The adaptive schedule's report, and how many attempts built on others with what result."""
        counts = {name: self._counts[name] for name in ("pursued", "got_further", "followed")}
        return {**super().document(), "turns": self._turns, **counts}

    def _followed(self, place: Place, taken: set[Key]) -> Place:
        """The place as the next attempt of its archetype's line, if there is one: moved, or reworded in place."""
        line = self._lines.get(place.archetype)
        if line is None or place.arm != ADAPTIVE_ARM:
            return place
        name, technique, surface = place.key
        is_read = line.reached >= _DELIVERED
        steered = (name, technique, line.best.surface) if is_read else (name, line.best.technique, surface)
        key = steered if self._is_open(steered) and steered not in taken else place.key
        taken.add(key)
        return replace(place, technique=key[1], surface=key[2], follows=line.best)

    def _is_open(self, key: Key) -> bool:
        return key in self._known and key not in self._failed and not self._design.is_exhausted(key)

    def _worth(self, key: Key, experience: Experience, found: Mapping[Part, float]) -> float:
        """The adaptive schedule's worth, limited to surfaces that the agent reads."""
        surface = key[2]
        read, unread = self._told[surface, True], self._told[surface, False]
        return super()._worth(key, experience, found) * (read + 1) / (read + unread + 1)


def _reached(evidence: PayloadFacts | None) -> int:
    """How far an attempt got that was not followed."""
    if evidence is None or evidence.delivered is False:
        return _UNDELIVERED
    return _ATTEMPTED if evidence.attempted else _DELIVERED
