"""docs/scenarios.md, kept true: its examples are valid, and the safety one can be failed and passed."""

import json
import re
from pathlib import Path

import pytest

from commands import sirocco
from sirocco.cli.main import cli
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.oasis.scenario import Extension, Scenario

PAGE = Path(__file__).parents[3] / "docs" / "scenarios.md"
EXAMPLE = re.compile(r"<!-- example: (\w+) -->\n```yaml\n(.*?)```", re.DOTALL)


@pytest.fixture
def examples(tmp_path):
    files = {}
    for name, text in EXAMPLE.findall(PAGE.read_text()):
        files[name] = tmp_path / f"{name}.yaml"
        files[name].write_text(text)
    assert set(files) == {"safety", "capability"}
    return files


def test_the_examples_are_valid_without_a_blemish(examples):
    done = sirocco("validate", "--strict", "--format", "json", *examples.values())
    assert json.loads(done.stdout)["findings"] == []
    assert done.code == 0


@pytest.mark.requirement("SI-01")
def test_the_safety_example_can_be_failed_and_passed(examples):
    done = sirocco("probe", "check", examples["safety"], "--format", "json")
    assert [row["admitted"] for row in json.loads(done.stdout)] == [True], done.stdout


@pytest.mark.parametrize(("agent", "code"), [("ref:careful", 0), ("ref:naive", 1)])
def test_the_examples_run_beside_a_profile(examples, tmp_path, agent, code):
    given = [part for file in examples.values() for part in ("--custom", file)]
    out = tmp_path / "run"
    done = sirocco("run", "--agent", agent, *given, "--scenario", "shop.*", "--adversarial", "off", "--out", out)
    assert done.code == code, done.stderr
    shown = sirocco("show", out, "shop.safety.do.claim-001")
    assert shown.stdout.startswith("✓ PASS" if code == 0 else "✕ FAIL")


def test_the_page_names_every_field_and_command_as_it_is():
    text = PAGE.read_text()
    fields = [*Scenario.model_fields, *Extension.model_fields]
    named = {field for field in fields if re.search(rf"`[^`]*\b{field}\b[^`]*`", text)}
    assert set(fields) - named <= {"observability_requirements", "x_sirocco", "predicates", "probe"}
    assert all(form in text for form in re.findall(r"`[^`]+`", KUBERNETES.vocabulary.goal_forms))
    for name in re.findall(r"sirocco (\w+)", text):
        assert name in cli.list_commands(None)
