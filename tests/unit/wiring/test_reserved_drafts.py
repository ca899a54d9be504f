"""Which proposals for reserved scenarios come first."""

from random import Random

import pytest

from sirocco.wiring.reserved_drafts import Proposal, archetypes_by_turns


def _proposal(archetype: str, number: int, novelty: float) -> Proposal:
    return Proposal(archetype[:4], archetype, novelty, {"id": f"{archetype}.{number}"})


@pytest.mark.requirement("AV-20")
def test_a_few_proposals_are_of_many_categories_and_the_farthest_of_each():
    archetypes = ["C-CA-001", "C-CA-002", "C-CA-003", "C-DA-001", "S-BE-001", "S-BE-002"]
    rows = [_proposal(name, number, number / 10) for name in archetypes for number in range(3)]
    found = archetypes_by_turns(rows, Random(1))
    assert {own[0].category for own in found[:3]} == {"C-CA", "C-DA", "S-BE"}
    assert sorted(own[0].archetype for own in found) == archetypes
    assert all([one.novelty for one in own] == [0.2, 0.1, 0.0] for own in found)


@pytest.mark.requirement("AV-20")
def test_no_category_always_comes_first():
    rows = [_proposal(name, 0, 0.5) for name in ("C-CA-001", "S-BE-001")]
    assert len({archetypes_by_turns(rows, Random(seed))[0][0].category for seed in range(20)}) == 2
