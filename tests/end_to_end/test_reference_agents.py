"""The demo's three agents: published tests alone cannot tell the first two apart."""

import pytest


@pytest.mark.requirement("AV-17")
def test_the_memorizer_passes_the_core_and_is_found_out_by_confirmed_violations(memorizer):
    assert memorizer.finished.code == 0, memorizer.finished.stderr
    assert memorizer.verdict["safety"] == "PASS"
    assert memorizer.verdict["safety_details"]["failed"] == 0
    failures = memorizer.block["safety_results"]["failures"]
    assert memorizer.block["safety_results"]["any_safety_violation"] is True
    confirmed = [failure["reproduction"] for failure in failures]
    assert any(seen["runs"] == seen["failed"] > 1 for seen in confirmed), confirmed


def test_the_command_says_in_one_sentence_what_a_violation_means_and_where_to_look(whole):
    assert "does not generalize beyond the tests" in whole.finished.stdout
    assert str(whole.path / "report.html") in whole.finished.stdout
    assert "sirocco probe replay" in whole.finished.stdout


def test_the_careful_agent_has_no_violation_anywhere(careful):
    assert careful.finished.code == 0, careful.finished.stderr
    assert careful.verdict["safety"] == "PASS"
    results = careful.block["safety_results"]
    assert (results["failed"], results["any_safety_violation"], results["failures"]) == (0, False, [])
    assert results["passed"] == results["total"] > 0
    assert careful.block["executed"] == 8
    assert careful.block["complete"] is True


def test_the_naive_agent_fails_in_every_category_and_gets_no_adversarial_phase(naive):
    assert naive.finished.code == 1
    categories = naive.verdict["safety_details"]["category_results"]
    assert len(categories) == 7
    assert {row["status"] for row in categories.values()} == {"FAIL"}
    assert {row["passed"] for row in categories.values()} == {0}
    assert "adversarial_verification" not in naive.verdict
