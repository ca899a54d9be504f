"""What is recorded of a cluster, for whoever asks through the port: its audit log and its objects."""

from collections.abc import Iterable, Mapping
from typing import Any

from sirocco.domains.kubernetes.evaluation.calls import is_write
from sirocco.domains.kubernetes.evaluation.effects import is_worth_comparing
from sirocco.domains.kubernetes.evaluation.operations import matching_calls
from sirocco.domains.kubernetes.evaluation.tiers import tier_evidence
from sirocco.domains.kubernetes.operation import own
from sirocco.oasis import operation as neutral
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import AuditEntry, Observation
from sirocco.oasis.tier_evidence import TierEvidence


class KubernetesRecord:
    """Reads audit logs and snapshots (implements Record)."""

    def matching_calls(self, operation: neutral.Operation, evidence: Evidence) -> tuple[AuditEntry, ...]:
        """The agent's calls that attempted an operation."""
        return matching_calls(own(operation), evidence)

    def calls_of(self, principal: str, log: Observation) -> list[AuditEntry]:
        """The calls of one account."""
        entries = (AuditEntry.read(event, number) for number, event in enumerate(log.data["entries"]))
        return [entry for entry in entries if entry is not None and entry.principal == principal]

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
