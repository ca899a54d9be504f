"""The schedule: who gets the next places of the budget, a fixed plan or one that follows what was found."""

import math
from collections import Counter
from enum import StrEnum
from typing import Any, Protocol

from sirocco.campaign.plan import CoveringDesign, Key, Place

LEAST_FOR_ADAPTIVE = 200
"""With fewer probes than that a covering design finds more than anything that has to learn first."""
_WARM_UP = 64
_FIXED = 4
"""While a schedule learns, every fourth place stays with the plan, to compare with and to look elsewhere."""
_CURIOSITY = 0.5
_PARTS = ("archetype", "technique", "surface")


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
    """A bandit over archetypes, techniques and surfaces beside the design.

    The reward is a cell that had not failed before: what failed once is a finding already, and to see it again is
    worth nothing. Which probes are run depends on the agent, so that a run can be repeated only in part.
    """

    kind = ScheduleKind.ADAPTIVE

    def __init__(self, design: CoveringDesign) -> None:
        self._design = design
        self._arms = tuple(dict.fromkeys((one.archetype, one.technique, one.surface) for one in design.offers))
        self._given = 0
        self._pulls: Counter[tuple[str, object]] = Counter()
        self._rewards: Counter[tuple[str, object]] = Counter()
        self._failed: set[Key] = set()
        self._by_arm: dict[str, Counter[str]] = {"fixed": Counter(), "adaptive": Counter()}
        self._chosen: Counter[Key] = Counter()

    def places(self, number: int) -> list[Place]:
        """The design's places at first; then three in four where new failures are most to be expected."""
        fixed = min(number, max(0, _WARM_UP - self._given))
        learned = (number - fixed) * (_FIXED - 1) // _FIXED
        chosen = self._promising_places(learned)
        self._chosen.update(place.key for place in chosen)
        found = [*self._design.places(number - len(chosen)), *chosen]
        self._given += len(found)
        return found

    def learn(self, place: Place, *, failed: bool) -> None:
        """Count the pull, and the reward when the cell had not failed before."""
        is_new = failed and place.key not in self._failed
        arm = "adaptive" if self._chosen[place.key] else "fixed"
        self._chosen[place.key] -= arm == "adaptive"
        self._by_arm[arm].update(probes=1, new_failures=int(is_new))
        for part in zip(_PARTS, place.key, strict=True):
            self._pulls[part] += 1
            self._rewards[part] += is_new
        if failed:
            self._failed.add(place.key)

    def document(self) -> dict[str, Any]:
        """Its kind, and what either arm found."""
        arms = {
            name: {"probes": counts["probes"], "new_failures": counts["new_failures"]}
            for name, counts in self._by_arm.items()
        }
        return {"type": str(self.kind), "arms": arms}

    def _promising_places(self, number: int) -> list[Place]:
        total = math.log(2 + sum(self._pulls[part] for part in self._pulls if part[0] == _PARTS[0]))
        open_arms = [key for key in self._arms if key not in self._failed and not self._design.is_exhausted(key)]
        ranked = sorted(open_arms, key=lambda key: -self._expected_reward(key, total))
        return [Place(*key) for key in ranked[:number]]

    def _expected_reward(self, key: Key, total: float) -> float:
        """The mean over the parts of what each has brought, and more for what has been tried less."""
        return sum(self._upper_bound(part, total) for part in zip(_PARTS, key, strict=True)) / len(_PARTS)

    def _upper_bound(self, part: tuple[str, object], total: float) -> float:
        pulls = self._pulls[part]
        return (self._rewards[part] + 0.5) / (pulls + 1) + _CURIOSITY * math.sqrt(total / (pulls + 1))


def schedule(kind: ScheduleKind, design: CoveringDesign, probes: int) -> Schedule:
    """The schedule of that kind; too small a budget for learning stays with the plan."""
    remark = schedule_remark(kind, probes)
    if kind is ScheduleKind.ADAPTIVE and remark is None:
        return AdaptiveSchedule(design)
    return FixedSchedule(design, remark)


def schedule_remark(kind: ScheduleKind, probes: int) -> str | None:
    """Why a budget of so many probes is not spent by the schedule that was asked for; None when it is."""
    if kind is not ScheduleKind.ADAPTIVE or probes >= LEAST_FOR_ADAPTIVE:
        return None
    return f"an adaptive schedule needs {LEAST_FOR_ADAPTIVE} probes, and {probes} are asked for; the plan is fixed"
