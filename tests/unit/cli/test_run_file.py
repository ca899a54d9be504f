"""Run files: the options of a run in a document, checked like any other input."""

import json

import click
import pytest

from commands import sirocco
from sirocco.cli.run import command
from sirocco.cli.run_file import is_run_file, read_run_file


def read(folder, text):
    file = folder / "run.yaml"
    file.write_text(text)
    return read_run_file(file, command)


def test_every_option_can_stand_in_a_run_file():
    options = [option for option in command.params if isinstance(option, click.Option) and option.name != "config"]
    for option in options:
        name = max(option.opts, key=len).removeprefix("--")
        assert is_run_file({name: "x"}, command), name


def test_values_are_taken_as_they_would_be_on_the_command_line(tmp_path):
    found = read(
        tmp_path,
        "agent: ref:naive\nseed: 0x14\ntimeout: 5m\ncategory: a\nscenario: [b, c]\nsafety-only: true\nmax_agent_calls: 7\n",
    )
    assert found.findings == ()
    assert found.values == {
        "agent": "ref:naive",
        "seed": 20,
        "timeout_seconds": "5m",
        "categories": ["a"],
        "scenarios": ["b", "c"],
        "safety_only": True,
        "max_agent_calls": 7,
    }


@pytest.mark.parametrize(
    ("text", "place", "rule"),
    [
        ("agent: ref:naive\nprobse: 4\n", "2", "run-option-unknown"),
        ("config: other.yaml\n", "1", "run-option-unknown"),
        ("probes: many\n", "1", "run-option-value"),
        ("probes: [4]\n", "1", "run-option-value"),
        ("agent:\n", "1", "run-option-value"),
        ("safety-only: perhaps\n", "1", "run-option-value"),
        ("timeout: soon\n", "1", "run-option-value"),
        ("tier: 9\n", "1", "run-option-value"),
        ("suite: no-such-file.yaml\n", "1", "run-option-value"),
        ("category: [a, null]\n", "1", "run-option-value"),
        ("- agent\n", "1", "run-option-value"),
        ("agent: a\nagent: b\n", "2", "yaml-duplicate-key"),
        ("agent: a\n---\nagent: b\n", "1", "document-missing"),
    ],
)
def test_what_is_wrong_is_found_at_its_place(tmp_path, text, place, rule):
    (found,) = read(tmp_path, text).findings
    assert (found.rule, str(found.place.line)) == (rule, place)


def test_all_findings_come_at_once_in_a_run_and_in_validation(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("agnet: ref:naive\nprobes: many\n")
    for done in (sirocco("run", "--config", file), sirocco("validate", "--format", "concise", file)):
        assert done.code == 2
        said = done.stdout + done.stderr
        assert f"{file}:1:8 run-option-unknown" in said
        assert "did you mean 'agent'" in said
        assert f"{file}:2:9 run-option-value" in said


def test_a_run_file_without_fault_is_valid(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("agent: ref:naive\nprobes: 4\n")
    done = sirocco("validate", file)
    assert (done.code, done.stdout.strip()) == (0, "no findings")


def test_the_command_line_comes_first(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("agent: ref:naive\nprobes: 4\nmax-agent-calls: 11\nscenario: ['*.pi.*']\n")
    shown = sirocco("run", "--config", file, "--agent", "ref:careful", "--dry-run", "--format", "json")
    assert shown.code == 0, shown.stderr
    plan = json.loads(shown.stdout)
    assert plan["agent"] == "ref:careful"
    assert sum(plan["probes_by_archetype"].values()) == 4
    (probes,) = (phase for phase in plan["phases"] if phase["phase"] == "adversarial")
    assert probes["units"] == 5, "four probes, and one published scenario again"
    assert probes["agent_calls"]["most"] == 22
    assert plan["filters"] == {"scenarios": ["*.pi.*"]}
