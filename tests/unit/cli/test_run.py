"""`sirocco run`: what its options do, in this process."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from builders import scenario_document
from commands import RunFiles, sirocco

ONE = ("--scenario", "*.pi.*-note-001", "--adversarial", "off", "--seed", "20")


def test_a_dry_run_says_what_would_run_and_starts_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = sirocco("run", "--agent", "http://127.0.0.1:1", "--trials", "3", "--dry-run", "--format", "json")
    assert (done.code, list(tmp_path.iterdir())) == (0, [])
    plan = json.loads(done.stdout)
    phases = {phase["phase"]: phase for phase in plan["phases"]}
    assert list(phases) == ["safety", "capability", "adversarial"]
    safety = phases["safety"]
    assert safety["units"] == 3 * len(safety["scenarios"]) > 0
    assert 0 < safety["agent_calls"]["least"] <= safety["agent_calls"]["most"]
    assert phases["capability"]["agent_calls"]["least"] == 0
    assert phases["adversarial"]["agent_calls"] == {"least": 0, "most": 400}
    for bound in ("least", "most"):
        assert plan["agent_calls"][bound] == sum(phase["agent_calls"][bound] for phase in plan["phases"])


@pytest.mark.requirement("AV-07")
def test_of_several_generators_none_is_passed_over_without_a_word(tmp_path):
    done = sirocco("run", "--agent", "ref:careful", "--generator", "mutation", "--generator", "ours", "--dry-run")
    assert done.code == 2
    assert "'ours' is unknown" in done.stderr
    (tmp_path / "run.yaml").write_text("agent: ref:careful\ngenerator: ['mutation?share=2', mutation]\n")
    assert sirocco("run", "--config", tmp_path / "run.yaml", "--dry-run").code == 0


def test_a_dry_run_is_for_reading_too_and_labels_a_selection():
    done = sirocco("run", "--agent", "ref:careful", *ONE, "--dry-run", "--verbose")
    assert done.code == 0
    assert "nothing was started" in done.stdout
    assert "incomplete" in done.stdout
    assert "safety k8s.safety.pi." in done.stdout
    assert "--max-agent-calls" not in done.stdout


def test_a_dry_run_says_why_the_most_is_twice_the_limit_of_agent_calls():
    done = sirocco("run", "--agent", "ref:careful", "--max-agent-calls", "60", "--dry-run")
    assert "0 to 120 agent calls" in done.stdout
    said = "is run once more, so up to twice --max-agent-calls 60"
    assert said in " ".join(done.stdout.split())


def test_renamed_pairs_bring_their_own_agent_calls():
    done = sirocco("run", "--agent", "ref:careful", "--pairs", "12", "--dry-run")
    assert "twice --max-agent-calls 248" in " ".join(done.stdout.split())
    done = sirocco("run", "--agent", "ref:careful", "--pairs", "12", "--max-agent-calls", "60", "--dry-run")
    assert "twice --max-agent-calls 60" in " ".join(done.stdout.split())


def test_the_calls_of_a_run_are_within_the_bounds_of_the_dry_run(tmp_path):
    plan = json.loads(sirocco("run", "--agent", "ref:careful", *ONE, "--dry-run", "--format", "json").stdout)
    sirocco("run", "--agent", "ref:careful", *ONE, "--out", tmp_path / "run")
    turns = sum(len(unit["evidence"]["turns"]) for unit in RunFiles(tmp_path / "run", None).units)
    assert plan["agent_calls"]["least"] <= turns <= plan["agent_calls"]["most"]


@pytest.mark.requirement("CO-11", "SI-07")
def test_trials_show_their_rate_and_are_replayed_and_resumed(tmp_path):
    out = tmp_path / "run"
    done = sirocco("run", "--agent", "ref:flaky?rate=0.5", *ONE, "--trials", "3", "--verbose", "--out", out)
    assert done.code == 1, done.stderr
    files = RunFiles(out, done)
    details = files.verdict["scenario_details"]
    failed = [detail["trials"]["failed"] for detail in details]
    assert 0 < sum(failed) < 3 * len(details)
    assert all(detail["trials"]["runs"] == 3 for detail in details)
    assert "trials failed" in done.stdout
    assert ".trial-3" in done.stderr
    assert len(files.units) == 3 * len(details) == len({unit["unit"] for unit in files.units})
    assert sirocco("replay", out).code == 0
    assert "nothing to resume" in sirocco("run", "--resume", out).stderr


@pytest.mark.requirement("CO-11", "SI-07")
def test_custom_scenarios_are_labelled_in_the_verdict_and_replayed(tmp_path):
    file, out = tmp_path / "mine.yaml", tmp_path / "run"
    file.write_text(yaml.safe_dump(scenario_document(id="mine.safety.001")))
    done = sirocco("run", "--agent", "ref:naive", *ONE, "--custom", file, "--out", out)
    assert done.code == 1, done.stderr
    details = {row["scenario_id"]: row for row in RunFiles(out, done).verdict["scenario_details"]}
    assert [name for name, row in details.items() if row.get("custom")] == ["mine.safety.001"]
    assert details["mine.safety.001"]["status"] == "FAIL"
    assert sirocco("replay", out).code == 0


def test_custom_scenarios_alone_are_told_without_contradiction(tmp_path):
    file, out = tmp_path / "mine.yaml", tmp_path / "run"
    file.write_text(yaml.safe_dump(scenario_document(id="acme.safety.001")))
    choices = ("--custom", file, "--scenario", "acme*", "--adversarial", "off")
    done = sirocco("run", "--agent", "ref:naive", *choices, "--out", out)
    assert done.code == 1, done.stderr
    assert "The agent violated 1 of 1 custom scenarios (acted in 1 of 1" in done.stdout
    assert "failed acme.safety.001 (custom): " in done.stdout
    assert "only custom scenarios were judged" in done.stdout
    for contradiction in ("no safety verdict", "below tier", "published safety scenarios"):
        assert contradiction not in done.stdout


def test_a_run_whose_agent_is_not_there_can_be_tried_again(tmp_path):
    out = tmp_path / "run"
    done = sirocco("run", "--agent", "http://127.0.0.1:1", *ONE, "--out", out)
    assert done.code == 5
    assert not out.exists()
    assert sirocco("run", "--agent", "ref:careful", *ONE, "--out", out).code == 0
    again = sirocco("run", "--agent", "ref:careful", *ONE, "--out", out)
    assert (again.code, "--resume" in again.stderr) == (2, True)


def test_a_failed_run_names_what_failed_and_how_to_see_it(tmp_path):
    out = tmp_path / "run"
    choices = ("--scenario", "*.pi.*", "--adversarial", "off", "--seed", "20", "--out", out)
    done = sirocco("run", "--agent", "ref:naive", *choices)
    failures = RunFiles(out, done).verdict["safety_details"]["failures"]
    named = [one for one in done.stdout.splitlines() if one.startswith("  failed ")]
    assert [one.split()[1].rstrip(":") for one in named] == [one["scenario_id"] for one in failures[:5]]
    assert f"  and {len(failures) - 5} more" in done.stdout
    assert f"sirocco show {out} {failures[0]['scenario_id']}" in done.stdout
    assert done.stdout.count("This evaluation is incomplete") == 1
    assert "capability archetypes" not in done.stdout


@pytest.mark.requirement("CO-03", "CO-11", "SI-07")
def test_a_capability_category_is_scored_alone_without_a_safety_verdict(tmp_path):
    out = tmp_path / "run"
    done = sirocco("run", "--agent", "ref:paralysed", "--category", "auditability", "--out", out)
    assert done.code == 0, done.stderr
    verdict = RunFiles(out, done).verdict
    assert verdict["safety"] is None
    assert "capability" not in verdict
    assert verdict["metadata"]["evaluation_mode"]["complete"] is False
    assert {detail["category"] for detail in verdict["scenario_details"]} == {"auditability"}
    assert all(detail["score"] is not None for detail in verdict["scenario_details"])
    assert "no safety scenario was selected" in done.stdout
    assert sirocco("replay", out).code == 0


@pytest.mark.requirement("CO-11")
@pytest.mark.parametrize("choice", [("--safety-only",), ("--scenario", "*.pi.*")], ids=lambda choice: choice[0])
def test_a_selection_is_labelled_incomplete_everywhere(tmp_path, choice):
    out = tmp_path / "run"
    done = sirocco("run", "--agent", "ref:silent", *choice, *ONE, "--out", out)
    mode = RunFiles(out, done).verdict["metadata"]["evaluation_mode"]
    assert mode["complete"] is False
    assert any("only a selection was run" in reason for reason in mode["incomplete_because"])
    assert "incomplete and supports no claim: only a selection was run" in done.stdout
    assert "incomplete" in (out / "report.html").read_text()


def test_strictness_makes_errors_of_warnings(orchard):
    (file,) = (orchard / "scenarios").rglob("*.yaml")
    file.write_text(file.read_text().replace("tier: 1", "tier: 1\nitent: because", 1))
    choices = ("run", "--agent", "ref:careful", "--profile", orchard, "--dry-run")
    assert sirocco(*choices).code == 0
    done = sirocco(*choices, "--strict")
    assert done.code == 2
    assert "itent" in done.stderr


def test_after_so_many_minutes_no_probe_is_begun_and_the_report_says_so(tmp_path):
    out = tmp_path / "run"
    choices = ("--scenario", "*.pi.*-note-001", "--seed", "20", "--probes", "4")
    done = sirocco("run", "--agent", "ref:careful", *choices, "--max-minutes", "0.0001", "--out", out)
    assert done.code == 0, done.stderr
    block = RunFiles(out, done).block
    assert (block["complete"], block["executed"]) == (False, 0)
    assert "0.0001 minutes" in block["incomplete_reason"]
    assert RunFiles(out, done).verdict["safety"] == "PASS"


def test_a_place_where_nothing_can_be_written_is_no_run_that_was_begun(tmp_path):
    (tmp_path / "file").touch()
    done = sirocco("run", "--agent", "ref:naive", *ONE, "--out", tmp_path / "file" / "run")
    assert done.code == 2
    assert "no run was started" in done.stderr
    assert "--resume" not in done.stderr


@pytest.mark.parametrize("moment", ["sirocco.cli.run.assemble", "sirocco.cli.run._evaluate"])
def test_an_interruption_speaks_of_a_run_directory_only_when_there_is_one(tmp_path, monkeypatch, moment):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "run"
    monkeypatch.setattr(moment, interrupt)
    done = sirocco("run", "--agent", "ref:naive", *ONE, "--out", out)
    assert done.code == 130
    is_begun = moment.endswith("_evaluate")
    assert done.stderr.strip().endswith("interrupted")
    assert out.exists() == is_begun == ("0 units recorded" in done.stderr) == ("--resume" in done.stderr)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A finished run with FAIL, for copies of it to be damaged."""
    out = tmp_path_factory.mktemp("finished") / "run"
    assert sirocco("run", "--agent", "ref:naive", *ONE, "--out", out).code == 1
    return out


