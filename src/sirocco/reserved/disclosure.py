"""What may be said about reserved scenarios after a run: counts, opaque labels, and evidence that stays encrypted."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from pydantic import NonNegativeInt

from sirocco.errors import ReservedError, SiroccoError
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.noun import Noun
from sirocco.oasis.report import INTERRUPTED
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure, Verdict
from sirocco.reserved.age import encrypt_bytes
from sirocco.reserved.bundle import Digest

_LEAST_SIZE = 1 << 17


class ReservedCounts(Noun):
    """Everything that a report says about reserved scenarios (AV-21)."""

    executed: NonNegativeInt
    passed: NonNegativeInt
    failed: NonNegativeInt
    provider_failure: NonNegativeInt
    agent_fault: NonNegativeInt
    acted: NonNegativeInt
    """In how many of the judged ones the agent acted with success (SI-12)."""
    violated: NonNegativeInt
    """How many failed ones are about safety; a low capability score violates nothing (SI-13)."""
    categories: Mapping[str, Mapping[str, NonNegativeInt]] = {}
    """Executed, passed and failed in each category in which enough ran to hide the single scenario."""
    merkle_roots: tuple[Digest, ...] = ()
    """The commitments to the scenarios in the published manifest (SI-06)."""

    @classmethod
    def from_verdicts(
        cls, verdicts: Iterable[Verdict], *, agent_faults: int, acted: int = 0, violated: int = 0, **beside: Any
    ) -> Self:
        """Counts over the units that got a verdict, and the number of those that agent faults left without one."""
        kinds = [type(verdict) for verdict in verdicts]
        return cls(
            executed=len(kinds) + agent_faults,
            passed=kinds.count(Pass),
            failed=kinds.count(Fail),
            provider_failure=kinds.count(ProviderFailure),
            agent_fault=agent_faults,
            acted=acted,
            violated=violated,
            **beside,
        )


_NONE = ReservedCounts.from_verdicts((), agent_faults=0)


class ReservedOutcome(Noun):
    """The result of the reserved phase: counts, and why it is incomplete, which is a count too."""

    counts: ReservedCounts = _NONE
    undecided: NonNegativeInt = 0
    """Scenarios that are undecidable for this agent."""
    skipped: NonNegativeInt = 0
    """Scenarios that cannot be run as written."""
    is_unplanned: bool = False
    """Whether the provider failed before the first of them ran, when it was asked what it can establish."""
    is_interrupted: bool = False
    warning: str | None = None
    """What readers must know about them, such as that a rotation is overdue (AV-20)."""

    @property
    def incomplete_reason(self) -> str | None:
        """Why not every scenario reached a verdict; None if every one did (AV-15)."""
        if self.is_interrupted:
            return INTERRUPTED
        if self.is_unplanned:
            return "a fault of the provider ended the phase before the first reserved scenario"
        reasons = (
            (self.counts.provider_failure, "ended the phase by a fault of the provider"),
            (self.counts.agent_fault, "ended in a fault of the agent"),
            (self.undecided, "cannot be decided for this agent"),
            (self.skipped, "cannot be run as written"),
        )
        told = [f"{number} reserved scenario(s) {what}" for number, what in reasons if number]
        return "; ".join(told) or None

    def block(self) -> dict[str, Any]:
        """Its part of the report's block, and nothing else (AV-21)."""
        reason = self.incomplete_reason
        ended: dict[str, Any] = {"complete": False, "incomplete_reason": reason} if reason else {}
        late = {"reserved_warning": self.warning} if self.warning else {}
        return {"reserved_scenarios": self.counts.document(), **ended, **late}


def unit_label(number: int) -> str:
    """The name of a reserved scenario in all files and messages of a run; numbers start at 1, in its bundle's order."""
    return f"reserved-{number}"


def undisclosed_error(error: SiroccoError, label: str) -> ReservedError:
    """The same failure without its text, which may quote the scenario; to be raised `from None`."""
    return ReservedError(
        label,
        f"the scenario cannot be run ({type(error).__name__})",
        "tell the profile's maintainer, who can see why with `sirocco validate` and `sirocco profile check`",
    )


def sealed_evidence(document: Mapping[str, Any], recipients: Sequence[str]) -> bytes:
    """Evidence of a reserved scenario, encrypted to evaluator and maintainer before it can reach a disk (AV-19).

    It is padded with white space to a power of two, so that its size reveals next to nothing about the scenario;
    `vault.open_evidence` returns the document.
    """
    plaintext = canonical_json(document).encode()
    size = max(_LEAST_SIZE, 1 << (len(plaintext) - 1).bit_length())
    return encrypt_bytes(plaintext.ljust(size), recipients, armored=False)
