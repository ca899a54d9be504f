"""The schedule: which cells get the next places of the budget, by a fixed plan or by what was found."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Any, Protocol

from sirocco.campaign.plan import ADAPTIVE_ARM, FIXED_ARM, CoveringDesign, Key, Place
from sirocco.oasis.archetype import Classification
from sirocco.oasis.probe import Draft
from sirocco.oasis.verdict import PayloadFacts

LEAST_FOR_ADAPTIVE = 100
"""From this many probes on, following what was found is measured to find more than the plan (docs/decisions/0044)."""
_WARM_UP = 32
"""The number of probes that the plan places before anything is learned from them."""
_FIXED = 4
"""While a schedule learns, every fourth place stays with the plan: a sample for comparison, and a look elsewhere."""
_CAUTION = 3.0
"""The number of probes after which a part's own results count as much as the overall rate."""
_CURIOSITY = 2.0
"""The bonus for an archetype, technique or surface that was never tried, in log odds."""
_AGAIN = 0.1
"""The value of a further failure where something failed before: it may violate other checks."""
_OFTEN = 3
Observation = tuple[Key, bool]
"""A cell that was tried, and whether the agent failed."""
Part = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Tried:
    """An executed draft, and how far it got."""

    draft: Draft
    evidence: PayloadFacts | None


class ScheduleKind(StrEnum):
    """The ways to assign the places of the budget."""

    FIXED = "fixed"
    ADAPTIVE = "adaptive"
    PURSUIT = "pursuit"


class Schedule(Protocol):
    """Assigns places and is told the results."""

    kind: ScheduleKind

    def places(self, number: int) -> list[Place]:
        """The next places; none if everything is exhausted."""
        ...

    def learn(self, place: Place, *, failed: bool, tried: Tried | None = None) -> None:
        """Learn from a probe that was run for the place; `tried` is given if the agent was heard out."""
        ...

    def document(self) -> dict[str, Any]:
        """What the report says about it."""
        ...


class FixedSchedule:
    """The covering design unchanged: the same for the same seed, whatever the agent does.

    `remark` says why it is used if another schedule was requested.
    """

    kind = ScheduleKind.FIXED

    def __init__(self, design: CoveringDesign, remark: str | None = None) -> None:
        self._design = design
        self.remark = remark

    def places(self, number: int) -> list[Place]:
        """The design's next places."""
        return self._design.places(number)

    def learn(self, place: Place, *, failed: bool, tried: Tried | None = None) -> None:
        """Do nothing: results do not change the design."""

    def document(self) -> dict[str, Any]:
        """Its kind, and why it is not the requested one."""
        return {"type": str(self.kind), **({"remark": self.remark} if self.remark else {})}


class Experience:
    """How often the agent failed in each part of a cell and each pair of parts, and estimates for any cell.

    A technique or surface counts separately for safety and for capability.
    """

    def __init__(self, classes: Mapping[str, Classification]) -> None:
        self._classes = classes
        self._runs: dict[Part, float] = {}
        self._failures: dict[Part, float] = {}

    def copy(self) -> "Experience":
        """A copy, to be updated with expected results."""
        found = Experience(self._classes)
        found._runs, found._failures = dict(self._runs), dict(self._failures)
        return found

    def observe(self, key: Key, failed: float) -> None:
        """Count one probe; for a probe that is yet to run, `failed` is the probability of failure."""
        parts = self._parts(key)
        for part in ((), *parts, *_joined_parts(parts)):
            self._runs[part] = self._runs.get(part, 0.0) + 1
            self._failures[part] = self._failures.get(part, 0.0) + failed

    def _parts(self, key: Key) -> tuple[Part, ...]:
        archetype, technique, surface = key
        of_class = self._classes.get(archetype)
        return ("archetype", archetype), (of_class, "technique", technique), (of_class, "surface", surface)

    def chance(self, key: Key) -> float:
        """The probability that the agent fails in a cell: estimated from its parts, corrected by pairs of them."""
        overall = (self._failures.get((), 0.0) + 0.5) / (self._runs.get((), 0.0) + 1)
        odds = _log_odds(overall)
        parts = self._parts(key)
        odds += sum(self._evidence(part, overall) for part in parts)
        chance = 1 / (1 + math.exp(-odds))
        for part in _joined_parts(parts):
            chance = self._rate(part, chance)
        return chance

    def _evidence(self, part: Part, overall: float) -> float:
        """A part's evidence for a failure, in log odds; an untried part always gets a bonus."""
        return _log_odds(self._rate(part, overall)) - _log_odds(overall) if part in self._runs else _CURIOSITY

    def _rate(self, part: Part, expected: float) -> float:
        """The failure rate of a part, shrunk towards the expected rate if it was hardly tried."""
        failures, runs = self._failures.get(part, 0.0), self._runs.get(part, 0.0)
        return (failures + _CAUTION * expected) / (runs + _CAUTION)


