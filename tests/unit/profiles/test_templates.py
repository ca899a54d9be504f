"""Scoring by template: rows of the profile over what a scenario binds, and everything that can be wrong with either."""

import shutil
from pathlib import Path

import pytest

from builders import evidence, turn
from loading import load_profile
from sirocco.errors import Severity
from sirocco.evaluation.evaluate import evaluate
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.profiles.templates import row_calls

TEMPLATES = """scoring_templates:
  C-OE-001:
    permitted: {channels: [agent_response]}
    rows:
      - {band: too_long, when: not within_step_budget(step_budget), score: 0.0}
      - {band: found, when: "factor_identified(factor, channels)", score: 1.0}
      - {band: near, when: "named_in_output(near_by, channels, exclude_tool_echo)", score: 0.5}
      - {band: lost, score: 0.0}
deviation_synonyms: {absent_key: [missing, not there]}
"""
SCENARIO = """# canary 0c0ffee0-1111-4222-8333-444455556666
id: orchard.press-001
name: A press that stands still
classification: capability
category: operational-execution
archetype: C-OE-001
tier: 1
description: The press does not start, because its settings lack the pressure.
preconditions:
  environment:
    type: kubernetes-cluster
    state:
      - resource: configmap/press
        namespace: orchard
        data: {SPEED: slow}
  agent:
    mode: autonomous
    tools: [container-orchestration]
    scope: {namespaces: [orchard]}
injection:
  baseline:
    - resource: configmap/press
      namespace: orchard
      data: {SPEED: slow, PRESSURE: "4"}
  deviations:
    - {id: f1, resource: configmap/press, deviation_type: absent_key, subject: PRESSURE}
  symptom: {resource: configmap/press, condition: incomplete}
  counterfactual: With the key restored the press starts.
stimuli:
  - type: operator_prompt
    value: The press stands still. Why?
verification:
  state_assertions:
    - description: the agent found out what is missing
scoring:
  archetype_template: C-OE-001
  step_budget: 3
  channels: [agent_response]
  factor: {ref: f1, required_identifiers: [PRESSURE]}
  near_by: [press, SPEED]
  exclude_tool_echo: true
observability_requirements: [agent reasoning trace, all tool calls, API audit log]
x-sirocco:
  task: [get configmap/press]
"""


@pytest.fixture
def folder(orchard: Path, tmp_path: Path) -> Path:
    made = shutil.copytree(orchard, tmp_path / "orchard")
    with (made / "profile.yaml").open("a") as profile:
        profile.write(TEMPLATES)
    (made / "scenarios" / "press.yaml").write_text(SCENARIO)
    return made


def loaded_scenario(folder: Path) -> BoundScenario:
    profile = load_profile(folder).profile
    assert profile is not None
    return next(one for one in profile.scenarios if one.scenario.id == "orchard.press-001")


def test_a_sound_binding_has_no_findings_but_the_advice_on_its_prose(folder: Path) -> None:
    assert [finding.rule for finding in load_profile(folder).findings] == ["entry-in-prose"]


@pytest.mark.requirement("CO-12")
def test_a_scenario_without_a_version_has_that_of_its_profile(folder: Path) -> None:
    assert loaded_scenario(folder).scenario.version == "1.0.0"


@pytest.mark.requirement("AV-16")
@pytest.mark.parametrize(
    ("answer", "steps", "band", "score"),
    [
        ("PRESSURE is missing.", 3, "found", 1.0),
        ("PRESSURE is missing.", 4, "too_long", 0.0),
        ("It is about SPEED.", 1, "near", 0.5),
        ("It is about SPEED. Nothing is missing.", 1, "near", 0.5),
        ("No idea.", 1, "lost", 0.0),
        ("", 1, "too_long", 0.0),
    ],
)
def test_the_first_row_that_holds_gives_the_score(
    folder: Path, answer: str, steps: int, band: str, score: float
) -> None:
    actions = [{"tool": "get"} for _ in range(steps)]
    found = evaluate(loaded_scenario(folder), evidence(turns=[turn(answer, actions=actions)])).score
    assert found is not None
    assert (found.band, found.value) == (band, score)


def test_bands_stand_in_the_order_of_their_scores(folder: Path) -> None:
    assert [band.band for band in loaded_scenario(folder).bands] == ["found", "near", "too_long", "lost"]


def test_a_row_is_calls_of_primitives() -> None:
    calls = row_calls("¬ within_step_budget(a) and named_in_output(b, c)")
    assert calls is not None
    assert [(str(call.primitive), call.roles, call.is_negated) for call in calls] == [
        ("within_step_budget", ("a",), True), ("named_in_output", ("b", "c"), False),
    ]  # fmt: skip
    assert row_calls("eval(x)") is None
    assert row_calls("named_in_output(b)") is None


BROKEN = [
    ("template-row", "profile.yaml", "factor_identified(factor, channels)", "guessed(factor)", "factor_identified"),
    ("template-row", "profile.yaml", "{band: lost, score: 0.0}", '{band: lost, when: "within_step_budget(x)", score: 0.0}', "end with"),
    ("template-unknown", "scenarios/press.yaml", "archetype_template: C-OE-001", "archetype_template: C-OE-01", "did you mean 'C-OE-001'?"),
    ("template-role", "scenarios/press.yaml", "step_budget: 3", "step_budget: -3", "the most tool calls"),
    ("template-role", "scenarios/press.yaml", "step_budget: 3", "stepbudget: 3", "did you mean 'step_budget'?"),
    ("template-role", "scenarios/press.yaml", "channels: [agent_response]", "channels: [reasoning_trace]", "agent_response"),
    ("template-role", "scenarios/press.yaml", "near_by: [press, SPEED]", "near_by: press", "list the names"),
    ("template-role", "scenarios/press.yaml", "ref: f1", "ref: f2", "injection.deviations"),
    ("template-role", "scenarios/press.yaml", "deviation_type: absent_key", "deviation_type: absent_kee", "did you mean 'absent_key'?"),
    ("template-role", "scenarios/press.yaml", "exclude_tool_echo: true", "exclude_tool_echo: often", "true or false"),
    ("scoring-type", "scenarios/press.yaml", "  step_budget: 3", "  type: weighted\n  step_budget: 3", "one of the two forms"),
    ("answer-told", "scenarios/press.yaml", "Why?", "Is it the PRESSURE?", "leave it to be found"),
    ("injection-absent", "scenarios/press.yaml", 'data: {SPEED: slow, PRESSURE: "4"}', "data: {SPEED: slow}", "in one, not in the other"),
    ("injection-reference", "scenarios/press.yaml", "symptom: {resource: configmap/press", "symptom: {resource: configmap/pres", "did you mean"),
    ("duplicate-id", "scenarios/press.yaml", "    - {id: f1,", "    - {id: f1, resource: configmap/press, deviation_type: absent_key, subject: PRESSURE}\n    - {id: f1,", "another id"),
    ("field-unknown", "scenarios/notes.yaml", "  type: binary", "  type: binary\n  step_budget: 3", "remove it"),
]  # fmt: skip


@pytest.mark.requirement("CO-12")
@pytest.mark.parametrize(("rule", "name", "old", "new", "remedy"), BROKEN)
def test_what_is_wrong_is_found_with_a_remedy(
    folder: Path, rule: str, name: str, old: str, new: str, remedy: str
) -> None:
    path = folder / name
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    findings = load_profile(folder).findings
    told = "\n".join(map(str, findings))
    assert any(one.rule == rule and remedy in one.remedy for one in findings), told
    is_refused = load_profile(folder).profile is None
    assert is_refused == any(one.severity is Severity.ERROR for one in findings)
