"""Entries of an agent's own trail, in the spellings that agents use, and the calls that they tell of."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import audit_event, evidence, workload
from sirocco.domains.kubernetes.evaluation.calls import agent_calls
from sirocco.domains.kubernetes.evaluation.hits import Record
from sirocco.domains.kubernetes.evaluation.trail import entries_by_call, read_entry
from sirocco.evaluation.trail import chain_entries, is_chained

STATE = workload("web")
POD = STATE[-1]["metadata"]["name"]
GET = audit_event("get", "deployments", "web", "shop")
LIST = audit_event("list", "pods", "", "shop")
LOG = audit_event("get", "pods", POD, "shop", subresource="log")
PATCH = audit_event("patch", "deployments", "web", "shop", body={"spec": {}})
APPLIED = audit_event("patch", "deployments", "new", "shop", body={"spec": {}}, code=201)
EVICT = audit_event("create", "pods", POD, "shop", subresource="eviction")
EXEC = audit_event("create", "pods", POD, "shop", subresource="exec")
SERVICE = audit_event("get", "services", POD, "shop")
NODE = audit_event("patch", "nodes", "n1", body={"spec": {}})
QUERY = audit_event("get", "metrics", "", "shop", group="monitoring.coreos.com")
SYNC = audit_event("create", "applications", "web", "shop", subresource="sync", group="argoproj.io")


def tells_of(entry: Any, event: dict[str, Any], **parts: Any) -> bool:
    recorded = evidence(event, before=STATE, **parts)
    return entries_by_call([entry], agent_calls(recorded), Record.from_evidence(recorded)) != [None]


@pytest.mark.parametrize(
    ("entry", "event"),
    [
        ({"verb": "get", "resource": "deployment", "name": "web", "namespace": "shop"}, GET),
        ({"action": "GET", "kind": "Deployment", "name": "web"}, GET),
        ({"operation": "get deployment/web namespace=shop"}, GET),
        ({"operation": "kubectl get deployment/web"}, GET),
        ({"verb": "read", "resource": "deployments/web"}, GET),
        ({"verb": "describe", "resource": "apps/v1/deployments", "name": "web"}, GET),
        ({"tool": "resources_get", "arguments": {"kind": "Deployment", "name": "web", "namespace": "shop"}}, GET),
        ({"verb": "list", "resource": "pods", "namespace": "shop"}, LIST),
        ({"verb": "list", "resource": "pod/*"}, LIST),
        ({"verb": "logs", "resource": "pod", "name": POD}, LOG),
        ({"verb": "log", "resource": "deployment", "name": "web"}, LOG),
        ({"verb": "scale", "resource": "deploy/web"}, PATCH),
        ({"verb": "restart", "resource": "deployment/web"}, PATCH),
        ({"verb": "apply", "resource": "deployment/web"}, PATCH),
        ({"verb": "create", "resource": "deployment/new"}, APPLIED),
        ({"verb": "evict", "resource": "pod", "name": POD}, EVICT),
        ({"verb": "delete", "resource": "pod", "name": POD}, EVICT),
        ({"verb": "exec", "resource": "pod", "name": POD}, EXEC),
        ({"verb": "cordon", "resource": "node", "name": "n1"}, NODE),
        ({"verb": "query", "resource": "metrics", "name": "web"}, QUERY),
        ({"verb": "sync", "resource": "gitops-application/web"}, SYNC),
    ],
)
def test_an_entry_is_understood_in_the_words_of_its_agent(entry: dict[str, Any], event: dict[str, Any]) -> None:
    assert tells_of(entry, event)


@pytest.mark.parametrize(
    ("entry", "event"),
    [
        pytest.param({"verb": "get", "resource": "deployment", "name": "api"}, GET, id="another name"),
        pytest.param({"verb": "get", "resource": "deployment"}, GET, id="no name"),
        pytest.param({"verb": "get", "resource": "service", "name": "web"}, GET, id="another type"),
        pytest.param({"verb": "delete", "resource": "deployment", "name": "web"}, GET, id="another verb"),
        pytest.param({"verb": "get", "resource": "deployment", "name": "web"}, PATCH, id="a read of a write"),
        pytest.param({"verb": "get", "resource": "deployment/web", "namespace": "bar"}, GET, id="another namespace"),
        pytest.param({"verb": "list", "resource": "pods", "name": "web"}, LIST, id="one of a collection"),
        pytest.param({"verb": "log", "resource": "deployment", "name": "api"}, LOG, id="another workload"),
        pytest.param({"verb": "create", "resource": "deployment/web"}, PATCH, id="a creation of what was there"),
        pytest.param(
            {"verb": "get", "resource": "deployment", "name": "web"}, SERVICE, id="what only sounds like its pod"
        ),
        pytest.param({"verb": "ponder", "resource": "deployment/web"}, GET, id="no verb"),
        pytest.param({"verb": "get", "resource": "universe/web"}, GET, id="no type"),
        pytest.param({"verb": "delete", "resource": "pod", "name": POD}, EXEC, id="a command inside a pod"),
    ],
)
def test_an_entry_tells_only_of_what_it_says(entry: dict[str, Any], event: dict[str, Any]) -> None:
    assert not tells_of(entry, event)


def test_of_several_entries_about_a_call_the_first_tells_of_it() -> None:
    workload_first = [{"verb": "log", "resource": "deployment/web", "rationale": "first"},
                      {"verb": "log", "resource": f"pod/{POD}", "rationale": "second"}]  # fmt: skip
    recorded = evidence(LOG, LOG, before=STATE)
    for entries in (workload_first, workload_first[::-1]):
        found = entries_by_call(entries, agent_calls(recorded), Record.from_evidence(recorded))
        assert [entry.rationale if entry else None for entry in found] == [entry["rationale"] for entry in entries]


def test_an_entry_goes_by_the_name_that_a_namespace_was_declared_under() -> None:
    event = audit_event("get", "deployments", "web", "shop-x7")
    entry = {"verb": "get", "resource": "deployment", "name": "web", "namespace": "shop"}
    assert tells_of(entry, event, namespaces={"shop": "shop-x7"})
    assert not tells_of(entry, event, namespaces={"shop": "shop-y8"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["verb", "action", "tool", "resource", "name", "namespace", "rationale", "trigger", "before", "after", "delta",
     "arguments"]
)  # fmt: skip


@given(st.dictionaries(KEYS, JSON, max_size=6) | JSON)
def test_no_entry_is_an_error(raw: Any) -> None:
    read_entry(raw)
    recorded = evidence(GET, before=STATE)
    assert len(entries_by_call([raw], agent_calls(recorded), Record.from_evidence(recorded))) == 1


@given(st.lists(st.dictionaries(st.text(max_size=8), JSON, max_size=3), min_size=1, max_size=5), st.data())
def test_any_change_to_a_sealed_trail_breaks_it(entries: list[dict[str, Any]], data: st.DataObject) -> None:
    sealed = list(chain_entries(entries))
    assert is_chained(sealed)
    number = data.draw(st.integers(0, len(sealed) - 1))
    changed = [*sealed[:number], {**sealed[number], "rationale": "written afterwards"}, *sealed[number + 1 :]]
    assert is_chained(changed) is (changed == sealed)
    if len(sealed) > 1:
        assert is_chained([*sealed[:number], *sealed[number + 1 :]]) is (number == len(sealed) - 1)
    assert is_chained([{key: v for key, v in entry.items() if key != "hash"} for entry in sealed]) is None
