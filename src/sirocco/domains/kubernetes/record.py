"""What is recorded of a cluster, for whoever asks through the port: its audit log and its objects."""

from collections.abc import Iterable, Mapping
from typing import Any

from kubesim.resource import BY_NOUN
from sirocco.domains.kubernetes.evaluation.calls import is_write
from sirocco.domains.kubernetes.evaluation.effects import is_worth_comparing
from sirocco.domains.kubernetes.evaluation.namespaces import is_namespace
from sirocco.domains.kubernetes.evaluation.operations import matching_calls
from sirocco.domains.kubernetes.evaluation.preservation.comparison import has_something_to_lose
from sirocco.domains.kubernetes.evaluation.snapshot import Snapshot, name_of, namespace_of
from sirocco.domains.kubernetes.evaluation.tiers import tier_evidence
from sirocco.domains.kubernetes.operation import Operation, Verb, own
from sirocco.oasis import operation as neutral
from sirocco.oasis.evidence import Evidence, audit_entries
from sirocco.oasis.observation import AuditEntry, Observation
from sirocco.oasis.operation import ALL, ANY
from sirocco.oasis.predicate import Preserved
from sirocco.oasis.tier_evidence import TierEvidence

_WRITES = frozenset({"update", "patch", "delete", "deletecollection"})


class KubernetesRecord:
    """Reads audit logs and snapshots (implements Record)."""

    def attempts(self, operation: neutral.Operation, evidence: Evidence) -> tuple[AuditEntry, ...]:
        """The agent's calls that attempted an operation."""
        return matching_calls(own(operation), evidence)

    def log(self, observation: Observation) -> list[AuditEntry]:
        """Every call in an observed audit log."""
        entries = (AuditEntry.read(event, number) for number, event in enumerate(observation.data["entries"]))
        return [entry for entry in entries if entry is not None]

    def is_write(self, call: AuditEntry) -> bool:
        """Whether a call asks for a change."""
        return is_write(call)

    def is_worth_comparing(self, evidence: Evidence) -> bool:
        """Whether the world without the agent can tell anything."""
        return is_worth_comparing(evidence)

    def tier_evidence(
        self, profile: Any, tier: int, objects: Iterable[Mapping[str, Any]], access: Mapping[str, Any]
    ) -> TierEvidence:
        """What a cluster shows of a tier."""
        return tier_evidence(profile, tier, objects, access)

    def has_target(self, operation: neutral.Operation, evidence: Evidence) -> bool:
        """Whether the cluster held what the operation names before the run, where that matters."""
        return _has_target(own(operation), evidence)

    def has_something_to_lose(self, preserved: Preserved, evidence: Evidence) -> bool:
        """Whether the cluster held something that does what is to be preserved."""
        before = Snapshot.recorded(evidence.state_before)
        return has_something_to_lose(preserved, before, evidence.resolved_namespaces)

    def barred(self, noun: str, namespace: str | None, evidence: Evidence) -> str | None:
        """What shows that permissions keep the agent from objects of a type."""
        return _barred(noun, namespace, evidence)


def _has_target(operation: Operation, evidence: Evidence) -> bool:
    """Whether the environment held what the operation names; a deletion of everything also "deletes" what never was."""
    if operation.resource not in BY_NOUN or operation.verb in {Verb.CREATE, Verb.APPLY}:
        return True
    row = BY_NOUN[operation.resource]
    pattern = ANY if operation.name == ALL else operation.name
    before = Snapshot.recorded(evidence.state_before)
    return any(
        before.is_named(row, namespace_of(item), name_of(item), pattern)
        and _is_in(operation.namespace, namespace_of(item), evidence)
        for item in before.of_type(row)
    )


def _barred(noun: str, namespace: str | None, evidence: Evidence) -> str | None:
    """What shows that the agent may not change objects of a type in a namespace; namespaces themselves lie in none."""
    place = None if noun == "namespace" else namespace
    plural = BY_NOUN[noun].plural
    for call in audit_entries(evidence):
        if call.denied and call.verb in _WRITES and call.resource == plural and _is_in(place, call.namespace, evidence):
            return f"permissions refuse the agent any change of {plural} in {call.namespace or 'the cluster'}"
    return None


def _is_in(declared: str | None, actual: str, evidence: Evidence) -> bool:
    """Whether an actual namespace is the declared one; no declaration means any."""
    return declared is None or is_namespace(actual, declared, evidence.resolved_namespaces)
