"""Statistics of a campaign: what counts of delivered probes say about an agent, and how certain that is (SI-04).

Pure: counts in, figures out. Everything holds for small numbers; only the interval around Chao's estimate, which has no
exact form, uses a normal approximation. docs/decisions/0044 gives the reasons for these methods and cites them.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

CONFIDENCE = 0.95
_DOUBT = 1 - CONFIDENCE
SIGNIFICANCE = 0.05
"""The memorization test accuses at most this share of the agents that did not learn published names."""
_PRIORS = ((0.8, 0.5, 9.5), (0.2, 1.0, 1.0))
"""The prior of the confidence sequence: mostly around a violation rate of 5 %, which `--until` is about, and
everywhere.

Each component is a weight and a beta distribution.
"""
_STEPS = 60
_DIGITS = 4

Interval = tuple[float, float]


@cache
def _special() -> Any:
    """The functions of scipy, imported with the first figure, so that other commands need not wait for them."""
    return import_module("scipy.special")


def exact_interval(failed: int, runs: int) -> Interval:
    """The rates that a number of failures in a fixed number of runs does not rule out (Clopper and Pearson)."""
    if not runs:
        return 0.0, 1.0
    quantile = _special().betaincinv
    low = 0.0 if not failed else float(quantile(failed, runs - failed + 1, _DOUBT / 2))
    high = 1.0 if failed == runs else float(quantile(failed + 1, runs - failed, 1 - _DOUBT / 2))
    return _rounded_outwards(low, high)


def sequence_interval(failed: int, runs: int) -> Interval:
    """The rates not ruled out when a run may end at any interim evaluation: a confidence sequence.

    The likelihood ratio of a mixture of rates to the true rate is a martingale, so the chance that it ever exceeds 1 /
    0.05 is at most 5 % (Ville): over all evaluations, the true rate is excluded no more often than that.
    """
    if not runs:
        return 0.0, 1.0
    passed, special = runs - failed, _special()
    parts = [special.betaln(a + failed, b + passed) - special.betaln(a, b) for _, a, b in _PRIORS]
    mixture = float(special.logsumexp(parts, b=[weight for weight, _, _ in _PRIORS])) + math.log(_DOUBT)

    def is_ruled_out(rate: float) -> bool:
        if rate <= 0 or rate >= 1:
            return bool(failed) if rate <= 0 else bool(passed)
        return mixture >= failed * math.log(rate) + passed * math.log1p(-rate)

    observed = failed / runs
    low = _boundary(is_ruled_out, 0.0, observed)
    high = _boundary(is_ruled_out, 1.0, observed)
    return _rounded_outwards(low, high)


def _rounded_outwards(low: float, high: float) -> Interval:
    """Both ends in few digits, without excluding a rate that is not ruled out."""
    scale = 10**_DIGITS
    return math.floor(low * scale) / scale, math.ceil(high * scale) / scale


def _boundary(is_ruled_out: Callable[[float], bool], outside: float, inside: float) -> float:
    """The boundary between a rate that is ruled out and one that is not."""
    if not is_ruled_out(outside):
        return outside
    for _ in range(_STEPS):
        middle = (outside + inside) / 2
        outside, inside = (middle, inside) if is_ruled_out(middle) else (outside, middle)
    return outside


def chance_of_meeting(probes: Collection[int], *, rate: float) -> float:
    """How likely a plan is to catch an agent with a single hole; `probes` is the number of probes in each part.

    The hole is equally likely to be in any part. There the agent fails at `rate`, elsewhere never.
    """
    return round(math.fsum(1 - (1 - rate) ** number for number in probes) / len(probes), _DIGITS)


@dataclass(frozen=True, slots=True)
class UnseenModes:
    """Chao's estimate of the number of failure modes, from how many were observed once and twice."""

    seen: int
    once: int
    twice: int
    estimate: float
    interval: Interval

    @classmethod
    def from_failures(cls, modes: Iterable[object]) -> "UnseenModes":
        """The estimate (bias-corrected Chao1, a lower bound) from the failure mode of each failed probe."""
        met = Counter(modes)
        often = Counter(met.values())
        seen, once, twice = len(met), often[1], often[2]
        unseen = once * (once - 1) / (2 * (twice + 1))
        return cls(seen, once, twice, round(seen + unseen, 2), _chao_interval(seen, once, twice, unseen))


def _chao_interval(seen: int, once: int, twice: int, unseen: float) -> Interval:
    """Chao's log-normal interval (1987), which never goes below the number observed."""
    if not unseen:
        return float(seen), float(seen)
    pairs = twice + 1
    variance = unseen + once * (2 * once - 1) ** 2 / (4 * pairs**2) + once**2 * twice * (once - 1) ** 2 / (4 * pairs**4)
    spread = math.exp(1.96 * math.sqrt(math.log1p(variance / unseen**2)))
    return round(seen + unseen / spread, 2), round(seen + unseen * spread, 2)


def memorization_p_value(worse: int, better: int) -> float:
    """The chance that at least this many pairs come out worse if names and words make no difference to the agent.

    A sign-flip permutation test on the signs of the differences: original and renamed form are exchangeable in each
    pair, so each differing pair is as likely worse as better. One-sided, exact.
    """
    return 1.0 if not worse else float(_special().betainc(worse, better + 1, 0.5))


def memorization_power(pairs: int, drop: float, failing: float = 0.0) -> float:
    """The chance that the test notices an agent that loses the share `drop` of what it passes under published names.

    `failing` is the share of originals that it fails anyway.
    """
    renamed = failing + drop * (1 - failing)
    worse, better = (1 - failing) * renamed, failing * (1 - renamed)
    if not pairs or worse + better == 0:
        return 0.0
    found = math.fsum(
        _binomial(differing, pairs, worse + better)
        * _at_least(_least_worse(differing), differing, worse / (worse + better))
        for differing in range(1, pairs + 1)
    )
    return min(1.0, found)


def detectable_drop(pairs: int, failing: float = 0.0, *, power: float = 0.8) -> float | None:
    """The smallest drop, in whole points, that the test notices with that power; None if it notices none so well."""
    drops = (points / 100 for points in range(1, 101))
    return next((drop for drop in drops if memorization_power(pairs, drop, failing) >= power), None)


FEWEST_PAIRS = next(number for number in range(1, 100) if 0.5**number <= SIGNIFICANCE)
"""With fewer pairs, the test cannot reach a p-value that small, whatever the agent does."""


@cache
def _least_worse(differing: int) -> int:
    """How many of the differing pairs must be worse for the test to reject.

    More than there are if that is impossible.
    """
    counts = range(differing + 1)
    return next((n for n in counts if memorization_p_value(n, differing - n) <= SIGNIFICANCE), differing + 1)


def _binomial(successes: int, trials: int, chance: float) -> float:
    return math.comb(trials, successes) * chance**successes * (1 - chance) ** (trials - successes)


def _at_least(successes: int, trials: int, chance: float) -> float:
    """The chance of at least that many successes."""
    if successes <= 0:
        return 1.0
    return 0.0 if successes > trials else float(_special().betainc(successes, trials - successes + 1, chance))
