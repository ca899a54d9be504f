"""Published scenarios that are run again among the probes, so that no place in the order means a probe (SI-02).

They are no probes: no count of section 6.1 of the extension has them, and the core was frozen before the first of them
ran (AV-12, AV-17). The report sets what each came to beside what the same scenario came to in the core.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.report import CoreResult, UnitResult

PROBES_PER_RERUN = 4
"""By default there is one re-run for so many probes."""
SAME, DIFFERENT, UNDECIDED = "same", "different", "undecided"


@dataclass(frozen=True, slots=True)
class Rerun:
    """One scenario of the core that is run again, when so many probes have been begun."""

    id: str
    bound: BoundScenario
    probes_before: int


@dataclass(frozen=True, slots=True)
class RerunOutcome:
    """What a re-run came to; its evidence is on disk."""

    unit: str
    scenario: str
    status: str | None
    score: float | None
    agent_fault: str | None = None

    @classmethod
    def of(cls, result: UnitResult) -> "RerunOutcome":
        """The line about a re-run."""
        return cls(result.unit, result.bound.scenario.id, result.status, result.score, result.agent_fault)


def drawn_reruns(core: CoreResult, wanted: int, probes: int, seed: int) -> tuple[Rerun, ...]:
    """So many of the profile's scenarios that the core ran, and their places among the probes, drawn for the seed.

    No scenario has a second turn before each has had one.
    """
    published = {one.bound.scenario.id: one.bound for one in core.results if not one.custom}
    shuffled = sorted(published, key=lambda name: derived_seed(seed, "rerun", name))
    drawn = []
    for number in range(wanted if shuffled and probes else 0):
        turn, index = divmod(number, len(shuffled))
        unit = f"{shuffled[index]}.rerun-{turn + 1}"
        place = derived_seed(seed, "rerun place", unit) % (probes + 1)
        drawn.append(Rerun(unit, published[shuffled[index]], place))
    return tuple(sorted(drawn, key=lambda one: one.probes_before))


def rerun_pairs(core: CoreResult, outcomes: Sequence[RerunOutcome], *, asked: int) -> dict[str, Any]:
    """Each re-run beside the core's result for the same scenario, and how many of them differ."""
    in_core = {one.bound.scenario.id: one for one in core.results if not one.custom}
    pairs = [_pair(in_core.get(one.scenario), one) for one in outcomes]
    differing = sum(pair["status"] == DIFFERENT for pair in pairs)
    return {"asked": asked, "run": len(pairs), "different": differing, "pairs": pairs}


def _pair(before: UnitResult | None, after: RerunOutcome) -> dict[str, Any]:
    core = None if before is None else (before.status, before.score)
    again = (after.status, after.score)
    is_decided = core is not None and None not in (core[0], again[0])
    return {
        "scenario_id": after.scenario,
        "unit": after.unit,
        "status": UNDECIDED if not is_decided else SAME if core == again else DIFFERENT,
        "core": _outcome(*core) if core else None,
        "rerun": _outcome(*again),
    }


def _outcome(status: str | None, score: float | None) -> dict[str, Any]:
    return {"status": status, **({} if score is None else {"score": score})}
