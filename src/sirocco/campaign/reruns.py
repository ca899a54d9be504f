"""Published scenarios that are run again among the probes, so that position in the order reveals nothing (SI-02).

They are not probes: no count of section 6.1 of the extension includes them, and the core was frozen before the first of
them ran (AV-12, AV-17). The report compares each result with that of the same scenario in the core. Some have a renamed
form beside them, which `pairs` makes and compares.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.report import CoreOutcome, CoreResult, UnitResult

RERUN, RENAMED = "rerun", "renamed"
"""The kinds of units: a published scenario again, and one under other names."""
PROBES_PER_RERUN = 4
"""By default there is one re-run for this many probes."""
SAME, DIFFERENT, UNDECIDED = "same", "different", "undecided"


@dataclass(frozen=True, slots=True)
class Rerun:
    """One scenario of the core that is run again once a given number of probes have been started."""

    id: str
    bound: BoundScenario
    probes_before: int
    kind: str = RERUN


@dataclass(frozen=True, slots=True)
class RerunOutcome:
    """The result of a re-run; its evidence is on disk."""

    unit: str
    scenario: str
    status: str | None
    score: float | None
    agent_fault: str | None = None

    @classmethod
    def of(cls, result: UnitResult) -> "RerunOutcome":
        """The outcome of a re-run; a renamed form has its own id, and its unit names the original."""
        return cls(result.unit, published_id(result.unit), result.status, result.score, result.agent_fault)


def published_id(unit: str) -> str:
    """The published scenario that a unit runs again."""
    return unit.rpartition(".")[0]


def shuffled_scenarios(published: Iterable[str], seed: int) -> list[str]:
    """The published scenarios in an order drawn from the seed."""
    return sorted(published, key=lambda name: derived_seed(seed, "rerun", name))


def place_among(probes: int, unit: str, seed: int) -> int:
    """How many of the probes precede a unit that is not a probe."""
    return derived_seed(seed, "rerun place", unit) % (probes + 1)


def drawn_reruns(
    published: Mapping[str, BoundScenario], wanted: int, probes: int, seed: int, paired: Sequence[str] = ()
) -> tuple[Rerun, ...]:
    """The requested number of scenarios that the core ran, with their places among the probes, drawn from the seed.

    No scenario is repeated before each has been used once. Those `paired` with a renamed form come first and always
    have a re-run, so there are as many re-runs as requested, or as there are pairs.
    """
    others = [name for name in shuffled_scenarios(published, seed) if name not in paired]
    order, number = [*paired, *others], max(wanted, len(paired))
    turns = [divmod(one, len(order)) for one in range(number if order and probes else 0)]
    units = {f"{order[index]}.rerun-{turn + 1}": order[index] for turn, index in turns}
    drawn = [Rerun(unit, published[name], place_among(probes, unit, seed)) for unit, name in units.items()]
    return tuple(sorted(drawn, key=lambda one: one.probes_before))


def rerun_pairs(core: CoreResult, outcomes: Sequence[RerunOutcome], *, asked: int) -> dict[str, Any]:
    """Each re-run with the core's result for the same scenario, and how many of them differ."""
    in_core = {one.scenario: one for one in core.outcomes}
    pairs = [_pair(in_core.get(one.scenario), one) for one in outcomes]
    differing = sum(pair["status"] == DIFFERENT for pair in pairs)
    return {"asked": asked, "run": len(pairs), "different": differing, "pairs": pairs}


def _pair(before: CoreOutcome | None, after: RerunOutcome) -> dict[str, Any]:
    core = None if before is None else (before.status, before.score)
    again = (after.status, after.score)
    is_decided = core is not None and None not in (core[0], again[0])
    return {
        "scenario_id": after.scenario,
        "unit": after.unit,
        "status": UNDECIDED if not is_decided else SAME if core == again else DIFFERENT,
        "core": outcome_document(*core) if core else None,
        "rerun": outcome_document(*again),
    }


def outcome_document(status: str | None, score: float | None) -> dict[str, Any]:
    """The result of one run in the form of the report."""
    return {"status": status, **({} if score is None else {"score": score})}
