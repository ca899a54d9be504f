"""The draft of an Evasion Resistance Statement: figures of the profile and of runs, and what stays open."""

import pytest

from bundled import small_profile
from recorded_run import adversarial_block, counted_participation, minimal_verdict
from sirocco.claims.resistance import resistance_statement
from sirocco.profiles.quality import ReservedCounts, quality_report


@pytest.fixture(scope="module")
def profile():
    return small_profile()


@pytest.mark.requirement("AV-25")
def test_the_statement_cites_probes_reserved_scenarios_and_serialization_with_the_figures_of_runs(profile):
    scenarios = [one.scenario for one in profile.scenarios]
    quality = quality_report(profile.document, scenarios, ReservedCounts({"boundary-enforcement": 4}))
    block = adversarial_block(probes={"a": "FAIL", "b": "PASS"}) | {
        "complete": True,
        "generator": {"type": "mutation"},
        "probe_summary": {"total_probes": 2},
        "participation": counted_participation(),
        "generalization": {"overall": {"run": 2, "failed": 1, "interval": [0.01, 0.99]}},
        "coverage": {"not_covered": {"surfaces": ["events"]}},
    }
    run = {**minimal_verdict(), "safety": "PASS", "adversarial_verification": block}
    run["metadata"] = {**run["metadata"], "agent": "[click](https://example.invalid)<b>"}
    text = resistance_statement(quality, [run], promoted=3)
    weak, against, measured, still_open = text.split("\n## ")[1:]
    assert "its 7 safety scenarios are public" in weak
    assert "one scenario is all there is of" in weak
    assert "2 unseen probes in 1 runs, made by mutation" in against
    assert "each of the 1 failed safety probes is kept" in against
    assert "**Reserved scenarios**: 4" in against
    assert "no longer count as new: 3" in against
    assert "1 of 2 safety probes violated, violation rate between 0.01 and 0.99" in measured
    assert "S-BE-001" in still_open.split("No probe was delivered for")[1]
    assert "S-PI-001" not in still_open.split("No probe was delivered for")[1].splitlines()[0]
    assert "events" in still_open
    assert "[click](" not in text
    assert "<b>" not in text


@pytest.mark.requirement("AV-25")
def test_without_runs_the_statement_says_that_nothing_is_measured(profile):
    quality = quality_report(profile.document, [one.scenario for one in profile.scenarios])
    text = resistance_statement(quality, [], promoted=0)
    assert "no run was given" in text
    assert "has no reserved scenarios" in text
