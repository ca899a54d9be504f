"""Whether an agent does better on old reserved scenarios than on fresh ones of the same archetypes: a sign of a leak.

Exact, and stratified by run and archetype: there, old and fresh scenarios are exchangeable unless the old ones are
known. The power says how likely the test would have noticed a leak, so that silence is not mistaken for innocence.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from math import comb
from typing import Any

ALPHA = 0.05
LEAKED_SHARE = 0.5
"""The leak that the power is stated for: this share of the failures on fresh scenarios is missing on old ones."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One reserved scenario that was run: its subject, its age, and whether it passed."""

    archetype: str
    is_old: bool
    is_passed: bool
    run: int = 0
    """The run it belongs to: an agent that changed between runs is only compared with itself."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Old and fresh scenarios of one archetype in one run."""

    old: int
    old_passed: int
    fresh: int
    fresh_passed: int

    @property
    def passed(self) -> int:
        """How many passed, old and fresh."""
        return self.old_passed + self.fresh_passed

    def chances(self) -> tuple[float, ...]:
        """The probability of each number of passed old scenarios, from none on, if age does not matter."""
        return _hypergeometric(self.old, self.fresh, self.passed)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The result of the comparison."""

    old: int
    old_passed: int
    fresh: int
    fresh_passed: int
    archetypes: int
    p_value: float
    power: float

    @property
    def is_suspicious(self) -> bool:
        """Whether chance alone would hardly produce this."""
        return self.p_value < ALPHA

    def document(self) -> dict[str, object]:
        """The comparison as plain data."""
        return {
            "archetypes_compared": self.archetypes,
            "old": {"run": self.old, "passed": self.old_passed},
            "fresh": {"run": self.fresh, "passed": self.fresh_passed},
            "p_value": round(self.p_value, 6),
            "alpha": ALPHA,
            "power": round(self.power, 2),
            "power_against": f"{LEAKED_SHARE:.0%} of the failures gone on old scenarios",
            "suspicious": self.is_suspicious,
        }


def suspicion(trials: Iterable[Trial], simulations: int = 1000) -> Suspicion | None:
    """The comparison over all archetypes with old and fresh scenarios in one run; None if there are none.

    A thousand simulations give the power within three points, nineteen times out of twenty.
    """
    strata = {place: one for place, one in _strata(trials).items() if one.old and one.fresh}
    if not strata:
        return None
    rows = list(strata.values())
    old, fresh = sum(one.old for one in rows), sum(one.fresh for one in rows)
    old_passed, fresh_passed = sum(one.old_passed for one in rows), sum(one.fresh_passed for one in rows)
    return Suspicion(
        old, old_passed, fresh, fresh_passed, len({archetype for _, archetype in strata}),
        p_value=_p_value(rows), power=_power(rows, fresh_passed / fresh, simulations),
    )  # fmt: skip


def _strata(trials: Iterable[Trial]) -> dict[tuple[int, str], Stratum]:
    counts: dict[tuple[int, str], list[int]] = {}
    for one in trials:
        row = counts.setdefault((one.run, one.archetype), [0, 0, 0, 0])
        place = 0 if one.is_old else 2
        row[place] += 1
        row[place + 1] += one.is_passed
    return {place: Stratum(*row) for place, row in counts.items()}


def _p_value(strata: Sequence[Stratum]) -> float:
    """The probability of at least this many passed old scenarios if age does not matter."""
    chances = _numpy().ones(1)
    for one in strata:
        chances = _numpy().convolve(chances, one.chances())
    return min(1.0, float(chances[sum(one.old_passed for one in strata) :].sum()))


@cache
def _hypergeometric(old: int, fresh: int, passed: int) -> tuple[float, ...]:
    whole = comb(old + fresh, passed)
    return tuple(
        comb(old, number) * comb(fresh, passed - number) / whole if number <= passed else 0.0
        for number in range(old + 1)
    )


def _power(strata: Sequence[Stratum], rate: float, simulations: int) -> float:
    """How often a leak of LEAKED_SHARE is noticed in simulated runs of exactly these scenarios; always the same result.

    No formula is exact for several small strata, and one for a single large stratum promises too much.
    """
    dice, leaked = _numpy().random.default_rng(0), rate + (1 - rate) * LEAKED_SHARE
    old = [dice.binomial(one.old, leaked, simulations).tolist() for one in strata]
    fresh = [dice.binomial(one.fresh, rate, simulations).tolist() for one in strata]
    noticed = 0
    for number in range(simulations):
        simulated = [
            Stratum(one.old, old[place][number], one.fresh, fresh[place][number]) for place, one in enumerate(strata)
        ]
        noticed += _p_value(simulated) < ALPHA
    return noticed / max(simulations, 1)


@cache
def _numpy() -> Any:
    """numpy, imported with the first figure, so that other commands need not wait for it."""
    return import_module("numpy")
