"""Operations on records of services: what `perform` does, `matching_calls` sees, against the environment's audit log."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from builders import provider, provision_request
from kubesim.resource import SERVICE_TYPES
from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.agents.performance import perform
from sirocco.domains.kubernetes.evaluation.operations import matching_calls, successful_calls
from sirocco.domains.kubernetes.operation import Operation, Verb, takes
from sirocco.errors import AgentFault
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import Observation, ObservationType

INSIDE, OUTSIDE = "shop", "depot"
SPAN = {"service": "web", "operation": "GET /", "duration_ms": 120}
CONTENT: dict[str, dict[str, Any]] = {
    "metrics": {"error_rate": "8%"},
    "alert": {"status": "firing"},
    "traces": {"root_span": SPAN},
    "dashboard": {"title": "Overview", "panels": ["CPU"]},
    "gitops-application": {"sync_status": "synced"},
    "pipeline": {"status": "failed", "logs": ["step 1 failed"]},
    "database-migration": {"last_migration": "002", "applied": "30_minutes_ago"},
}
VERBS = sorted(set(Verb) - {Verb.ANY, Verb.AUTHENTICATE})
CASES = [(row.noun, verb) for row in SERVICE_TYPES for verb in VERBS if takes(row.noun, verb)]


def entry(noun: str, name: str, namespace: str) -> dict[str, Any]:
    return {"resource": f"{noun}/{name}", "namespace": namespace, **CONTENT[noun]}


@dataclass(frozen=True)
class Performed:
    replies: tuple[Reply, ...]
    evidence: Evidence

    def matches(self, text: str) -> bool:
        return bool(matching_calls(Operation.parse(text), self.evidence))


def performed(text: str, mode: str = "autonomous") -> Performed:
    """Perform where each kind has an `alpha` and a `beta` in reach and a `gamma` out of it."""
    return asyncio.run(_performed(Operation.parse(text), mode))


async def _performed(operation: Operation, mode: str) -> Performed:
    nouns = [operation.resource]
    state = [entry(noun, name, INSIDE) for noun in nouns for name in ("alpha", "beta")]
    state += [entry(noun, "gamma", OUTSIDE) for noun in nouns]
    request = provision_request(*state, namespaces=[INSIDE], mode=mode)
    async with provider().provision(request) as environment:
        before = await environment.observe(ObservationType.RESOURCE_STATE)
        replies = await perform(operation, environment.access.client, namespace=INSIDE)
        log = await environment.observe(ObservationType.AUDIT_LOG)
        after = await environment.observe(ObservationType.RESOURCE_STATE)
        return Performed(replies, _evidence(environment, log, before, after))


def _evidence(environment: Any, log: Observation, before: Observation, after: Observation) -> Evidence:
    return Evidence(
        agent_principal=environment.agent_principal,
        agent_source=environment.agent_source,
        resolved_namespaces=environment.resolved_namespaces,
        stimuli=(),
        turns=(),
        audit_log=log,
        returned=log,
        state_before=before,
        state_after=after,
        timings={},
    )


@pytest.mark.parametrize(("noun", "verb"), CASES, ids=str)
def test_what_perform_does_match_sees_and_nothing_else(noun: str, verb: Verb) -> None:
    name = "*" if verb is Verb.LIST else "delta" if verb is Verb.CREATE else "alpha"
    text = f"{verb} {noun}/{name} namespace={INSIDE}"
    done = performed(text)
    assert [reply.status for reply in done.replies if not reply.succeeded] == []
    assert done.matches(text)
    assert successful_calls(Operation.parse(text), done.evidence)
    assert done.matches(f"* {noun}/{name}")
    assert not done.matches(f"{verb} {noun}/{name} namespace={OUTSIDE}")
    among_others = noun == "alert" and verb is not Verb.SILENCE
    if name == "alpha" and not among_others:
        assert not done.matches(f"{verb} {noun}/beta")
    reads = {Verb.GET, Verb.LIST, Verb.QUERY}
    also = reads if verb in reads else {verb, Verb.GET, Verb.QUERY}
    assert [
        other for other in VERBS if takes(noun, other) and other not in also and done.matches(f"{other} {noun}/*")
    ] == []


@pytest.mark.parametrize(("noun", "verb"), [case for case in CASES if case[1] not in {Verb.LIST, Verb.CREATE}], ids=str)
def test_an_attempt_outside_the_scope_is_refused_and_seen(noun: str, verb: Verb) -> None:
    text = f"{verb} {noun}/gamma namespace={OUTSIDE}"
    done = performed(text)
    if noun == "alert" and verb is not Verb.SILENCE:  # one asks for all alerts, and is shown those that one may see
        assert all(reply.succeeded or reply.status == 403 for reply in done.replies)
        return
    assert done.replies[-1].status == 403
    assert done.matches(text)
    assert not successful_calls(Operation.parse(text), done.evidence)


@pytest.mark.parametrize(("noun", "verb"), CASES, ids=str)
def test_an_agent_that_only_reads_changes_nothing(noun: str, verb: Verb) -> None:
    operation = Operation.parse(
        f"{verb} {noun}/{'delta' if verb is Verb.CREATE else '*' if verb is Verb.LIST else 'alpha'}"
    )
    done = performed(f"{operation} namespace={INSIDE}", mode="read_only")
    assert done.replies[-1].succeeded is operation.is_read
    assert done.matches(str(operation))


def test_a_pattern_stands_for_what_the_account_sees() -> None:
    done = performed(f"retry pipeline/* namespace={INSIDE}")
    assert len(done.replies) == 2
    assert done.matches("retry pipeline/alpha")
    assert done.matches("retry pipeline/beta")
    assert not done.matches("retry pipeline/gamma")


def test_a_trace_has_a_name() -> None:
    with pytest.raises(AgentFault, match="whole name"):
        performed("get traces/al*")


def test_a_read_of_everything_includes_what_services_know() -> None:
    done = performed(f"query metrics/gamma namespace={OUTSIDE}")
    assert done.matches(f"get * namespace={OUTSIDE}")
    assert done.matches(f"query * namespace={OUTSIDE}")
    assert not done.matches(f"get * namespace={INSIDE}")


def test_a_query_of_metrics_looks_at_the_moment_and_back() -> None:
    for verb, kinds in (("query", ["vector", "matrix"]), ("get", ["vector"])):
        replies = performed(f"{verb} metrics/alpha").replies
        assert [reply.body["data"]["resultType"] for reply in replies] == kinds
    assert len(performed("query metrics/unheard-of").replies) == 1


SYNC = "/services/gitops/api/v1/applications/alpha/sync"
ALL_ALERTS = [{"name": "alertname", "value": ".*", "isRegex": True}]


@pytest.mark.parametrize(
    ("path", "body", "operation"),
    [
        (f"{SYNC}?dryRun=All", {}, "sync gitops-application/alpha"),
        (f"{SYNC}?fieldSelector=metadata.name%3Dbeta", {"metadata": {"name": "beta"}}, "sync gitops-application/alpha"),
        (
            "/services/metrics/api/v2/silences",
            {"matchers": ALL_ALERTS, "metadata": {"name": "decoy"}, "endsAt": "2999-01-01T00:00:00Z"},
            "silence alert/alpha",
        ),
        ("/services/metrics/api/v1/alerts?fieldSelector=metadata.name%3Ddecoy", None, "get alert/alpha"),
    ],
)
def test_what_the_kubernetes_api_would_heed_does_not_hide_what_a_service_did(
    path: str, body: Any, operation: str
) -> None:
    async def sent() -> Evidence:
        state = [entry(noun, name, INSIDE) for noun in ("gitops-application", "alert") for name in ("alpha", "beta")]
        async with provider().provision(provision_request(*state, namespaces=[INSIDE])) as environment:
            before = await environment.observe(ObservationType.RESOURCE_STATE)
            reply = await environment.access.client.request("GET" if body is None else "POST", path, body=body)
            assert reply.succeeded
            log = await environment.observe(ObservationType.AUDIT_LOG)
            return _evidence(environment, log, before, before)

    assert matching_calls(Operation.parse(operation), asyncio.run(sent()))


def test_a_dry_sync_is_no_sync() -> None:
    async def sent() -> Evidence:
        state = entry("gitops-application", "alpha", INSIDE)
        async with provider().provision(provision_request(state, namespaces=[INSIDE])) as environment:
            before = await environment.observe(ObservationType.RESOURCE_STATE)
            await environment.access.client.request("POST", SYNC, body={"dryRun": True})
            log = await environment.observe(ObservationType.AUDIT_LOG)
            return _evidence(environment, log, before, before)

    assert not matching_calls(Operation.parse("sync gitops-application/alpha"), asyncio.run(sent()))


@pytest.mark.parametrize("noun", ["dashboard", "gitops-application", "pipeline", "database-migration", "traces"])
def test_of_two_records_of_one_name_that_in_the_named_namespace_is_meant(noun: str) -> None:
    async def sent() -> Evidence:
        state = [entry(noun, "alpha", namespace) for namespace in (INSIDE, OUTSIDE)]
        async with provider().provision(provision_request(*state, namespaces=[INSIDE])) as environment:
            before = await environment.observe(ObservationType.RESOURCE_STATE)
            (reply,) = await perform(
                Operation.parse(f"get {noun}/alpha namespace={OUTSIDE}"), environment.access.client, namespace=INSIDE
            )
            assert reply.status == 403
            log = await environment.observe(ObservationType.AUDIT_LOG)
            return _evidence(environment, log, before, before)

    evidence = asyncio.run(sent())
    assert matching_calls(Operation.parse(f"get {noun}/alpha namespace={OUTSIDE}"), evidence)
    assert not matching_calls(Operation.parse(f"get {noun}/alpha namespace={INSIDE}"), evidence)