class AdaptiveSchedule:
    """The places where a new finding is most likely, in addition to the design's.

    A cell is worth the chance that the agent fails in it, and far less if a failure of the same archetype on the same
    surface is already known. Which probes are run depends on the agent, so a run is only partially reproducible.
    """

    kind = ScheduleKind.ADAPTIVE
    warm_up = _WARM_UP

    def __init__(self, design: CoveringDesign, learned: Sequence[Observation] = ()) -> None:
        self._design = design
        self._cells = tuple(dict.fromkeys((one.archetype, one.technique, one.surface) for one in design.offers))
        self._experience = Experience(design.classes)
        self._found: Counter[Part] = Counter()
        """Failures of this run by archetype and surface."""
        self._failed: set[Key] = set()
        """Their cells, which are not requested again."""
        self._by_arm: dict[str, Counter[str]] = {FIXED_ARM: Counter(), ADAPTIVE_ARM: Counter()}
        self._learned = len(learned)
        self._given = len(learned)
        for key, failed in learned:
            self._experience.observe(key, failed)

    def places(self, number: int) -> list[Place]:
        """The design's places at first; then three in four where new findings are most likely."""
        fixed = min(number, max(0, self.warm_up - self._given))
        chosen = self._promising_places((number - fixed) * (_FIXED - 1) // _FIXED)
        found = [*self._design.places(number - len(chosen)), *chosen]
        self._given += len(found)
        return found

    def learn(self, place: Place, *, failed: bool, tried: Tried | None = None) -> None:  # noqa: ARG002 - the port's
        """Count the probe, for its arm and for every part of its cell."""
        where = _finding(place.key)
        self._by_arm[place.arm].update(probes=1, new_failures=int(failed and not self._found[where]))
        self._found[where] += failed
        self._failed.update([place.key] if failed else ())
        self._experience.observe(place.key, failed)

    def document(self) -> dict[str, Any]:
        """Its kind, what each arm found, and how many probes of earlier runs it started with."""
        arms = {
            name: {"probes": counts["probes"], "new_failures": counts["new_failures"]}
            for name, counts in self._by_arm.items()
        }
        return {"type": str(self.kind), "arms": arms, **({"learned_from": self._learned} if self._learned else {})}

    def _promising_places(self, number: int) -> list[Place]:
        """The cells of greatest worth, each chosen as if the earlier ones had turned out as expected.

        So the places of one block spread out while nothing is known, and concentrate on what pays off.
        """
        if not number:
            return []
        experience, found = self._experience.copy(), {key: float(number) for key, number in self._found.items()}
        cells = [key for key in self._cells if key not in self._failed and not self._design.is_exhausted(key)]
        worth = {key: self._worth(key, experience, found) for key in cells}
        chosen = list[Place]()
        while worth and len(chosen) < number:
            best = max(worth, key=worth.__getitem__)
            chosen.append(Place(*best, arm=ADAPTIVE_ARM))
            del worth[best]
            chance = experience.chance(best)
            found[_finding(best)] = found.get(_finding(best), 0.0) + chance
            experience.observe(best, chance)
            for key in worth:
                if any(mine == theirs for mine, theirs in zip(key, best, strict=True)):
                    worth[key] = self._worth(key, experience, found)
        return chosen

    def _worth(self, key: Key, experience: Experience, found: Mapping[Part, float]) -> float:
        discount: float = _AGAIN ** min(found.get(_finding(key), 0.0), _OFTEN)
        return experience.chance(key) * discount


def _finding(key: Key) -> Part:
    """The archetype and surface that a failure in a cell would be a finding about."""
    return key[0], key[2]


def _joined_parts(parts: tuple[Part, ...]) -> Iterable[Part]:
    """The pairs of a cell's parts, and all three together."""
    return (*combinations(parts, 2), parts)


def _log_odds(chance: float) -> float:
    return math.log(chance / (1 - chance))


def schedule(kind: ScheduleKind, design: CoveringDesign, probes: int, learned: Sequence[Observation] = ()) -> Schedule:
    """The schedule of that kind; with too small a budget for learning, the plan."""
    remark = schedule_remark(kind, probes)
    if kind is ScheduleKind.ADAPTIVE and remark is None:
        return AdaptiveSchedule(design, learned)
    return FixedSchedule(design, remark)


def schedule_remark(kind: ScheduleKind, probes: int) -> str | None:
    """Why a budget of this size is not spent by the requested schedule; None if it is."""
    if kind is not ScheduleKind.ADAPTIVE or probes >= LEAST_FOR_ADAPTIVE:
        return None
    return f"an adaptive schedule needs {LEAST_FOR_ADAPTIVE} probes, but {probes} are requested; the plan is fixed"
