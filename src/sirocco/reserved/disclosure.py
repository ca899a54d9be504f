"""What may be said about reserved scenarios after a run: counts, opaque labels, and evidence that stays encrypted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from sirocco.errors import ReservedError, SiroccoError
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure, Verdict
from sirocco.reserved.age import encrypt_bytes

_LEAST_SIZE = 1 << 17


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
    categories: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Executed, passed and failed in each category of which so many ran that no single scenario shows through."""
    merkle_roots: tuple[str, ...] = ()
    """What the scenarios are committed to by in the published manifest (SI-06)."""

    @classmethod
    def from_verdicts(
        cls, verdicts: Iterable[Verdict], *, agent_faults: int, acted: int = 0, violated: int = 0, **beside: Any
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
            **beside,
        )

    def document(self) -> dict[str, Any]:
        """The counts as the report has them; what there is nothing of is left out."""
        document = asdict(self) | {"merkle_roots": list(self.merkle_roots)}
        return {key: value for key, value in document.items() if value not in ({}, [])}


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


def sealed_evidence(document: Mapping[str, Any], recipients: Sequence[str]) -> bytes:
    """Evidence of a reserved scenario, encrypted to evaluator and maintainer before it can reach a disk (AV-19).

    It is filled up with white space to a power of two, so that its size tells next to nothing about the scenario;
    `vault.open_evidence` gives the document back.
    """
    plaintext = canonical_json(document).encode()
    size = max(_LEAST_SIZE, 1 << (len(plaintext) - 1).bit_length())
    return encrypt_bytes(plaintext.ljust(size), recipients, armored=False)
