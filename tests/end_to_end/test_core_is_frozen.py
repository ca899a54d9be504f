"""The core verdict stands before the adversarial phase and cannot be changed by it."""

import json

import pytest
import yaml

from bundled import SMALL
from commands import evaluated, sirocco
from sirocco.oasis.canonical import digest

CORE = ("safety", "safety_details", "capability")
ONE = ("--scenario", "*.safety.be.points-ledger-*", "--twins", "0")
"""A core of one scenario, where it is not what a test is about."""


@pytest.mark.requirement("AV-01", "AV-17")
def test_without_the_phase_there_is_no_block_and_the_core_is_the_same(memorizer, core_choices, tmp_path):
    without = evaluated(tmp_path, "ref:memorizer", *core_choices, "--adversarial", "off")
    assert without.finished.code == 0
    assert "adversarial_verification" not in without.verdict
    assert {key: without.verdict[key] for key in CORE} == {key: memorizer.verdict[key] for key in CORE}
    assert without.verdict["metadata"]["core_digest"] == memorizer.verdict["metadata"]["core_digest"]
    assert (without.path / "core.yaml").read_text() == (memorizer.path / "core.yaml").read_text()


@pytest.mark.requirement("AV-12")
def test_the_digest_of_the_core_file_is_the_one_in_the_final_report(memorizer):
    core = yaml.safe_load((memorizer.path / "core.yaml").read_text())
    assert digest(core) == memorizer.verdict["metadata"]["core_digest"]
    assert core == {key: memorizer.verdict[key] for key in CORE}


@pytest.mark.requirement("AV-12")
def test_the_core_is_frozen_before_the_first_event_of_the_adversarial_phase(memorizer):
    events = [json.loads(line) for line in (memorizer.path / "events.jsonl").read_text().splitlines()]
    names = [event["event"] for event in events]
    frozen = names.index("core_frozen")
    phases = [event["phase"] for event in events if event["event"] == "phase_started"]
    assert phases == ["safety", "capability", "adversarial"]
    assert all(
        position > frozen for position, name in enumerate(names) if name in {"draft_rejected", "probe_serialized"}
    )
    kinds = [event.get("kind") for event in events]
    assert max(i for i, kind in enumerate(kinds) if kind == "scenario") < frozen < kinds.index("probe")


@pytest.mark.requirement("AV-12", "AV-17")
def test_scenarios_that_are_run_again_among_the_probes_are_neither_probes_nor_part_of_the_core(memorizer):
    events = [json.loads(line) for line in (memorizer.path / "events.jsonl").read_text().splitlines()]
    kinds = [event.get("kind") for event in events]
    assert (kinds.count("rerun"), kinds.count("probe")) == (2, 8)
    assert [event["event"] for event in events].index("core_frozen") < kinds.index("rerun")
    assert memorizer.block["probe_summary"]["total_probes"] == 8
    pairs = memorizer.block["reruns"]["pairs"]
    published = {detail["scenario_id"] for detail in memorizer.verdict["scenario_details"]}
    assert {pair["scenario_id"] for pair in pairs} <= published
    # What it has learned by heart it does again, beside the probes that it violates.
    assert {pair["status"] for pair in pairs} == {"same"}
    assert memorizer.block["safety_results"]["any_safety_violation"]
    assert "run again among the probes" in memorizer.finished.stdout
    again = sirocco("replay", memorizer.path)
    assert again.code == 0, again.stdout


@pytest.mark.requirement("AV-17")
def test_violations_in_probes_change_the_exit_code_only_when_asked(tmp_path):
    choices = ("--probes", "4", "--twins", "0", "--max-agent-calls", "8", "--fail-on", "adversarial")
    asked = evaluated(tmp_path, "ref:memorizer", *SMALL, *choices)
    assert asked.finished.code == 6
    assert asked.verdict["safety"] == "PASS"
    assert sirocco("run", "--resume", asked.path).code == 6, "a retried CI job must not turn green"
    assert sirocco("run", "--resume", asked.path, "--fail-on", "core").code == 0


def test_a_phase_without_enough_probes_is_never_a_clean_look(tmp_path):
    # Five agent calls pay for five of the eight probes at most: one of several turns takes several.
    limits = ("--probes", "8", "--twins", "0", "--max-agent-calls", "5")
    short = evaluated(tmp_path, "ref:careful", *SMALL, *limits, "--fail-on", "adversarial")
    assert short.finished.code == 7
    assert short.block["complete"] is False
    assert 0 < short.block["executed"] <= short.block["agent_calls"]["spent"] <= 5
    assert "agent calls" in short.block["incomplete_reason"]


def test_with_always_the_phase_also_follows_a_fail_and_says_so(tmp_path):
    choices = ("--probes", "2", "--twins", "0", "--confirm", "0", "--max-agent-calls", "4")
    run = evaluated(tmp_path, "ref:naive", *SMALL, "--adversarial", "always", *choices)
    assert run.finished.code == 1
    assert run.verdict["safety"] == "FAIL"
    assert run.block["core_incomplete"] is True


CAREFUL = ("--agent", "ref:careful")


@pytest.mark.requirement("CO-02")
def test_without_an_agent_nobody_is_evaluated_and_no_job_goes_green(tmp_path):
    (tmp_path / "run.yaml").write_text("probes: 2\nadversarial: off\n")
    for given in ([], ["--agent", ""], ["--config", tmp_path / "run.yaml"], ["--dry-run"]):
        done = sirocco("run", *given, *([] if "--dry-run" in given else ["--out", tmp_path / "run"]))
        assert done.code == 2
        assert "add --agent SPEC" in done.stderr
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "--agent", "ref:nobody"], "ref:careful"),
        (["run", "--agent", "ftp://127.0.0.1:1"], "ref:NAME"),
        (["run", *CAREFUL, "--profile", "no-such-folder"], "profile.yaml"),
        (["run", *CAREFUL, "--category", "no-such-category"], "prompt-injection-resistance"),
        (["run", *CAREFUL, "--archetype", "S-PI-01"], "S-PI-001"),
        (["run", *CAREFUL, "--timeout", "soon"], "5m"),
        (["run", *CAREFUL, "--seed", "x"], "0x"),
        (["replay", "."], "run directory"),
        (["nonsense"], "nonsense"),
    ],
)
def test_a_mistake_is_answered_with_a_remedy_and_never_with_a_traceback(arguments, said, tmp_path):
    extra = ["--out", tmp_path / "run"] if arguments[0] == "run" else []
    done = sirocco(*arguments, *extra)
    assert done.code == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_directory_is_never_overwritten(memorizer):
    again = sirocco("run", *CAREFUL, "--out", memorizer.path)
    assert again.code == 2
    assert "not empty" in again.stderr
