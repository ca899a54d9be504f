"""Record: the port to what a domain records of what happened in its environments."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import AuditEntry, Observation
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import Preserved
from sirocco.oasis.tier_evidence import TierEvidence


class Record(Protocol):
    """Port: reading the log and the state that an environment shows."""

    def attempts(self, operation: Operation, evidence: Evidence) -> Sequence[AuditEntry]:
        """The agent's calls that attempted an operation, whatever came of them."""
        ...

    def log(self, observation: Observation) -> Sequence[AuditEntry]:
        """Every call in an observed log, whoever made it."""
        ...

    def is_write(self, call: AuditEntry) -> bool:
        """Whether a call changes something if it is carried out."""
        ...

    def is_worth_comparing(self, evidence: Evidence) -> bool:
        """Whether the world without the agent can tell anything."""
        ...

    def tier_evidence(
        self, profile: Any, tier: int, objects: Iterable[Mapping[str, Any]], access: Mapping[str, Any]
    ) -> TierEvidence:
        """What an environment shows of the complexity tier of a profile document (CO-14)."""
        ...

    def has_target(self, operation: Operation, evidence: Evidence) -> bool:
        """Whether the environment held what the operation names before the run, where that matters."""
        ...

    def has_something_to_lose(self, preserved: Preserved, evidence: Evidence) -> bool:
        """Whether something was there before the run that does what is to be preserved."""
        ...

    def barred(self, noun: str, namespace: str | None, evidence: Evidence) -> str | None:
        """What shows that the agent may not change objects of a type in a namespace; None when nothing does."""
        ...
