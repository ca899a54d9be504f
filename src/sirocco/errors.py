"""Every error that Sirocco raises on purpose, and the findings that it reports: where, problem, remedy.

    SiroccoError
    ├── InvalidInput       a profile, scenario, probe or bundle has findings of severity error
    ├── ConfigError        the command or its configuration cannot be carried out
    ├── OperationError     a text that is not an operation of the vocabulary
    ├── ConformanceError   preflight: the provider lacks what the profile requires
    ├── ProviderFault      the environment broke while a scenario ran; becomes PROVIDER_FAILURE
    ├── AgentFault         the agent cannot be reached or breaks its contract
    ├── ModelFault         a language model cannot be reached, refuses the request, or answers what is no answer
    ├── EvidenceError      recorded evidence is missing, damaged or altered
    └── ReservedError      a reserved bundle cannot be sealed or opened, or is not what was committed to

A class exists only where a caller reacts differently. Messages hold no markup, no secret and no reserved content.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_LONGEST_TEXT = 2000

DocumentPath = tuple[str | int, ...]
"""A position in a document: the keys and numbers that lead to it."""


class Severity(StrEnum):
    """How serious a finding is: an error stops the work, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a file that a user can jump to; line and column count from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of an input, and what to do about it."""

    severity: Severity
    rule: str
    place: Place
    path: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.place} {self.rule} {self.problem}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule, at a path in a document; the document knows the place."""

    rule: str
    path: DocumentPath
    problem: str
    remedy: str


class SiroccoError(Exception):
    """Base of all deliberate errors: where it happened, what is wrong, what to do."""

    def __init__(self, where: object, problem: str, remedy: str) -> None:
        self.where = str(where)
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{self.where}: {problem}; {remedy}")


class InvalidInput(SiroccoError):  # noqa: N818 - it names what the user gave, as all findings do
    """An input with at least one finding of severity error; carries all findings, sorted by place."""

    def __init__(self, where: object, findings: Sequence[Finding]) -> None:
        self.findings = tuple(sorted(findings, key=lambda finding: (finding.place, finding.rule)))
        errors = sum(finding.severity is Severity.ERROR for finding in self.findings)
        super().__init__(where, f"{errors} error(s)", "correct the findings and run again")

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)


class ConfigError(SiroccoError):
    """The command line or run configuration requests something that cannot be done."""


class OperationError(SiroccoError):
    """A text that the operation vocabulary cannot express."""


class ConformanceError(SiroccoError):
    """The provider does not meet the profile's requirements; no verdict is written (CO-01)."""


class FaultKind(StrEnum):
    """What went wrong on the provider's side; none of them ever reads as an empty observation (CO-07)."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    FAILED = "failed"
    REFUSED = "refused"
    UNSUPPORTED = "unsupported"
    LOST = "lost"
    MALFORMED = "malformed"


class ProviderFault(SiroccoError):  # noqa: N818 - a fault, not an error of ours
    """The environment failed while a scenario ran; the runner records PROVIDER_FAILURE (CO-02)."""

    def __init__(self, where: object, problem: str, remedy: str, kind: FaultKind = FaultKind.FAILED) -> None:
        self.kind = kind
        super().__init__(where, problem, remedy)


class AgentFaultKind(StrEnum):
    """What an agent did instead of answering; an answer that reports no action is none of these."""

    UNREACHABLE = "unreachable"
    """Nothing listens there, so nothing was asked."""
    LOST = "lost"
    """The connection ended before the complete answer; the agent may have acted."""
    TIMEOUT = "timeout"
    REFUSED = "refused"
    """It answered that it cannot: an HTTP status, or a tool error."""
    EXITED = "exited"
    """Its process ended without an answer, or with a code other than 0."""
    MALFORMED = "malformed"
    """Its answer is not JSON."""
    WRONG_TYPE = "wrong_type"
    """Its answer is JSON, but not in the form that the contract requires."""
    OVERSIZED = "oversized"
    FAILED = "failed"
    """Its code raised an error."""


class AgentFault(SiroccoError):  # noqa: N818 - a fault, not an error of ours
    """The agent could not be reached or broke its contract."""

    def __init__(self, where: object, problem: str, remedy: str, kind: AgentFaultKind = AgentFaultKind.FAILED) -> None:
        self.kind = kind
        super().__init__(where, problem, remedy)


class ModelFault(SiroccoError):  # noqa: N818 - a fault, not an error of ours
    """A language model gave no usable answer; `status` is that of HTTP, or 0 if there was none.

    `is_overflow` says that the model has no room for what it was sent.
    """

    def __init__(self, where: object, problem: str, remedy: str, status: int = 0, *, is_overflow: bool = False) -> None:
        self.status = status
        self.is_overflow = is_overflow
        super().__init__(where, problem, remedy)


def error_text(error: BaseException) -> str:
    """The message of a foreign error, shortened and safe to be written down."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an error may break even when it is asked what it is
        text = "it does not say what it is"
    return text[:_LONGEST_TEXT].encode(errors="replace").decode()


class EvidenceError(SiroccoError):
    """Recorded evidence is missing, damaged or altered (SI-07)."""


class ReservedError(SiroccoError):
    """A reserved bundle cannot be sealed or opened, or is not what was committed to (AV-19)."""
