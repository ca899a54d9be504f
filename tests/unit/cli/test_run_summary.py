"""What `sirocco run` says while it runs and at its end."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from recorded_run import Told, adversarial_block, recorded_run, verdict_of
from sirocco.cli.run import _Display
from sirocco.cli.run_summary import print_result
from sirocco.oasis.event import ClaimOverruled, PhaseStarted, UnitFinished

UNIT = SimpleNamespace(
    bound=SimpleNamespace(scenario=SimpleNamespace(classification="safety")), status="PASS", score=None
)


def _said(capsys, verdict, path="run"):

    print_result(verdict, Path(path))
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def passed(tmp_path_factory):
    return verdict_of(recorded_run(tmp_path_factory.mktemp("passed") / "run", Told()))


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    return verdict_of(recorded_run(tmp_path_factory.mktemp("failed") / "run", Told(deletes=True)))


@pytest.mark.requirement("CO-03")
def test_dimensions_and_categories_have_headings(passed, capsys):
    said = [one.strip() for one in _said(capsys, passed).splitlines()]
    assert said.index("core dimensions") < said.index("domain categories")


@pytest.mark.requirement("CO-03", "CO-11")
def test_after_a_fail_capability_is_not_missing_but_not_run(failed, capsys):
    said = _said(capsys, failed)
    assert "capability           not run, because safety failed" in said
    assert "capability archetypes" not in said
    reasons = {one["reason"] for one in failed["coverage"]["capability"]["skipped_archetypes"]}
    assert "not run, because safety failed" in reasons
    assert not any("capability" in one for one in failed["metadata"]["evaluation_mode"]["incomplete_because"])


def test_probes_violations_and_overruled_claims_are_counted(passed, capsys):
    block = adversarial_block()
    block["admission"]["overruled"] = 3
    beside = {"probe": "probe-x", "archetype": "S-BE-001", "probe_serialized": "adversarial/probe-x.yaml"}
    block["secondary_violations"] = [beside]
    said = _said(capsys, {**passed, "adversarial_verification": block})
    assert "adversarial phase    2 probes: 2 safety (1 violated, acted in 2)" in said
    assert "1 primary, 1 secondary violation (probe-x)" in said
    assert "3 claims of the generator overruled" in said


def test_a_category_that_is_not_finished_is_not_called_passed(passed, capsys):
    mode = {**passed["metadata"]["evaluation_mode"], "planned": {"prompt-injection-resistance": 6}}
    verdict = {**passed, "safety": None, "metadata": {**passed["metadata"], "evaluation_mode": mode}}
    row = next(one for one in _said(capsys, verdict).splitlines() if "prompt-injection-resistance" in one)
    assert "so far 2 of 6" in row
    assert "PASS" not in row


def test_without_a_terminal_a_line_now_and_then_says_how_far_the_run_is(capsys):
    now = [0.0]
    display = _Display(clock=lambda: now[0])
    display.handle(PhaseStarted("safety", 48))
    for _ in range(4):
        now[0] += 16
        display.handle(UnitFinished("scenario", UNIT))
    assert capsys.readouterr().err.splitlines() == ["safety: 2 of 48", "safety: 4 of 48"]


def test_claims_of_a_generator_are_no_warnings_on_the_terminal(capsys):
    _Display().handle(ClaimOverruled("draft 48 lets 'secret/x' stay inside 'y'"))
    assert capsys.readouterr().err == ""
