"""The schedule: who gets the next places of the budget, a fixed plan or one that follows what was found."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import combinations
from typing import Any, Protocol

from sirocco.campaign.plan import ADAPTIVE_ARM, FIXED_ARM, CoveringDesign, Key, Place

LEAST_FOR_ADAPTIVE = 100
"""From here on following what was found is measured to find more than the plan (docs/decisions/0044)."""
_WARM_UP = 32
"""Probes that the plan places before anything is learned from them."""
_FIXED = 4
"""While a schedule learns, every fourth place stays with the plan: a sample to compare with, and a look elsewhere."""
_CAUTION = 3.0
"""How many probes it takes before what is seen of a part counts for as much as what is seen of the rest."""
_AGAIN = 0.1
"""What one more failure where something failed before is worth: it may violate other checks."""
_OFTEN = 3
Observation = tuple[Key, bool]
"""A cell that was tried, and whether the agent failed."""
_Part = tuple[object, ...]


class ScheduleKind(StrEnum):
    """How places of the budget are given out."""

    FIXED = "fixed"
    ADAPTIVE = "adaptive"


class Schedule(Protocol):
    """Gives out places and is told what became of them."""

    kind: ScheduleKind

    def places(self, number: int) -> list[Place]:
        """The next places; none when everything is exhausted."""
        ...

    def learn(self, place: Place, *, failed: bool) -> None:
        """Take note that a probe for the place was run."""
        ...

    def document(self) -> dict[str, Any]:
        """What the report says about it."""
        ...


class FixedSchedule:
    """The covering design as it is: the same for the same seed, whatever the agent does.

    `remark` says why it is followed where another schedule was asked for.
    """

    kind = ScheduleKind.FIXED

    def __init__(self, design: CoveringDesign, remark: str | None = None) -> None:
        self._design = design
        self.remark = remark

    def places(self, number: int) -> list[Place]:
        """The design's next places."""
        return self._design.places(number)

    def learn(self, place: Place, *, failed: bool) -> None:
        """Nothing: what was found changes nothing."""

    def document(self) -> dict[str, Any]:
        """Its kind, and why it is not the one that was asked for."""
        return {"type": str(self.kind), **({"remark": self.remark} if self.remark else {})}


class AdaptiveSchedule:
    """Places where a new finding is most to be expected, beside the design.

    A cell is worth the chance that the agent fails in it, which is estimated from its archetype, technique and surface
    and from pairs of them, and far less where a failure of the same archetype on the same surface is known already.
    Which probes are run depends on the agent, so that a run can be repeated only in part.
    """

    kind = ScheduleKind.ADAPTIVE

    def __init__(self, design: CoveringDesign, learned: Sequence[Observation] = ()) -> None:
        self._design = design
        self._cells = tuple(dict.fromkeys((one.archetype, one.technique, one.surface) for one in design.offers))
        self._runs: Counter[_Part] = Counter()
        self._failures: Counter[_Part] = Counter()
        self._found: Counter[_Part] = Counter()
        """Failures of this run by archetype and surface."""
        self._failed: set[Key] = set()
        """The cells that they were in, which are not asked for again."""
        self._by_arm: dict[str, Counter[str]] = {FIXED_ARM: Counter(), ADAPTIVE_ARM: Counter()}
        self._learned = len(learned)
        self._given = len(learned)
        for key, failed in learned:
            self._observe(key, failed=failed)

    def places(self, number: int) -> list[Place]:
        """The design's places at first; then three in four where new findings are most to be expected."""
        fixed = min(number, max(0, _WARM_UP - self._given))
        chosen = self._promising_places((number - fixed) * (_FIXED - 1) // _FIXED)
        found = [*self._design.places(number - len(chosen)), *chosen]
        self._given += len(found)
        return found

    def learn(self, place: Place, *, failed: bool) -> None:
        """Count the probe, for its arm and for every part of its cell."""
        where = _finding(place.key)
        self._by_arm[place.arm].update(probes=1, new_failures=int(failed and not self._found[where]))
        self._found[where] += failed
        self._failed.update([place.key] if failed else ())
        self._observe(place.key, failed=failed)

    def _observe(self, key: Key, *, failed: bool) -> None:
        for part in ((), *_parts(key), *_joined_parts(key)):
            self._runs[part] += 1
            self._failures[part] += failed

    def document(self) -> dict[str, Any]:
        """Its kind, what either arm found, and how many probes of earlier runs it began with."""
        arms = {
            name: {"probes": counts["probes"], "new_failures": counts["new_failures"]}
            for name, counts in self._by_arm.items()
        }
        return {"type": str(self.kind), "arms": arms, **({"learned_from": self._learned} if self._learned else {})}

    def _promising_places(self, number: int) -> list[Place]:
        """The cells of greatest worth, each chosen as if those before it might already have been fruitful."""
        open_cells = [key for key in self._cells if key not in self._failed and not self._design.is_exhausted(key)]
        chances = {key: self._chance(key) for key in open_cells} if number else {}
        worth = {key: chance * _AGAIN ** min(self._found[_finding(key)], _OFTEN) for key, chance in chances.items()}
        chosen = list[Place]()
        while worth and len(chosen) < number:
            best = max(worth, key=worth.__getitem__)
            chosen.append(Place(*best, arm=ADAPTIVE_ARM))
            del worth[best]
            for key in worth:
                if _finding(key) == _finding(best):
                    worth[key] *= 1 - chances[best] * (1 - _AGAIN)
        return chosen

    def _chance(self, key: Key) -> float:
        """How likely the agent is to fail in a cell: what its parts tell, corrected by what pairs of them tell."""
        overall = (self._failures[()] + 0.5) / (self._runs[()] + 1)
        odds = _log_odds(overall)
        odds += sum(_log_odds(self._rate(part, overall)) - _log_odds(overall) for part in _parts(key))
        chance = 1 / (1 + math.exp(-odds))
        for part in _joined_parts(key):
            chance = self._rate(part, chance)
        return chance

    def _rate(self, part: _Part, expected: float) -> float:
        """How often the agent failed in a part, drawn towards what is to be expected of one that was hardly tried."""
        return (self._failures[part] + _CAUTION * expected) / (self._runs[part] + _CAUTION)


def _finding(key: Key) -> _Part:
    """What a failure in a cell would be a finding about: archetype and surface."""
    return key[0], key[2]


def _parts(key: Key) -> tuple[_Part, ...]:
    return tuple(enumerate(key))


def _joined_parts(key: Key) -> Iterable[_Part]:
    """Pairs of a cell's parts, and all three."""
    return (*combinations(_parts(key), 2), _parts(key))


def _log_odds(chance: float) -> float:
    return math.log(chance / (1 - chance))


def schedule(kind: ScheduleKind, design: CoveringDesign, probes: int, learned: Sequence[Observation] = ()) -> Schedule:
    """The schedule of that kind; too small a budget for learning stays with the plan."""
    remark = schedule_remark(kind, probes)
    if kind is ScheduleKind.ADAPTIVE and remark is None:
        return AdaptiveSchedule(design, learned)
    return FixedSchedule(design, remark)


def schedule_remark(kind: ScheduleKind, probes: int) -> str | None:
    """Why a budget of so many probes is not spent by the schedule that was asked for; None when it is."""
    if kind is not ScheduleKind.ADAPTIVE or probes >= LEAST_FOR_ADAPTIVE:
        return None
    return f"an adaptive schedule needs {LEAST_FOR_ADAPTIVE} probes, and {probes} are asked for; the plan is fixed"
