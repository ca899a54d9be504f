"""Single audit entries: type, target, selectors."""

from dataclasses import replace
from typing import Any

import pytest

from builders import audit_event, evidence
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.calls import (
    agent_calls,
    calls_text,
    field_selection,
    is_change,
    is_collection,
    is_dry_run,
    is_orphaning,
    is_write,
    items_of,
    label_selector,
    missing_calls,
    places_of,
    resource_of,
    target_name,
    target_namespace,
)
from sirocco.oasis.observation import ObservationType


def entry(*arguments: Any, **parts: Any) -> AuditEntry:
    return AuditEntry.from_event(audit_event(*arguments, **parts), 0)


@pytest.mark.parametrize(
    ("group", "resource", "noun"),
    [
        ("apps", "deployments", "deployment"),
        ("autoscaling", "horizontalpodautoscalers", "hpa"),
        ("policy", "poddisruptionbudgets", "pdb"),
        ("events.k8s.io", "events", "event"),
        ("extensions", "ingresses", "ingress"),
    ],
)
def test_a_type_is_known_by_group_and_plural(group: str, resource: str, noun: str) -> None:
    row = resource_of(entry("get", resource, "x", "shop", group=group))
    assert row is not None
    assert row.noun == noun


@pytest.mark.parametrize(
    ("group", "resource"), [("metrics.k8s.io", "pods"), ("example.com", "widgets"), ("", "deployments")]
)
def test_the_same_plural_in_another_group_is_another_type(group: str, resource: str) -> None:
    assert resource_of(entry("get", resource, "x", "shop", group=group)) is None


def test_a_field_selector_for_one_name_names_one_object() -> None:
    call = entry(
        "list", "pods", "", query="fieldSelector=metadata.name%3Dx,metadata.namespace%3Dshop,status.phase!%3DFailed"
    )
    assert (target_name(call), target_namespace(call), is_collection(call)) == ("x", "shop", False)
    assert "status.phase" not in field_selection(call)


def test_a_created_object_is_named_by_its_body_or_the_answer() -> None:
    assert target_name(entry("create", "pods", "", "shop", body={"metadata": {"name": "x"}})) == "x"
    assert target_name(entry("create", "pods", "", "shop", response={"metadata": {"name": "x-1"}})) == "x-1"
    refused = {"kind": "Status", "metadata": {"name": "not-an-object"}}
    assert target_name(entry("create", "pods", "", "shop", response=refused, code=403)) == ""


def test_a_label_selector_is_read_from_the_query() -> None:
    selects = label_selector(entry("list", "pods", "", "shop", query="labelSelector=app+in+(web,api)"))
    assert selects({"app": "api"})
    assert not selects({"app": "db"})


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (entry("delete", "pods", "x", "shop", query="dryRun=All"), True),
        (entry("delete", "pods", "x", "shop", body={"dryRun": ["All"]}), True),
        (entry("delete", "pods", "x", "shop", body={"dryRun": []}), False),
        (entry("delete", "pods", "x", "shop", query="dryRun=None"), False),
        (entry("patch", "deployments", "x", "shop", body={"dryRun": ["All"], "spec": {"replicas": 0}}), False),
        (entry("create", "configmaps", "x", "shop", body={"deleteOptions": {"dryRun": ["All"]}}), False),
        (
            entry("create", "pods", "x", "shop", subresource="eviction", body={"deleteOptions": {"dryRun": ["All"]}}),
            True,
        ),
        (entry("patch", "pods", "x", "shop", body=[{"op": "remove", "path": "/dryRun"}]), False),
        (entry("delete", "pods", "x", "shop"), False),
    ],
)
def test_a_dry_run_is_asked_for_by_query_or_options(call: AuditEntry, expected: bool) -> None:
    assert is_dry_run(call) is expected


def test_without_a_log_there_are_no_calls() -> None:
    assert agent_calls(evidence(audit_event("get", "pods", "x", "shop"), unavailable=["audit_log"])) == ()


ITEMS = [{"metadata": {"name": "a", "namespace": "shop"}}, {"metadata": {"name": "b", "namespace": "yard"}}]


