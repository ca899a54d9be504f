"""`sirocco bench diversity`: measures with known answers, beside their targets."""

import pytest

from optional import needs
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco_benchmarks.diversity import Measure, diversity
from sirocco_benchmarks.texts import CanonicalTexts

pytestmark = needs("sklearn", "wordllama")


@pytest.fixture(scope="module")
def scenarios():
    return required_profile(BUNDLED)[0].scenarios


def measured(published, seeds):
    return {one.name: one.now for one in diversity(published, seeds)}


def test_names_and_figures_are_no_difference(scenarios):
    bound = next(one for one in scenarios if one.scenario.prompts)
    name = next(entry.name for entry in bound.scenario.preconditions.environment.state if "-" in entry.name)
    texts = CanonicalTexts(bound)
    assert texts.canonical(f"Scale {name} to 3 replicas") == "scale NAME to NUM replicas"
    assert texts.sentences(f"Look at {name} now. Thanks.") == ("look at NAME now",)


def test_the_same_probes_in_two_seeds_recur_altogether(scenarios):
    some = scenarios[:12]
    found = measured(scenarios, {1: some, 2: some})
    assert found["prompt sentences that recur in another seed"] == 1
    assert found["prompt sentences that are published"] == 1
    assert found["new prompt sentences, last seed to first"] == 0
    assert found["nearest of 600 probes, median"] == pytest.approx(1)
    assert found["nearest has the same goal, tf-idf"] == 1
    assert found["task lists that recur in another seed"] == 1


def test_other_probes_in_two_seeds_recur_less(scenarios):
    same = measured((), {1: scenarios[:30], 2: scenarios[:30]})
    other = measured((), {1: scenarios[:30], 2: scenarios[60:90]})
    assert other["prompt sentences that are published"] == 0
    for name in ("prompt sentences that recur in another seed", "nearest of 600 probes, median"):
        assert other[name] < same[name] / 2


def test_a_target_lies_on_its_side():
    assert Measure("share", 0.05, 0.05).is_reached
    assert not Measure("share", 0.06, 0.05).is_reached
    assert Measure("new", 0.95, 0.9, at_most=False).is_reached
    assert not Measure("new", None, 0.9, at_most=False).is_reached
