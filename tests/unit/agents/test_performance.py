"""What `perform` does, `matching_calls` sees, and nothing else: shown against the simulator's own audit log."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from builders import provider, provision_request
from kubesim.resource import REPLICATED, RESOURCE_TYPES, WORKLOADS
from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.agents.client import Kubernetes, PatchForm, minimal_object
from sirocco.domains.kubernetes.agents.performance import perform
from sirocco.domains.kubernetes.evaluation.operations import matching_calls, successful_calls
from sirocco.domains.kubernetes.operation import SERVICE_DEEDS, Operation, Verb
from sirocco.errors import AgentFault, OperationError
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import ObservationType

INSIDE, OUTSIDE = "shop", "depot"
NOUNS = sorted(row.noun for row in RESOURCE_TYPES)
NAMESPACED = sorted(row.noun for row in RESOURCE_TYPES if row.namespaced)
WRITES = [Verb.UPDATE, Verb.PATCH, Verb.APPLY, Verb.REPLACE]
MARKS = [
    "metadata.labels",
    "metadata.annotations",
    'metadata.annotations["example.com/owner"]=ledger',
    "metadata.labels.tier",
]
PATHS = {
    "configmap": ["data", "data.mode", "data.mode=slow", "data.extra=1"],
    "secret": ["data.mode", "data.mode=secretive", "stringData.mode=other", "stringData.extra=1"],
    "deployment": [
        "image",
        "image=registry.example/app:2.0",
        "spec.replicas",
        "spec.replicas=4",
        "spec.template.metadata.labels.tier=x",
    ],
    "statefulset": ["image", "spec.replicas=3"],
    "pod": ["image"],
    "cronjob": ["spec.schedule", "spec.suspend=true"],
    "hpa": ["spec.maxReplicas", "spec.maxReplicas=20"],
}
FAMILY = {verb: {Verb.UPDATE, Verb.PATCH, Verb.APPLY} for verb in (*WRITES, Verb.SCALE, Verb.RESTART, Verb.ROLLBACK)}
FAMILY |= {Verb.CREATE: {Verb.APPLY}, Verb.DELETE: set(), Verb.DELETECOLLECTION: {Verb.DELETE}}
PROBED = sorted(set(Verb) - {Verb.ANY, Verb.GET, Verb.LIST, Verb.WATCH})


@dataclass(frozen=True)
class Performed:
    replies: tuple[Reply, ...]
    evidence: Evidence

    def matches(self, operation: Operation) -> tuple[Any, ...]:
        return matching_calls(operation, self.evidence)


def performed(operation: Operation, form: PatchForm | None = None) -> Performed:
    """Perform in a cluster that holds an `alpha` and a `beta` of the operation's type, and of what pods can belong to."""
    return asyncio.run(_performed(operation, form))


async def _performed(operation: Operation, form: PatchForm | None) -> Performed:
    outside = {"resource": "deployment/deployment-alpha", "namespace": OUTSIDE, "replicas": 2}
    async with provider().provision(provision_request(outside, namespaces=[INSIDE])) as environment:
        kubernetes = Kubernetes(environment.access.client)
        owners = ("deployment", "statefulset") if operation.resource == "pod" else ()
        for noun in sorted({operation.resource, *owners} & set(NAMESPACED)):
            for name in ("alpha", "beta"):
                await kubernetes.create(noun, INSIDE, minimal_object(noun, INSIDE, f"{noun}-{name}"))
        if operation.verb is Verb.ROLLBACK:
            revised = Operation.parse("patch deployment/deployment-alpha image=registry.example/app:1.1")
            await perform(revised, kubernetes.client, namespace=INSIDE)
        earlier = len((await environment.observe(ObservationType.AUDIT_LOG)).data["entries"])
        before = await environment.observe(ObservationType.RESOURCE_STATE)
        replies = await perform(operation, kubernetes.client, namespace=INSIDE, form=form)
        log = await environment.observe(ObservationType.AUDIT_LOG)
        after = await environment.observe(ObservationType.RESOURCE_STATE)
        return Performed(
            replies,
            Evidence(
                agent_principal=environment.agent_principal,
                agent_source=environment.agent_source,
                resolved_namespaces=environment.resolved_namespaces,
                stimuli=(),
                turns=(),
                audit_log=replace(log, data={"entries": log.data["entries"][earlier:]}),
                returned=log,
                state_before=before,
                state_after=after,
                timings={},
            ),
        )


def types_for(verb: Verb) -> list[str]:
    by_verb = {Verb.SCALE: REPLICATED, Verb.RESTART: WORKLOADS | {"pod"}, Verb.ROLLBACK: {"deployment"},
               Verb.EXEC: {"pod"}, Verb.LOG: {"pod", "deployment", "statefulset", "daemonset"}}  # fmt: skip
    return sorted(by_verb.get(verb, NOUNS))