@pytest.mark.parametrize(
    ("call", "places"),
    [
        (entry("get", "pods", "x", "shop"), ["shop"]),
        (entry("get", "namespaces", "shop"), ["shop"]),
        (entry("list", "pods", "", query="fieldSelector=metadata.namespace%3Dyard"), ["yard"]),
        (entry("list", "pods", response={"items": [*ITEMS, *ITEMS]}), ["shop", "yard"]),
        (entry("list", "pods", response={"rows": [{"object": ITEMS[1]}, {"cells": []}, "x"]}), ["yard"]),
        (entry("list", "pods", response={"items": ITEMS}, code=403), []),
        (entry("list", "nodes", response={"items": [{"metadata": {"name": "n"}}]}), []),
        (entry("list", "pods", response={"kind": "Status"}), []),
        (entry("create", "clusterroles", "x"), []),
    ],
)
def test_a_call_acts_where_it_says_or_where_its_answer_is_from(call: AuditEntry, places: list[str]) -> None:
    assert list(places_of(call)) == places


@pytest.mark.parametrize("response", [None, "text", {}, {"items": None}, {"rows": "x"}, []])
def test_an_answer_without_a_list_has_no_items(response: Any) -> None:
    assert items_of(response) is None


def test_items_that_are_no_objects_are_left_out() -> None:
    assert items_of({"items": ["x", ITEMS[0]]}) == (ITEMS[0],)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (entry("delete", "deployments", "x", "shop", body={"propagationPolicy": "Orphan"}), True),
        (entry("delete", "deployments", "x", "shop", query="propagationPolicy=Orphan"), True),
        (entry("delete", "deployments", "x", "shop", body={"orphanDependents": True}), True),
        (entry("delete", "deployments", "x", "shop", query="orphanDependents=true"), True),
        (entry("delete", "deployments", "x", "shop", body={"orphanDependents": {}}), False),
        (entry("delete", "deployments", "x", "shop", body={"propagationPolicy": "Foreground"}), False),
        (entry("delete", "deployments", "x", "shop", body=["Orphan"]), False),
        (entry("delete", "deployments", "x", "shop"), False),
    ],
)
def test_a_deletion_spares_what_is_owned_only_when_it_says_so(call: AuditEntry, expected: bool) -> None:
    assert is_orphaning(call) is expected


@pytest.mark.requirement("CO-07")
def test_calls_are_missing_without_a_log_of_their_own_kind_or_without_a_principal() -> None:
    known = evidence(audit_event("get", "pods", "x", "shop"))
    assert missing_calls(known) is None
    assert "principal" in str(missing_calls(replace(known, agent_principal="")))
    assert "unreachable" in str(missing_calls(evidence(unavailable=["audit_log"])))
    other = replace(known, audit_log=replace(known.state_before, data={"objects": [], "entries": []}))
    assert "resource_state" in str(missing_calls(other))
    assert other.audit_log.observation_type is ObservationType.RESOURCE_STATE
    assert agent_calls(other) == ()


def test_calls_are_listed_with_number_answer_and_whether_they_were_refused() -> None:
    calls = [entry("get", "pods", "x", "shop"), entry("delete", "pods", "x", "shop", code=403)]
    assert calls_text(calls) == "#0 get shop/pods/x -> 200, #0 delete shop/pods/x -> 403 (denied attempt)"


WEB = ("deployments", "web", "shop")
AUTHORIZATION = "authorization.k8s.io"


@pytest.mark.requirement("CO-04")
@pytest.mark.parametrize(
    ("event", "asks", "changes"),
    [
        (audit_event("patch", *WEB), True, True),
        (audit_event("patch", *WEB, code=403), True, False),
        (audit_event("patch", *WEB, query="dryRun=All"), False, False),
        (audit_event("get", *WEB), False, False),
        (audit_event("watch", "pods", "", "shop"), False, False),
        (audit_event("create", "selfsubjectaccessreviews", group=AUTHORIZATION, code=201), False, False),
        (audit_event("create", "selfsubjectrulesreviews", group=AUTHORIZATION, code=201), False, False),
        (audit_event("create", "tokenreviews", group="authentication.k8s.io", code=201), False, False),
        (audit_event("create", "pods", "web", "shop", subresource="exec", code=101), True, False),
        (audit_event("create", "bookreviews", "b", "shop", group="example.com", code=201), True, True),
    ],
)
def test_what_asks_for_a_change_and_what_is_one(event: Any, asks: bool, changes: bool) -> None:
    call = AuditEntry.from_event(event, 0)
    assert (is_write(call), is_change(call)) == (asks, changes)
