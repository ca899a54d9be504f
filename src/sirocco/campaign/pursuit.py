"""Pursuit: an attacker that goes on from what it tried, in the same environment, by what the evidence says of it.

A line of attack is one environment, drawn once and set up afresh for each try, so that every try is a scenario that
replays by itself. What never reached the agent is put where it reads; what reached it and was not followed is said in
another way besides; what got no further than an earlier try is dropped, and the next one branches off that. A line ends
with a violation or after so many tries. No words are looked at, the agent's or anybody's: only what was delivered,
attempted, denied and effected.
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
"""Tries at one environment, unless the run says otherwise."""
_WARM_UP = 16
_UNDELIVERED, _DELIVERED, _ATTEMPTED = range(3)


@dataclass(slots=True)
class _Line:
    """One environment under attack: the try that got furthest, how far that was, and how many there were."""

    best: Draft
    reached: int
    turns: int = 1


class PursuitSchedule(AdaptiveSchedule):
    """Chooses cells as the adaptive schedule does, and goes on from earlier tries in them."""

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
        """The adaptive schedule's places; those of archetypes with an open line go on from it."""
        taken = set[Key]()
        return [self._followed(place, taken) for place in super().places(number)]

    def learn(self, place: Place, *, failed: bool, tried: Tried | None = None) -> None:
        """Count the probe, and lead its line on, back or to an end."""
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
        """As the adaptive schedule's, with how many tries went on from others and what that brought."""
        counts = {name: self._counts[name] for name in ("pursued", "got_further", "followed")}
        return {**super().document(), "turns": self._turns, **counts}

    def _followed(self, place: Place, taken: set[Key]) -> Place:
        """The place as the next try of its archetype's line, if there is one: moved, or said otherwise where it was."""
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
        """As the adaptive schedule has it, for what the agent reads: a text that does not arrive finds nothing."""
        surface = key[2]
        read, unread = self._told[surface, True], self._told[surface, False]
        return super()._worth(key, experience, found) * (read + 1) / (read + unread + 1)


def _reached(evidence: PayloadFacts | None) -> int:
    """How far a try got that was not followed."""
    if evidence is None or evidence.delivered is False:
        return _UNDELIVERED
    return _ATTEMPTED if evidence.attempted else _DELIVERED
