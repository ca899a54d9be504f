"""Two runs beside each other: only what is comparable is compared."""

import copy
from typing import Any

import pytest

from recorded_run import Told, adversarial_block, recorded_run, verdict_of
from sirocco.reports.comparison import comparison, side_by_side


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory) -> tuple[Any, Any]:
    folder = tmp_path_factory.mktemp("compare")
    failed = verdict_of(recorded_run(folder / "failed", Told(deletes=True)))
    return failed, verdict_of(recorded_run(folder / "passed", Told()))


def test_what_changed_is_named_with_its_direction_and_reason(verdicts):
    failed, passed = verdicts
    better, worse = comparison(failed, passed), comparison(passed, failed)
    assert [(one.id, one.before, one.after, one.better) for one in better.safety.changed] == [
        ("test.safety.pi.note-001", "FAIL", "PASS", True),
        ("test.safety.pi.note-002", "FAIL", "PASS", True),
    ]
    assert [one.better for one in worse.safety.changed] == [False, False]
    assert "forbidden operation" in worse.safety.changed[0].why
    assert better.capability.only_after == ("test.capability.oe.scale-001",)
    assert better.scores == ()


def test_the_same_run_has_no_difference(verdicts):
    _, passed = verdicts
    found = comparison(passed, passed)
    assert found.safety.changed == found.capability.changed == ()
    assert {one.difference for one in found.scores} == {0.0}


@pytest.mark.requirement("CO-03")
def test_scores_have_a_difference_at_the_same_tier_only(verdicts):
    _, passed = verdicts
    other = copy.deepcopy(dict(passed))
    other["capability"]["domain_categories"]["operational-execution"]["score"] = 0.75
    other["scenario_details"][2] |= {"score": 0.75, "band": "more"}
    found = comparison(passed, other)
    assert [(one.id, one.difference) for one in found.scores if one.difference] == [("operational-execution", 0.25)]
    assert [(one.before, one.after, one.better) for one in found.capability.changed] == [
        ("0.50 looked", "0.75 more", True)
    ]
    other["capability"]["tier"] = 2
    assert {one.difference for one in comparison(passed, other).scores} == {None}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("domain_profile_version",), "9.9.9", "then 9.9.9"),
        (("domain_profile_digest",), "sha256:1", "profile content differs"),
        (("environment", "tier"), 3, "tier differs: 1, then 3"),
        (("agent_configuration",), {"mode": "read_only"}, "agent configuration differs"),
        (("evaluation_mode", "filters"), {"scenario": ["x"]}, "selection of scenarios differs"),
    ],
)
def test_runs_that_are_not_alike_are_warned_about(verdicts, path, value, said):
    _, passed = verdicts
    other = copy.deepcopy(dict(passed))
    place = other["metadata"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert any(said in warning for warning in comparison(passed, other).warnings)
    assert not any("differs" in warning for warning in comparison(passed, passed).warnings)


@pytest.mark.requirement("AV-23")
def test_adversarial_results_are_compared_over_the_same_probes_only(verdicts):
    _, passed = verdicts
    first = {**passed, "adversarial_verification": adversarial_block(probes={"a": "FAIL", "b": "PASS", "c": "FAIL"})}
    second = {**passed, "adversarial_verification": adversarial_block(probes={"a": "PASS", "b": "PASS", "d": "FAIL"})}
    found = comparison(first, second)
    assert [(one.id, one.better) for one in found.probes.changed] == [("a", True)]
    assert found.probes.same == 1
    assert "2 probes" in found.probes_note
    others = {**passed, "adversarial_verification": adversarial_block(probes={"x": "PASS"})}
    assert comparison(first, others).probes is None
    assert "no probe was run in both" in comparison(first, others).probes_note
    assert "first run has no" in comparison(passed, first).probes_note
    assert "neither" in comparison(passed, passed).probes_note


@pytest.mark.requirement("AV-23")
@pytest.mark.parametrize(
    ("scores", "changed"),
    [((1.0, 0.4), [("a", "1.00", "0.40", False)]), ((0.0, 0.4), [("a", "0.00", "0.40", True)]), ((0.4, 0.4), [])],
)
def test_a_capability_probe_is_compared_by_its_score(verdicts, scores, changed):
    _, passed = verdicts
    runs = []
    for score in scores:
        block = adversarial_block(probes={"a": "PASS"})
        (detail,) = block["probe_details"]
        runs.append({**passed, "adversarial_verification": {**block, "probe_details": [{**detail, "score": score}]}})
    found = comparison(*runs).probes.changed
    assert [(one.id, one.before, one.after, one.better) for one in found] == changed


def test_a_comparison_is_plain_data(verdicts):
    document = comparison(*verdicts).document()
    assert document["core"]["safety"]["changed"][0]["after"] == "PASS"
    assert document["before"]["safety"] == "FAIL"


@pytest.mark.requirement("AV-23")
def test_many_runs_stand_side_by_side_with_what_is_comparable_said(verdicts):
    failed, passed = (copy.deepcopy(one) for one in verdicts)
    other = copy.deepcopy(passed)
    other["metadata"]["environment"]["tier"] = 2
    failed["adversarial_verification"] = adversarial_block(probes={"a": "FAIL", "b": "PASS"})
    for one in (passed, other):
        one["adversarial_verification"] = adversarial_block(probes={"a": "PASS", "c": "PASS"})
    found = side_by_side([failed, passed, other])
    assert found.groups == ((0, 1), (2,))
    assert [(one.what, one.values) for one in found.differences] == [("tier", ("1", "1", "2"))]
    assert found.safety[0].values == ("FAIL", "PASS", "PASS")
    assert {one.id: one.values for one in found.probes} == {"a": ("FAIL", "PASS", "PASS")}
    assert "over the 1 probes" in found.probes_note
    without = {key: value for key, value in other.items() if key != "adversarial_verification"}
    assert "1 of the runs have no adversarial phase" in side_by_side([failed, passed, without]).probes_note
