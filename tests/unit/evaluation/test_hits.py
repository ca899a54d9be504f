"""Verb families over calls that a real API server recorded: each is seen by the right families and by no other."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from builders import evidence
from kubesim.resource import REPLICATED, WORKLOADS
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.calls import is_dry_run, is_metadata_only, resource_of, target_name
from sirocco.domains.kubernetes.evaluation.operations import matching_calls
from sirocco.domains.kubernetes.evaluation.writes import may_create, shows_more
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.operation import ALL

READS = {"get": {Verb.GET}, "list": {Verb.GET, Verb.LIST}, "watch": {Verb.GET, Verb.LIST, Verb.WATCH}}
WRITES = {
    "create": {Verb.CREATE, Verb.APPLY},
    "update": {Verb.UPDATE, Verb.PATCH, Verb.APPLY, Verb.REPLACE},
    "patch": {Verb.UPDATE, Verb.PATCH, Verb.APPLY},
    "delete": {Verb.DELETE},
    "deletecollection": {Verb.DELETE, Verb.DELETECOLLECTION},
}
BY_EFFECT = {Verb.SCALE, Verb.RESTART, Verb.ROLLBACK}


@dataclass(frozen=True, eq=False)
class Recorded:
    """One recorded call, with the log of its case up to and including it."""

    case: str
    entry: AuditEntry
    evidence: Evidence

    def is_matched_by(self, operation: Operation) -> bool:
        return self.entry.sequence in {call.sequence for call in matching_calls(operation, self.evidence)}

    def operation(self, verb: Verb, **parts: Any) -> Operation:
        row = resource_of(self.entry)
        assert row is not None
        return Operation(verb, row.noun, target_name(self.entry) or "*", **parts)


def recorded_calls(folder: Path) -> Iterator[Recorded]:
    """Every call on a type of the vocabulary, its own principal taken for the agent's."""
    for file in sorted(folder.glob("*/*.json")):
        case = json.loads(file.read_text())
        events = [event for step in case["steps"] for event in _events(step)]
        state = [_placed(request) for request in case["setup"].get("requests", ()) if "body" in request]
        for sequence, event in enumerate(events):
            entry = AuditEntry.from_event(event, sequence)
            if resource_of(entry) is not None and entry.principal and entry.verb:
                facts = replace(evidence(*events[: sequence + 1], before=state), agent_principal=entry.principal)
                yield Recorded(file.stem, entry, facts)


def _placed(request: dict[str, Any]) -> dict[str, Any]:
    """An object of the case's set-up, in the namespace that it was created in."""
    found = re.search(r"/namespaces/([^/]+)/", request["path"])
    place = {"namespace": found[1]} if found else {}
    return {**request["body"], "metadata": {**request["body"].get("metadata", {}), **place}}


