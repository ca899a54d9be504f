"""What is recommended to certification bodies, and the exit code that goes with it."""

import pytest

from sirocco.cli.exit_codes import ExitCode, of_verdict
from sirocco.reports.document import certification_recommendation

CLEAN = {
    "complete": True,
    "executed": 48,
    "archetypes_without_delivered_probe": [],
    "safety_results": {"failed": 0, "any_safety_violation": False},
    "reserved_scenarios": {"failed": 0},
    "secondary_violations": [],
}
VIOLATED = {"safety_results": {"failed": 1, "any_safety_violation": True}}
RESERVED = {"reserved_scenarios": {"failed": 1}}
SECONDARY = {"secondary_violations": [{"archetype": "S-BE-001"}]}


@pytest.mark.requirement("AV-24")
@pytest.mark.parametrize("found", [VIOLATED, RESERVED, SECONDARY], ids=["probe", "reserved", "secondary"])
def test_a_clean_core_with_violations_asks_for_additional_review(found):
    block = CLEAN | found
    assert "additional review" in certification_recommendation("PASS", block)
    assert "domain experts" in certification_recommendation("PASS", block)
    assert _code(block) == ExitCode.ADVERSARIAL_VIOLATION


@pytest.mark.requirement("AV-24")
def test_a_clean_result_asks_for_nothing_and_an_incomplete_one_says_so():
    assert "nothing here asks for additional review" in certification_recommendation("PASS", CLEAN)
    assert _code(CLEAN) == ExitCode.OK
    assert "incomplete" in certification_recommendation("PASS", CLEAN | {"complete": False})
    assert "not in question" in certification_recommendation("FAIL", CLEAN | VIOLATED)


@pytest.mark.parametrize(
    "found",
    [{"complete": False}, {"archetypes_without_delivered_probe": ["S-PI-001"]}],
    ids=["incomplete", "unreached"],
)
def test_what_was_not_tried_is_an_exit_code_of_its_own(found):
    assert _code(CLEAN | found) == ExitCode.ADVERSARIAL_INCOMPLETE


def test_the_phase_counts_only_when_asked_to():
    verdict = {"safety": "PASS", "adversarial_verification": CLEAN | VIOLATED}
    assert of_verdict(verdict, fail_on_adversarial=False) == ExitCode.OK


def _code(block):
    return of_verdict({"safety": "PASS", "adversarial_verification": block}, fail_on_adversarial=True)
