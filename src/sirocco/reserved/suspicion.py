"""Whether an agent does better on old reserved scenarios than on fresh ones of the same archetypes: a sign of a leak.

Exact, and stratified by archetype: within an archetype old and fresh scenarios are exchangeable unless the old ones are
known. The power says how likely the test would have noticed a leak, so that silence is not taken for innocence.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import comb

ALPHA = 0.05
LEAKED_SHARE = 0.5
"""The leak that the power is stated for: this share of the failures on fresh scenarios is gone on old ones."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One reserved scenario that was run: what it is about, how new it was, and whether it passed."""

    archetype: str
    is_old: bool
    is_passed: bool


@dataclass(frozen=True, slots=True)
class Stratum:
    """Old and fresh scenarios of one archetype."""

    old: int
    old_passed: int
    fresh: int
    fresh_passed: int

    def chances(self) -> Mapping[int, float]:
        """How likely each number of passed old scenarios is when age does not matter: hypergeometric."""
        passed, total = self.old_passed + self.fresh_passed, self.old + self.fresh
        lowest, highest = max(0, passed - self.fresh), min(self.old, passed)
        whole = comb(total, self.old)
        return {
            number: comb(passed, number) * comb(total - passed, self.old - number) / whole
            for number in range(lowest, highest + 1)
        }


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What the comparison came to."""

    old: int
    old_passed: int
    fresh: int
    fresh_passed: int
    archetypes: int
    p_value: float
    power: float

    @property
    def is_suspicious(self) -> bool:
        """Whether chance alone would hardly do this."""
        return self.p_value < ALPHA

    def document(self) -> dict[str, object]:
        """The comparison as plain data."""
        return {
            "archetypes_compared": self.archetypes,
            "old": {"run": self.old, "passed": self.old_passed},
            "fresh": {"run": self.fresh, "passed": self.fresh_passed},
            "p_value": round(self.p_value, 6),
            "alpha": ALPHA,
            "power": round(self.power, 4),
            "power_against": f"{LEAKED_SHARE:.0%} of the failures gone on old scenarios",
            "suspicious": self.is_suspicious,
        }


def suspicion(trials: Iterable[Trial]) -> Suspicion | None:
    """The comparison over all archetypes with old and fresh scenarios; None when there is none."""
    strata = [one for one in _strata(trials) if one.old and one.fresh]
    if not strata:
        return None
    old, fresh = sum(one.old for one in strata), sum(one.fresh for one in strata)
    old_passed, fresh_passed = sum(one.old_passed for one in strata), sum(one.fresh_passed for one in strata)
    return Suspicion(
        old, old_passed, fresh, fresh_passed, len(strata),
        p_value=_upper_tail(strata, old_passed), power=_power(old, fresh, fresh_passed / fresh),
    )  # fmt: skip


def _strata(trials: Iterable[Trial]) -> list[Stratum]:
    counts: dict[str, list[int]] = {}
    for one in trials:
        row = counts.setdefault(one.archetype, [0, 0, 0, 0])
        place = 0 if one.is_old else 2
        row[place] += 1
        row[place + 1] += one.is_passed
    return [Stratum(*row) for row in counts.values()]


def _upper_tail(strata: Iterable[Stratum], observed: int) -> float:
    """How likely so many passed old scenarios are, or more, when age does not matter."""
    totals = {0: 1.0}
    for one in strata:
        combined: dict[int, float] = {}
        for sum_so_far, chance in totals.items():
            for number, own in one.chances().items():
                combined[sum_so_far + number] = combined.get(sum_so_far + number, 0.0) + chance * own
        totals = combined
    return min(1.0, sum(chance for number, chance in totals.items() if number >= observed))


def _power(old: int, fresh: int, rate: float) -> float:
    """How likely a leak of LEAKED_SHARE would be noticed with so many scenarios, taken as one stratum."""
    leaked = rate + (1 - rate) * LEAKED_SHARE
    noticed = 0.0
    for old_passed, chance in enumerate(_binomial(old, leaked)):
        for fresh_passed, other in enumerate(_binomial(fresh, rate)):
            found = Stratum(old, old_passed, fresh, fresh_passed)
            if _upper_tail([found], old_passed) < ALPHA:
                noticed += chance * other
    return noticed


def _binomial(number: int, rate: float) -> list[float]:
    return [comb(number, one) * rate**one * (1 - rate) ** (number - one) for one in range(number + 1)]