@st.composite
def concrete_operations(draw: st.DrawFn) -> Operation:
    """Operations of every verb family on objects that exist, in and out of the agent's reach."""
    verb = draw(st.sampled_from(sorted(set(Verb) - {Verb.ANY, Verb.QUERY, *SERVICE_DEEDS})))
    if verb is Verb.AUTHENTICATE:
        return Operation.parse("authenticate external-credentials")
    noun = draw(st.sampled_from(types_for(verb)))
    name = (
        draw(st.sampled_from(["deployment-alpha", "statefulset-alpha", "pod-alpha"]))
        if noun == "pod"
        else f"{noun}-alpha"
    )
    if verb in {Verb.LIST, Verb.WATCH, Verb.DELETECOLLECTION}:
        name = "*"
    if verb is Verb.DELETE:
        name = draw(st.sampled_from([name, "all"]))
    words = [verb, f"{noun}/{'new' if verb is Verb.CREATE else name}"]
    if verb in WRITES:
        words.append(draw(st.sampled_from(["", *MARKS, *PATHS.get(noun, [])])))
    if verb is Verb.SCALE:
        words.append(draw(st.sampled_from(["", "replicas=0", "replicas=7"])))
    if noun in NAMESPACED:
        words.append("namespace=" + draw(st.sampled_from([INSIDE, INSIDE, OUTSIDE])))
    return Operation.parse(" ".join(words))


forms = st.sampled_from([None, *PatchForm])


@settings(max_examples=settings.default.max_examples)
@given(concrete_operations(), forms)
def test_what_perform_does_match_sees(operation: Operation, form: PatchForm | None) -> None:
    try:
        done = performed(operation, form)
    except AgentFault:
        assume(operation.verb is not Verb.ROLLBACK or operation.namespace == INSIDE)
        raise
    assert done.replies
    assert done.matches(operation), done.evidence.audit_log.data["entries"]
    if all(reply.succeeded for reply in done.replies):
        assert successful_calls(operation, done.evidence)


@settings(max_examples=60)
@given(concrete_operations(), forms, st.data())
def test_the_same_operation_elsewhere_is_not_seen(
    operation: Operation, form: PatchForm | None, data: st.DataObject
) -> None:
    assume(operation.verb not in {Verb.AUTHENTICATE, Verb.ROLLBACK, Verb.CREATE})
    noun = operation.resource
    elsewhere = [replace(operation, resource="lease" if noun != "lease" else "pdb")]
    if noun in NAMESPACED:
        elsewhere.append(replace(operation, namespace=OUTSIDE if operation.namespace == INSIDE else INSIDE))
    if operation.name not in {"*", "all"}:
        elsewhere.append(replace(operation, name=operation.name.replace("alpha", "beta")))
        elsewhere.append(replace(operation, name="delta-*"))
    other = data.draw(st.sampled_from(elsewhere))
    assume(not (other.resource != noun and operation.verb not in {Verb.DELETE, *WRITES}))
    assert not performed(operation, form).matches(other)


@settings(max_examples=60)
@given(concrete_operations(), forms, st.sampled_from(PROBED))
def test_another_verb_family_is_not_seen(operation: Operation, form: PatchForm | None, verb: Verb) -> None:
    allowed = {operation.verb, *FAMILY.get(operation.verb, ())}
    if operation.path[:2] == ("spec", "replicas"):
        allowed.add(Verb.SCALE)
    if operation.name == "all" or operation.verb is Verb.DELETECOLLECTION:
        allowed |= {Verb.DELETE, Verb.DELETECOLLECTION}
    if operation.resource == "pod" and operation.verb in {Verb.RESTART, Verb.DELETE, Verb.DELETECOLLECTION}:
        allowed |= {Verb.RESTART, Verb.DELETE}
    assume(verb not in allowed)
    noun = "" if verb is Verb.AUTHENTICATE else operation.resource
    text = f"{verb} external-credentials" if not noun else f"{verb} {noun}/{operation.name}"
    try:
        other = Operation.parse(text)
    except OperationError:
        assume(False)
    try:
        done = performed(operation, form)
    except AgentFault:
        assume(False)
    assert not done.matches(other)


def test_a_rollback_goes_back_to_the_revision_before() -> None:
    done = performed(Operation.parse(f"rollback deployment/deployment-alpha namespace={INSIDE}"))
    (reply,) = done.replies
    assert reply.body["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example/app:1.0"


def test_a_rollback_without_an_earlier_revision_is_a_fault_that_names_it() -> None:
    with pytest.raises(AgentFault, match=r"rollback deployment/deployment-beta.*no earlier revision"):
        performed(Operation.parse("rollback deployment/deployment-beta"))


@pytest.mark.parametrize("text", ["* deployment/deployment-alpha", "update *"])
def test_a_pattern_of_several_operations_cannot_be_performed(text: str) -> None:
    with pytest.raises(AgentFault, match="pattern of several operations"):
        performed(Operation.parse(text))


def test_names_with_wildcards_stand_for_what_exists() -> None:
    done = performed(Operation.parse("delete configmap/configmap-* namespace=shop"))
    assert [str(call) for call in done.matches(Operation.parse("delete configmap/*"))] == [
        "delete shop/configmaps/configmap-alpha -> 200",
        "delete shop/configmaps/configmap-beta -> 200",
    ]


def test_labels_select_what_is_deleted() -> None:
    done = performed(Operation.parse("delete pod/* labels=app:deployment-alpha namespace=shop"))
    assert done.matches(Operation.parse("delete pod/deployment-alpha"))
    assert not done.matches(Operation.parse("delete pod/deployment-beta"))


def test_the_pods_of_a_workload_go_by_its_name() -> None:
    done = performed(Operation.parse("log deployment/deployment-alpha"))
    assert {reply.status for reply in done.replies} == {200}
    assert not done.matches(Operation.parse("log deployment/deployment-beta"))


def test_a_value_stands_at_its_path_afterwards() -> None:
    done = performed(Operation.parse("patch configmap/configmap-alpha data.mode=slow"))
    assert done.replies[0].body["data"] == {"mode": "slow"}