def _events(step: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a step; recordings have one placeholder for all ids, which would make equal calls one call."""
    body = step["response"].get("body")
    return [
        {
            key: body if (key, value) == ("responseObject", "=response.body") else value
            for key, value in event.items()
            if key != "auditID"
        }
        for event in step.get("audit", ())
    ]


@pytest.fixture(scope="module")
def calls(recordings: Path) -> list[Recorded]:
    return list(recorded_calls(recordings / "cases"))


def families(entry: AuditEntry) -> set[Verb]:
    """The families that a call belongs to by the vocabulary's own table, those by effect aside."""
    shown = {Verb.ANY, Verb.GET} if entry.resource == "secrets" and shows_more(entry) else set()
    if is_dry_run(entry):
        return shown
    if entry.subresource in {"exec", "attach", "portforward"}:
        return {Verb.ANY, Verb.EXEC}
    if entry.subresource == "proxy" and entry.resource in {"pods", "services"}:
        return {Verb.ANY, Verb.EXEC}
    if entry.subresource == "log":
        return {Verb.ANY, Verb.LOG}
    if entry.subresource == "eviction":
        return {Verb.ANY, Verb.DELETE}
    if entry.subresource in {"scale", "finalize"} and entry.verb != "get":
        return {Verb.ANY, *WRITES[entry.verb]}
    if entry.subresource:
        return {Verb.ANY}
    created = {Verb.CREATE} if entry.verb in {"update", "patch"} and entry.code == 201 else set()
    hidden = {Verb.GET} if entry.resource in {"secrets", "configmaps"} and is_metadata_only(entry) else set()
    return {
        Verb.ANY,
        *(READS.get(entry.verb, set()) - hidden),
        *WRITES.get(entry.verb, ()),
        *created,
        *(() if entry.verb in READS else shown),
    }


def test_every_recorded_call_is_seen_by_exactly_its_families(calls: list[Recorded]) -> None:
    assert len(calls) > 500
    for call in calls:
        seen = {
            verb
            for verb in set(Verb) - BY_EFFECT - {Verb.AUTHENTICATE}
            if call.is_matched_by(call.operation(verb, namespace=call.entry.namespace or None))
        }
        if may_create(call.entry):
            # Whether it would have depends on what there was, which tests of operations vary.
            seen.discard(Verb.CREATE)
        assert seen == families(call.entry), f"{call.case}: {call.entry} {call.entry.uri}"


def test_no_recorded_call_is_seen_under_another_name_or_namespace(calls: list[Recorded]) -> None:
    for call in calls:
        name = target_name(call.entry)
        if name and call.entry.resource != "namespaces":
            other = replace(call.operation(Verb.ANY), name=f"not-{name}")
            assert not call.is_matched_by(other), f"{call.case}: {call.entry}"
        if call.entry.namespace:
            assert not call.is_matched_by(Operation(Verb.ANY, "*", namespace=f"not-{call.entry.namespace}"))


def test_a_recorded_scale_is_seen_with_its_number_and_no_other(calls: list[Recorded]) -> None:
    scales = [
        call
        for call in calls
        if call.entry.subresource == "scale"
        and call.entry.verb != "get"
        and call.entry.succeeded
        and not is_dry_run(call.entry)
    ]
    assert {call.entry.verb for call in scales} == {"update", "patch"}
    for call in scales:
        replicas = call.entry.response["spec"].get("replicas", 0)
        assert call.is_matched_by(call.operation(Verb.SCALE, replicas=replicas))
        assert not call.is_matched_by(call.operation(Verb.SCALE, replicas=replicas + 1))
        assert not call.is_matched_by(call.operation(Verb.RESTART))


def test_a_recorded_write_scales_exactly_when_replicas_are_in_its_patch_or_changed_by_its_object(
    calls: list[Recorded],
) -> None:
    counted = 0
    for call in calls:
        entry, row = call.entry, resource_of(call.entry)
        is_patch = entry.verb == "patch" and not entry.subresource and isinstance(entry.request, dict)
        if row is None or row.noun not in REPLICATED or not is_patch or "kind" in entry.request or is_dry_run(entry):
            continue
        counted += 1
        mentioned = "replicas" in (entry.request.get("spec") or {})
        assert call.is_matched_by(call.operation(Verb.SCALE)) is mentioned, f"{call.case}: {entry.request}"
    assert counted > 10


@pytest.mark.parametrize(
    ("case", "verb", "path", "expected"),
    [
        pytest.param("jp-ops", "patch", "data.c", [0, 2], id="json patch adds, later moves away"),
        pytest.param("jp-ops", "patch", "data.b", [1], id="json patch removes"),
        pytest.param("mp-basic", "patch", "metadata.labels", [2, 3], id="merge patch of a map and of all of it"),
        pytest.param(
            "mp-basic", "patch", "metadata.labels.b", [2, 3], id="merge patch sets, then removes what is above"
        ),
        pytest.param("mp-basic", "patch", "image", [0], id="merge patch of a list"),
        pytest.param(
            "smp-containers", "patch", "image", [0, 1, 2], id="strategic patch of members, then of one to remove"
        ),
        pytest.param("ssa-deploy", "scale", "", [0, 1], id="apply that changes, then one that repeats"),
    ],
)
def test_a_recorded_patch_is_seen_for_the_fields_that_it_writes(
    calls: list[Recorded], case: str, verb: str, path: str, expected: list[int]
) -> None:
    of_case = {call: f"{call.operation(Verb(verb))} {path}" for call in calls if call.case == case}
    seen = [call.entry.sequence for call, text in of_case.items() if call.is_matched_by(Operation.parse(text))]
    assert [sequence for sequence in seen if sequence <= max(expected)] == expected


def test_a_recorded_deletecollection_is_all_only_without_a_selector(calls: list[Recorded]) -> None:
    deleted = [call for call in calls if call.entry.verb == "deletecollection" and not target_name(call.entry)]
    assert deleted
    for call in deleted:
        whole = "elector=" not in call.entry.uri and not is_dry_run(call.entry)
        assert call.is_matched_by(replace(call.operation(Verb.DELETE), name=ALL)) is whole, call.entry.uri


def test_a_recorded_impersonation_is_authentication_with_foreign_credentials(calls: list[Recorded]) -> None:
    impersonated = [call for call in calls if call.entry.impersonated]
    assert impersonated
    text = Operation.parse("authenticate external-credentials")
    assert all(call.is_matched_by(text) for call in impersonated)


def test_a_recorded_write_that_was_refused_unread_is_every_write_that_it_could_have_been(calls: list[Recorded]) -> None:
    unread = [
        call
        for call in calls
        if call.entry.denied
        and call.entry.verb == "patch"
        and call.entry.request is None
        and not is_dry_run(call.entry)
    ]
    assert unread
    for call in unread:
        row = resource_of(call.entry)
        if call.entry.subresource != "status":
            assert call.is_matched_by(call.operation(Verb.PATCH))
        if row is not None and row.noun in WORKLOADS and call.entry.subresource == "scale":
            assert call.is_matched_by(call.operation(Verb.SCALE, replicas=7))
