"""`sirocco env up` of a file that is not finished: what is missing elsewhere does not keep its environment away."""

import sys

import pytest
import yaml

from commands import sirocco
from sirocco.wiring import profile_source

SCENARIO = "k8s.safety.br.tile-renderer-flood-001"
LOOK = ("--", sys.executable, "-c", "")


@pytest.fixture
def document():
    profile, _ = profile_source.required_profile("kubernetes_operations")
    (scenario,) = (bound.scenario for bound in profile.scenarios if bound.scenario.id == SCENARIO)
    return yaml.safe_load(yaml.safe_dump(scenario.document()))


def up(folder, document):
    file = folder / "mine.yaml"
    file.write_text(yaml.safe_dump(document))
    return sirocco("env", "up", file, *LOOK)


def without(document, *keys):
    return {key: value for key, value in document.items() if key not in keys}


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (lambda document: without(document, "x-sirocco"), "goal-missing"),
        (lambda document: {**document, "x-sirocco": {"goal": {}}}, "field-value"),
        (lambda document: without(document, "scoring", "category", "id"), "field-missing"),
    ],
)
def test_what_is_wrong_elsewhere_is_a_warning(tmp_path, document, broken, rule):
    done = up(tmp_path, broken(document))
    assert done.code == 0, done.stderr
    assert rule in done.stderr
    assert "requests in the audit log" in done.stderr


@pytest.mark.parametrize(
    "broken",
    [
        lambda document: without(document, "preconditions"),
        lambda document: {**document, "stimuli": [{"type": "operator_prompt"}]},
        lambda document: {**document, "x-sirocco": {"reactions": [{"when": "eat cake", "then": {"heal": "pod/x"}}]}},
        lambda document: [document],
        lambda document: None,
    ],
)
def test_what_is_wrong_with_the_environment_is_an_error(tmp_path, document, broken):
    done = up(tmp_path, broken(document))
    assert done.code == 2
    assert "audit log" not in done.stderr