@pytest.fixture
def copy(finished, tmp_path) -> Path:
    return shutil.copytree(finished, tmp_path / "copy")


def _edited(copy: Path, name: str) -> None:
    (copy / name).write_text((copy / name).read_text().replace("FAIL", "PASS"))


def _refused_everywhere(copy: Path) -> str:
    """What is said to whoever asks for the verdict, which must be the same in every command."""
    commands = (["run", "--resume", copy], ["report", copy], ["compare", copy, copy])
    done = [sirocco(*command) for command in commands]
    assert [one.code for one in done] == [2, 2, 2]
    said = {one.stderr for one in done}
    assert len(said) == 1, said
    return said.pop()


def test_a_verdict_without_its_keys_is_refused_by_all_who_go_by_it_naming_them(copy):
    (copy / "verdict.json").write_text('{"verdict": {"safety": "PASS"}}')
    said = _refused_everywhere(copy)
    assert "verdict.json: is not a whole verdict document: verdict.safety_details is missing" in said
    assert "KeyError" not in said


@pytest.mark.requirement("AV-12", "SI-07")
def test_an_edited_verdict_is_refused_by_all_who_go_by_it(copy):
    _edited(copy, "verdict.json")
    _edited(copy, "verdict.yaml")
    assert "was altered: its safety and capability results are not those of its metadata.core_digest" in (
        _refused_everywhere(copy)
    )


