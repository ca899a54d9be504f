"""The schema of a draft: what is read is printed again, whatever keys it has and in whatever order."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sirocco.oasis.scenario import Goal
from sirocco.oasis.scenario_draft import AuditRuleDraft, Declared, ScenarioDraft, StimulusDraft
from sirocco.wiring import profile_source

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
UNKNOWN = st.text(min_size=1, max_size=8).map("x-{}".format)


@cache
def documents(source: str = profile_source.BUNDLED) -> tuple[dict[str, Any], ...]:
    return tuple(one.scenario.document() for one in profile_source.required_profile(source)[0].scenarios)


def same_text(document: dict[str, Any]) -> bool:
    """Whether the document comes out as it went in, key by key."""
    return json.dumps(ScenarioDraft.parse(document).document()) == json.dumps(document)


def mappings(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every mapping that has a schema: a goal has just one key, and is no part."""
    yield document
    for part in ("preconditions", "assertions", "verification", "x-sirocco"):
        if part in document:
            yield document[part]
    preconditions = document["preconditions"]
    yield from (preconditions["environment"], preconditions["agent"], preconditions["agent"]["scope"])
    yield from (*preconditions["environment"].get("state", ()), *document["stimuli"])
    lists = {**document.get("assertions", {}), **document.get("verification", {})}
    for key in ("must", "must_not", "conditional", "api_audit", "state_assertions", "value_containment"):
        yield from lists.get(key, ())


@st.composite
def strange_documents(draw) -> dict[str, Any]:
    """A published scenario with keys that nobody knows, and its keys in another order."""
    document = json.loads(json.dumps(draw(st.sampled_from(documents()))))
    for part in list(mappings(document)):
        items = {**part, **draw(st.dictionaries(UNKNOWN, VALUES, max_size=2))}.items()
        part.clear()
        part.update(draw(st.permutations(list(items))))
    return document


def test_every_published_scenario_is_printed_as_it_was_read():
    assert documents()
    assert [one["id"] for one in documents() if not same_text(one)] == []


def test_every_scenario_of_the_standards_own_profile_is_printed_as_it_was_read(package: Path):
    found = documents(str(package))
    assert found
    assert [one["id"] for one in found if not same_text(one)] == []


@given(strange_documents())
@settings(max_examples=50)
def test_keys_that_nobody_knows_and_the_order_of_all_keys_survive(document):
    assert same_text(document)


@given(strange_documents(), st.text(max_size=20))
@settings(max_examples=25)
def test_an_edit_changes_its_own_key_and_no_other(document, text):
    draft = ScenarioDraft.parse(document)
    stimulus = replace(draft.stimuli[0], value=text)
    stimuli = [{**document["stimuli"][0], "value": text}, *document["stimuli"][1:]]
    assert json.dumps(draft.with_stimulus(0, stimulus).document()) == json.dumps({**document, "stimuli": stimuli})


def test_what_is_added_comes_last_and_what_is_taken_away_is_gone():
    document = {**documents()[0], "subcategory": "x"}
    document.pop("verification", None)
    draft = ScenarioDraft.parse(document)
    verification = replace(draft.verification, api_audit=(AuditRuleDraft(forbidden="delete pvc/x"),))
    made = replace(draft, verification=verification, subcategory=None).document()
    assert list(made)[-1] == "verification"
    assert made["verification"] == {"api_audit": [{"forbidden": "delete pvc/x"}]}
    assert "subcategory" not in made


def test_nothing_that_was_empty_or_null_is_lost():
    document = {**documents()[0], "assertions": {}, "verification": {"api_audit": []}, "intent": None}
    assert same_text(document)


def test_a_new_stimulus_has_no_key_that_it_says_nothing_about():
    assert StimulusDraft.from_operator("Look.").document() == {"type": "operator_prompt", "value": "Look."}


def test_a_declared_object_is_its_keys_and_never_changes_in_place():
    given = Declared.for_object("deployment", "clerk", "hall", replicas=2)
    assert given.having(replicas=3).without_keys("namespace").document() == {
        "resource": "deployment/clerk",
        "replicas": 3,
    }
    assert given.document() == {"resource": "deployment/clerk", "namespace": "hall", "replicas": 2}
    assert (given.kind, given.name, given.namespace) == ("deployment", "clerk", "hall")


@pytest.mark.parametrize("goal", [{"operation": "delete pvc/x"}, {"output": "secret/x.data.KEY"}])
def test_the_goal_is_a_value_of_its_own(goal):
    document = {**documents()[0], "x-sirocco": {"goal": goal}}
    assert ScenarioDraft.parse(document).goal == Goal(**goal)
    assert same_text(document)
