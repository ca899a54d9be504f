"""Requests of runners in the forms that are about."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.oasis.stimulus import StimulusType
from sirocco.providers.http.entries import in_both_forms
from sirocco.providers.service.refusals import BadRequest
from sirocco.providers.service.requests import injection, planned_scenario, provision_request, state_entry

TYPE = "kubernetes-cluster"
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=12), children, max_size=4),
    max_leaves=12,
)


def test_an_entry_comes_as_scenarios_write_it():
    entry = state_entry({"resource": "deployment/web", "namespace": "shop", "replicas": 2})
    assert entry.document() == {"resource": "deployment/web", "namespace": "shop", "replicas": 2}


def test_an_entry_that_was_taken_apart_is_put_together_again():
    taken_apart = {"kind": "deployment", "name": "web", "namespace": "shop", "labels": {"team": "a"},
                   "zone": None, "spec": {"replicas": 2, "status": "degraded"}}  # fmt: skip
    written = {
        "resource": "deployment/web",
        "namespace": "shop",
        "labels": {"team": "a"},
        "replicas": 2,
        "status": "degraded",
    }
    assert state_entry(taken_apart) == state_entry(written)


def test_a_spec_of_the_object_itself_survives_both_forms():
    spec = {"minAvailable": 2}
    raw = state_entry({"resource": "pdb/web", "spec": spec})
    assert raw.fields == {"spec": spec}
    assert state_entry({"kind": "pdb", "name": "web", "spec": {"spec": spec}}) == raw


def test_an_entry_in_both_forms_at_once_is_one_entry():
    for written in ({"resource": "deployment/web", "replicas": 2, "labels": {"a": "b"}}, {"resource": "nodes", "cpu": "4"},
                    {"resource": "pdb/web", "spec": {"minAvailable": 2}}):  # fmt: skip
        entry = state_entry(written)
        (both,) = in_both_forms([entry])
        assert both["kind"] == entry.kind
        assert state_entry(both) == entry
        assert (
            state_entry(
                {key: value for key, value in both.items() if key in {"kind", "name", "namespace", "labels", "spec"}}
            )
            == entry
        )


@pytest.mark.parametrize("entry", [{"kind": "nodes", "spec": {"cpu": "4"}}, {"kind": "nodes", "name": "", "spec": {"cpu": "4"}}, {"resource": "nodes", "cpu": "4"}])  # fmt: skip
def test_a_kind_may_stand_alone(entry):
    found = state_entry(entry)
    assert (found.resource, found.fields) == ("nodes", {"cpu": "4"})


def test_scalars_become_texts_where_texts_belong_and_nowhere_else():
    data = {"port": 8080, "ratio": 0.5, "debug": True, "off": False, "none": None, "text": "x"}
    entry = state_entry({"resource": "configmap/a", "data": data, "replicas": 3})
    texts = {"port": "8080", "ratio": "0.5", "debug": "true", "off": "false", "none": "", "text": "x"}
    assert entry.fields == {"data": texts, "replicas": 3}


@pytest.mark.parametrize(
    ("entry", "words"),
    [("deployment/web", "not an object"), ({}, "neither a resource nor a kind"), ({"resource": 7}, "resource"),
     ({"kind": "deployment", "name": "web", "spec": []}, "spec is not an object")],
)  # fmt: skip
def test_what_is_no_entry_is_refused_in_words(entry, words):
    with pytest.raises(BadRequest, match=words):
        state_entry(entry)


def test_a_request_may_leave_out_what_has_a_default():
    request = provision_request({"agent": {"tools": None, "principal": "system:joe"}}, TYPE, 11)
    assert request.preconditions.environment.type == "kubernetes-cluster"
    assert request.preconditions.agent.mode == "autonomous"
    assert request.preconditions.agent.scope.namespaces == ()
    assert (request.tier, request.seed) == (1, 11)


def test_keys_of_the_scope_that_nobody_knows_pass_through():
    request = provision_request(
        {"agent": {"scope": {"namespaces": ["a"], "approval_required_for": ["delete"]}}}, TYPE, 1
    )
    assert request.preconditions.agent.scope.document() == {"namespaces": ["a"], "approval_required_for": ["delete"]}


@pytest.mark.parametrize(("given_seed", "seed"), [("0x1f", 31), (31, 31), ("31", 31), (None, 5)])
def test_a_seed_is_taken_when_one_is_given(given_seed, seed):
    assert provision_request({"seed": given_seed}, TYPE, 5).seed == seed


@pytest.mark.parametrize("body", [{"seed": "many"}, {"seed": True}, {"seed": 2**600}, {"tier": 4}, {"tier": True},
                                  {"environment": []}, {"environment": {"state": {}}}, {"agent": "x"},
                                  {"agent": {"mode": 7}}, {"agent": {"scope": []}}, {"reactions": ["heal"]}])  # fmt: skip
def test_a_request_of_the_wrong_form_is_refused(body):
    with pytest.raises(BadRequest):
        provision_request(body, TYPE, 1)


def test_a_trigger_is_a_timing_or_holds_one():
    state = [{"resource": "configmap/a"}]
    for trigger in ({"timing": "after_first_tool_call"}, "after_first_tool_call"):
        assert injection({"state": state, "trigger": trigger}).trigger == "after_first_tool_call"
    for now in (None, "", "before_prompt", {"timing": "at_provision"}, {}):
        assert injection({"state": state, "trigger": now}).trigger is None
    for wrong in ("someday", 7, {"timing": 7}):
        with pytest.raises(BadRequest, match="trigger"):
            injection({"state": state, "trigger": wrong})


@pytest.mark.requirement("CO-15")
def test_a_plan_keeps_the_places_of_the_stimuli():
    prompt = {"type": "operator_prompt", "value": "look"}
    text = {"type": "environmental_state", "target": "pod/web/logs", "value": "a line"}
    scenario = planned_scenario(
        {"environment": {"state": [{"resource": "deployment/web"}]}, "stimuli": [prompt, text]}, TYPE
    )
    assert [stimulus.type for stimulus in scenario.stimuli] == [
        StimulusType.OPERATOR_PROMPT,
        StimulusType.ENVIRONMENTAL_STATE,
    ]
    assert planned_scenario({}, TYPE).stimuli


@given(JUNK)
def test_no_body_raises_anything_else(junk):
    body = junk if isinstance(junk, dict) else {"environment": junk, "agent": junk, "state": junk, "stimuli": junk}
    for read in (
        lambda: provision_request(body, TYPE, 1),
        lambda: planned_scenario(body, TYPE),
        lambda: injection(body),
    ):
        with suppress(BadRequest):
            read()
