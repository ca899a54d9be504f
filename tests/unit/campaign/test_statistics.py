"""Statistics against known truth: coverage, error rates and power, by enumeration where that can be, else by dice.

Where everything is enumerated nothing is left to chance, and no tolerance hides a small error.
"""

import math
from random import Random

import pytest

from sirocco.campaign.statistics import (
    FEWEST_PAIRS,
    SIGNIFICANCE,
    UnseenModes,
    chance_of_meeting,
    detectable_drop,
    exact_interval,
    memorization_p_value,
    memorization_power,
    sequence_interval,
)

RATES = (0.01, 0.05, 0.13, 0.3, 0.5, 0.77, 0.96)


def binomial(successes: int, trials: int, chance: float) -> float:
    return math.comb(trials, successes) * chance**successes * (1 - chance) ** (trials - successes)


def holds(interval: tuple[float, float], rate: float) -> bool:
    return interval[0] <= rate <= interval[1]


def ever_missed(interval, rate: float, looks: range) -> float:
    """The chance that an interval leaves the true rate out at one of the looks at least, enumerated."""
    chances, missed = {0: 1.0}, 0.0
    for runs in range(1, looks[-1] + 1):
        following: dict[int, float] = {}
        for failed, chance in chances.items():
            following[failed] = following.get(failed, 0.0) + chance * (1 - rate)
            following[failed + 1] = following.get(failed + 1, 0.0) + chance * rate
        out = {failed for failed in following if runs in looks and not holds(interval(failed, runs), rate)}
        missed += sum(following.pop(failed) for failed in out)
        chances = following
    return missed


@pytest.mark.requirement("SI-04")
@pytest.mark.parametrize("runs", [1, 7, 12, 30])
@pytest.mark.parametrize("rate", RATES)
def test_exact_intervals_hold_the_true_rate_at_least_as_often_as_they_say(runs, rate):
    found = sum(binomial(k, runs, rate) for k in range(runs + 1) if holds(exact_interval(k, runs), rate))
    assert found >= 0.95


@pytest.mark.requirement("SI-04")
@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_a_sequence_holds_the_true_rate_at_all_looks_together(rate):
    assert ever_missed(sequence_interval, rate, range(1, 81)) <= 0.05


@pytest.mark.requirement("SI-04")
def test_intervals_for_a_fixed_number_do_not_survive_looking_again_and_again():
    assert ever_missed(exact_interval, 0.2, range(1, 81)) > 0.05


@pytest.mark.long
@pytest.mark.requirement("SI-04")
@pytest.mark.parametrize("rate", RATES)
def test_a_sequence_holds_the_true_rate_over_a_long_run(rate):
    assert ever_missed(sequence_interval, rate, range(1, 401)) <= 0.05


def test_a_sequence_costs_little_more_than_knowing_the_number_beforehand():
    for runs in (48, 100, 480):
        fixed, sequence = exact_interval(0, runs)[1], sequence_interval(0, runs)[1]
        assert fixed < sequence < 1.5 * fixed
    assert sequence_interval(0, 0) == (0.0, 1.0)
    assert sequence_interval(30, 30)[1] == 1.0
    assert sequence_interval(30, 30)[0] > 0.7


@pytest.mark.requirement("SI-04")
@pytest.mark.parametrize("pairs", [FEWEST_PAIRS, 12, 40])
@pytest.mark.parametrize("differing", [0.02, 0.3, 0.7, 1.0])
def test_the_memorization_test_accuses_at_most_one_honest_agent_in_twenty(pairs, differing):
    accused = sum(
        binomial(m, pairs, differing) * binomial(worse, m, 0.5)
        for m in range(pairs + 1)
        for worse in range(m + 1)
        if memorization_p_value(worse, m - worse) <= SIGNIFICANCE
    )
    assert accused <= 0.05


def test_the_p_value_is_the_share_of_sign_flips_that_come_out_as_bad():
    for worse, better in ((5, 0), (6, 2), (3, 3), (0, 4)):
        both = worse + better
        flips = sum(signs.bit_count() >= worse for signs in range(2**both))
        assert memorization_p_value(worse, better) == pytest.approx(flips / 2**both)


def _trial(dice: Random, pairs: int, drop: float, failing: float) -> tuple[bool, float]:
    """Whether the test noticed an agent, and the power that a report would state for it."""
    renamed = failing + drop * (1 - failing)
    outcomes = [(dice.random() < failing, dice.random() < renamed) for _ in range(pairs)]
    worse = sum(not original and other for original, other in outcomes)
    better = sum(original and not other for original, other in outcomes)
    observed = sum(original for original, _ in outcomes) / pairs
    return memorization_p_value(worse, better) <= SIGNIFICANCE, memorization_power(pairs, drop, observed)


def _check_power(pairs: int, drop: float, failing: float, trials: int) -> None:
    dice = Random(4)
    found = [_trial(dice, pairs, drop, failing) for _ in range(trials)]
    noticed, stated = (sum(values) / trials for values in zip(*found, strict=True))
    assert noticed == pytest.approx(stated, abs=0.05)


@pytest.mark.requirement("SI-04")
@pytest.mark.parametrize(("pairs", "drop", "failing"), [(12, 0.5, 0.0), (24, 0.3, 0.05)])
def test_the_stated_power_is_the_share_of_such_agents_that_are_noticed(pairs, drop, failing):
    _check_power(pairs, drop, failing, 1500)


@pytest.mark.long
@pytest.mark.requirement("SI-04")
@pytest.mark.parametrize("pairs", [8, 20, 60])
@pytest.mark.parametrize("drop", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("failing", [0.0, 0.1, 0.3])
def test_the_stated_power_is_right_for_many_agents(pairs, drop, failing):
    _check_power(pairs, drop, failing, 4000)


def test_more_pairs_notice_smaller_drops_and_few_notice_none():
    assert FEWEST_PAIRS == 5
    assert memorization_power(FEWEST_PAIRS - 1, 1.0) == 0.0
    assert memorization_power(FEWEST_PAIRS, 1.0) == pytest.approx(1.0)
    assert detectable_drop(4) is None
    drops = [detectable_drop(pairs) for pairs in (8, 16, 32, 64)]
    assert drops == sorted(drops, reverse=True)
    assert memorization_power(0, 0.5) == 0.0


@pytest.mark.requirement("SI-04")
def test_the_chance_of_meeting_a_hole_is_the_share_of_holes_that_are_met():
    probes = (0, 1, 2, 5)
    dice = Random(7)
    for rate in (1.0, 0.5):
        met = sum(any(dice.random() < rate for _ in range(dice.choice(probes))) for _ in range(20_000)) / 20_000
        assert chance_of_meeting(probes, rate=rate) == pytest.approx(met, abs=0.015)


@pytest.mark.requirement("SI-04")
def test_the_number_of_failure_modes_is_estimated_from_below():
    dice = Random(11)
    truth, estimates = 40, []
    for _ in range(200):
        estimates.append(UnseenModes.from_failures(dice.randrange(truth) for _ in range(50)))
    mean = sum(one.estimate for one in estimates) / len(estimates)
    seen = sum(one.seen for one in estimates) / len(estimates)
    assert seen < 30 < mean < truth * 1.05
    assert sum(holds(one.interval, truth) for one in estimates) >= 0.9 * len(estimates)
    assert all(one.seen <= one.interval[0] <= one.estimate <= one.interval[1] for one in estimates)


def test_where_every_mode_was_met_often_none_is_missing():
    found = UnseenModes.from_failures("aaabbbccc")
    assert (found.seen, found.estimate, found.interval) == (3, 3.0, (3.0, 3.0))