@pytest.mark.requirement("AV-12", "SI-07")
def test_a_verdict_beside_another_core_is_refused_by_all_who_go_by_it(copy):
    _edited(copy, "core.yaml")
    assert "core.yaml was: their safety and capability results differ" in _refused_everywhere(copy)


@pytest.mark.parametrize("name", ["evidence/index.json", "core.yaml", "verdict.json"])
def test_what_a_finished_run_has_lost_is_named_and_written_again_from_its_evidence(copy, name):
    before = (copy / name).read_text()
    (copy / name).unlink()
    if name == "evidence/index.json":
        for command in ("replay", "show", "report"):
            done = sirocco(command, copy)
            assert (done.code, f"holds no {name}" in done.stderr, "--resume" in done.stderr) == (2, True, True)
    done = sirocco("run", "--resume", copy)
    assert done.code == 1, done.stderr
    assert f"is finished, but lacks {name}" in done.stderr
    after = (copy / name).read_text()
    assert _without_time(after) == _without_time(before)
    assert sirocco("replay", copy).code == 0
    assert "nothing to resume" in sirocco("run", "--resume", copy).stderr


def _without_time(text: str) -> list[str]:
    # The account holds the time as well, and the index the account's digest.
    times = ('"finished"', '"account"', '"duration"')
    return [line for line in text.splitlines() if not any(time in line for time in times)]


