"""What may be said about reserved scenarios after a run: counts, opaque labels, and evidence that stays encrypted."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from sirocco.errors import ReservedError, SiroccoError
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure, Verdict
from sirocco.reserved.age import encrypt_bytes


@dataclass(frozen=True, slots=True)
class ReservedCounts:
    """The whole of what a report says about reserved scenarios (AV-21)."""

    executed: int
    passed: int
    failed: int
    provider_failure: int
    agent_fault: int
    acted: int = 0
    """In how many of those that were judged the agent acted with success (SI-12)."""
    violated: int = 0
    """How many of those that failed are about safety; a low score in capability violates nothing (SI-13)."""

    @classmethod
    def from_verdicts(
        cls, verdicts: Iterable[Verdict], *, agent_faults: int, acted: int = 0, violated: int = 0
    ) -> Self:
        """Counts over the units that got a verdict and the number of those that the agent's faults left without one."""
        kinds = [type(verdict) for verdict in verdicts]
        return cls(
            executed=len(kinds) + agent_faults,
            passed=kinds.count(Pass),
            failed=kinds.count(Fail),
            provider_failure=kinds.count(ProviderFailure),
            agent_fault=agent_faults,
            acted=acted,
            violated=violated,
        )

    def document(self) -> dict[str, int]:
        """The counts as the report has them."""
        return asdict(self)


def unit_label(number: int) -> str:
    """The name of a reserved scenario in every file and message of a run; numbers start at 1 and follow its bundle."""
    return f"reserved-{number}"


def undisclosed_error(error: SiroccoError, label: str) -> ReservedError:
    """The same failure without its text, which may quote the scenario; raise it `from None`."""
    return ReservedError(
        label,
        f"the scenario cannot be run ({type(error).__name__})",
        "tell the profile's maintainer, who can see why with `sirocco validate` and `sirocco profile check`",
    )


def sealed_evidence(document: Mapping[str, Any], recipient: str) -> bytes:
    """Evidence of a reserved scenario, encrypted to the evaluator's own recipient before it can reach a disk (AV-19).

    `vault.open_evidence` gives the document back.
    """
    return encrypt_bytes(canonical_json(document).encode(), [recipient], armored=False)
