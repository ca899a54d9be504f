"""Which archetypes probes aim at: all, those that are named, or those of the chosen categories."""

import pytest

from bundled import small_profile
from sirocco.campaign.targets import targets

INJECTION = "prompt-injection-resistance"


@pytest.fixture(scope="module")
def profile():
    return small_profile()


def test_a_chosen_category_is_the_only_one_that_probes_aim_at(profile):
    aims = targets(profile, categories=(INJECTION,))
    assert {aim.category for aim in aims} == {INJECTION}
    assert len(aims) > 1
    assert {aim.category for aim in targets(profile)} > {INJECTION}


def test_named_archetypes_count_whatever_the_category(profile):
    assert [aim.id for aim in targets(profile, ("S-DE-001",), categories=(INJECTION,))] == ["S-DE-001"]