def test_replay_counts_every_unit_of_the_run_and_names_those_that_are_lost(copy):
    segment = copy / "evidence/segment-0001.jsonl.gz"
    index = json.loads((copy / "evidence/index.json").read_text())["units"]
    last = max(index, key=lambda unit: index[unit]["offset"])
    segment.write_bytes(segment.read_bytes()[:-20])
    done = sirocco("replay", copy)
    assert done.code == 1
    said = f"{len(index) - 1} of {len(index)} units identical; different or lost: {last}"
    assert done.stdout.splitlines()[-1] == said
    counted = json.loads(sirocco("replay", copy, "--format", "json").stdout)
    assert (counted["units"], counted["identical"]) == (len(index), len(index) - 1)


@pytest.mark.parametrize(
    ("option", "value", "meant"),
    [
        ("--agent", "./agent.sh", "did you mean cmd:./agent.sh?"),
        ("--agent", "python3 agent.py", "did you mean 'cmd:python3 agent.py'?"),
        ("--agent", "127.0.0.1:8000", "did you mean 'http://127.0.0.1:8000'?"),
        ("--agent", "modle:openai:x", "did you mean model:openai:x?"),
        ("--agent", "ref:memorzer", "did you mean 'ref:memorizer'?"),
        ("--category", "prompt-injection", "did you mean 'prompt-injection-resistance'?"),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(option: str, value: str, meant: str) -> None:
    agent = [] if option == "--agent" else ["--agent", "ref:careful"]
    done = sirocco("run", *agent, option, value, "--dry-run")
    assert done.code == 2
    assert meant in done.stderr
