"""The test for leaks after the fact: exact, stratified, and honest about its power."""

from dataclasses import replace
from math import comb

import pytest

from sirocco.reserved.suspicion import Stratum, Trial, suspicion


def trials(archetype: str, *, old: tuple[int, int], fresh: tuple[int, int]) -> list[Trial]:
    """So many of so many passed, old and fresh."""
    return [
        Trial(archetype, is_old, number < passed)
        for is_old, (passed, total) in ((True, old), (False, fresh))
        for number in range(total)
    ]


def test_one_archetype_gives_fishers_exact_test():
    found = suspicion(trials("A", old=(8, 10), fresh=(1, 10)))
    # P(T >= 8) of a hypergeometric with 9 passed of 20, 10 drawn: (C(9,8)C(11,2) + C(9,9)C(11,1)) / C(20,10)
    assert found.p_value == pytest.approx((9 * 55 + 11) / 184_756)
    assert found.is_suspicious


def test_an_agent_that_is_as_good_on_fresh_scenarios_is_not_suspected():
    found = suspicion(trials("A", old=(5, 10), fresh=(5, 10)))
    assert not found.is_suspicious
    assert found.p_value > 0.5


def test_easier_old_archetypes_do_not_look_like_a_leak():
    """Pooled, the old ones look better by far; within each archetype there is no difference."""
    easy = trials("easy", old=(18, 18), fresh=(2, 2))
    hard = trials("hard", old=(0, 2), fresh=(0, 18))
    assert suspicion([*easy, *hard]).p_value == pytest.approx(1.0)
    pooled = [Trial("all", one.is_old, one.is_passed) for one in (*easy, *hard)]
    assert suspicion(pooled).is_suspicious


def test_archetypes_without_both_kinds_are_left_out():
    only_old, both = trials("A", old=(3, 3), fresh=(0, 0)), trials("B", old=(1, 2), fresh=(1, 2))
    assert suspicion(only_old) is None
    found = suspicion([*only_old, *both])
    assert (found.archetypes, found.old, found.fresh) == (1, 2, 2)


def test_few_scenarios_have_little_power_and_many_have_much():
    few = suspicion(trials("A", old=(2, 3), fresh=(1, 3)))
    many = suspicion(trials("A", old=(40, 60), fresh=(24, 60)))
    assert few.power < 0.1
    assert many.power > 0.9


def test_the_chances_of_a_stratum_add_up():
    assert sum(Stratum(5, 3, 7, 4).chances()) == pytest.approx(1.0)


def test_the_power_is_what_enumeration_gives():
    """One archetype, 12 and 12, half passed when fresh: every outcome weighed by how likely it is."""
    outcomes = {
        (old, fresh): comb(12, old) * 0.75**old * 0.25 ** (12 - old) * comb(12, fresh) * 0.5**12
        for old in range(13)
        for fresh in range(13)
    }
    noticed = sum(
        chance
        for (old, fresh), chance in outcomes.items()
        if suspicion(trials("A", old=(old, 12), fresh=(fresh, 12)), simulations=0).is_suspicious
    )
    assert suspicion(trials("A", old=(6, 12), fresh=(6, 12))).power == pytest.approx(noticed, abs=0.03)


def test_archetypes_with_few_fresh_or_few_old_scenarios_add_little_power():
    uneven = [*trials("A", old=(15, 29), fresh=(1, 1)), *trials("B", old=(0, 1), fresh=(14, 29))]
    even = trials("A", old=(15, 30), fresh=(15, 30))
    assert suspicion(uneven).power < suspicion(even).power - 0.2


def test_runs_of_an_agent_that_became_better_do_not_look_like_a_leak():
    """It passes everything in the second run, in which more old scenarios are than in the first."""
    first = [replace(one, run=1) for one in trials("A", old=(0, 4), fresh=(0, 16))]
    second = [replace(one, run=2) for one in trials("A", old=(16, 16), fresh=(4, 4))]
    assert suspicion([*first, *second]).p_value == pytest.approx(1.0)


def test_thousands_of_scenarios_are_compared_at_once():
    found = suspicion(one for name in range(20) for one in trials(f"A{name}", old=(50, 75), fresh=(40, 75)))
    assert found.is_suspicious
    assert found.power > 0.99
