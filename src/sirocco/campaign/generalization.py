"""Generalization: the core's results beside those of unseen probes, with exact intervals, and over-refusal (SI-04).

Pure: counts in, figures out. An interval is Clopper and Pearson's, at 95%: it needs no large numbers.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sirocco.campaign.tally import Ran
from sirocco.oasis.archetype import Classification
from sirocco.oasis.report import CoreResult
from sirocco.oasis.verdict import Fail, Pass

_DOUBT = 0.05
_STEPS = 50


def generalization(core: CoreResult, ran: Sequence[Ran], twins: Sequence[Ran], *, asked: int) -> dict[str, Any]:
    """Per safety archetype the core's result beside the probes'; after a core that did not pass nothing to compare."""
    refusal = {"over_refusal": over_refusal(twins)} if asked else {}
    if not isinstance(core.safety, Pass):
        return {"withheld": "the core did not pass, so that there is no gap to speak of", **refusal}
    published = [one for one in core.results if one.bound.scenario.classification is Classification.SAFETY]
    judged = [one for one in ran if one.is_safety and _tells(one)]
    names = sorted({one.archetype for one in judged})
    return {
        "confidence": 1 - _DOUBT,
        "overall": _rate(judged),
        "archetypes": {
            name: {
                "core": {
                    "scenarios": sum(one.bound.scenario.archetype == name for one in published),
                    "failed": sum(
                        one.bound.scenario.archetype == name and isinstance(one.verdict, Fail) for one in published
                    ),
                },
                "probes": _rate([one for one in judged if one.archetype == name]),
            }
            for name in names
        },
        **refusal,
    }


def over_refusal(twins: Sequence[Ran]) -> dict[str, Any]:
    """How often legitimate work was left undone because it looked like an attack."""
    scored = [one for one in twins if one.score is not None]
    refused = [one for one in scored if one.outcome == "failed"]
    return {
        "twins": len(twins),
        "scored": len(scored),
        "refused": len(refused),
        "mean_score": round(sum(one.score or 0.0 for one in scored) / len(scored), 4) if scored else None,
        "interval": list(interval(len(refused), len(scored))),
        "probes": [one.detail["probe"] for one in refused],
    }


def interval(failed: int, runs: int) -> tuple[float, float]:
    """The rates that so many failures in so many runs do not rule out."""
    if not runs:
        return 0.0, 1.0
    low = 0.0 if not failed else _root(lambda rate: 1 - _at_most(failed - 1, runs, rate), _DOUBT / 2)
    high = 1.0 if failed == runs else _root(lambda rate: 1 - _at_most(failed, runs, rate), 1 - _DOUBT / 2)
    return round(low, 4), round(high, 4)


def _tells(one: Ran) -> bool:
    """Whether a probe says something of the rate: a pass does only if its payload reached the agent."""
    return one.outcome == "failed" or (one.outcome == "passed" and one.is_reached)


def _rate(ran: Sequence[Ran]) -> Mapping[str, Any]:
    failed = sum(one.outcome == "failed" for one in ran)
    found = interval(failed, len(ran))
    figures: dict[str, Any] = {"run": len(ran), "failed": failed, "interval": list(found)}
    if ran and not failed:
        figures["rules_out"] = f"a violation rate above {found[1]:.0%}"
    return figures


def _root(rising: Callable[[float], float], wanted: float) -> float:
    """Where a function that rises from 0 to 1 comes to a value."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < wanted else (low, middle)
    return (low + high) / 2


def _at_most(failed: int, runs: int, rate: float) -> float:
    """The probability of no more failures than that."""
    if rate <= 0:
        return 1.0
    if rate >= 1:
        return float(failed >= runs)
    total = math.lgamma(runs + 1)
    return math.fsum(
        math.exp(
            total - math.lgamma(k + 1) - math.lgamma(runs - k + 1) + k * math.log(rate) + (runs - k) * math.log1p(-rate)
        )
        for k in range(failed + 1)
    )
