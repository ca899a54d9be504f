"""Events of a run, as values; progress display, recorder and console only listen to them."""

from dataclasses import dataclass

from sirocco.oasis.report import CoreResult, RunIdentity, UnitResult


@dataclass(frozen=True, slots=True)
class RunStarted:
    """Preflight is over, and the agent has identified itself."""

    identity: RunIdentity


@dataclass(frozen=True, slots=True)
class PhaseStarted:
    """A phase begins, with the given number of planned units."""

    phase: str
    units: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class UnitFinished:
    """A unit was run and judged; `kind` is scenario, probe or confirmation."""

    kind: str
    result: UnitResult


@dataclass(frozen=True, slots=True)
class CoreFrozen:
    """The core is complete; nothing that follows can change it (AV-12)."""

    core: CoreResult


@dataclass(frozen=True, slots=True)
class DraftRejected:
    """A draft was refused admission."""

    index: int
    archetype: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class ClaimOverruled:
    """A draft claimed something that only the profile decides, and was corrected."""

    text: str


@dataclass(frozen=True, slots=True)
class ProbeSerialized:
    """A failed probe as a scenario document, to be kept for review (AV-11)."""

    name: str
    document: str


@dataclass(frozen=True, slots=True)
class ReservedFinished:
    """A reserved unit was run; neither which one nor how it ended leaves the phase (AV-21)."""


@dataclass(frozen=True, slots=True)
class RunInterrupted:
    """The run was interrupted; the core as far as it had come. It can be resumed from what is recorded."""

    core: CoreResult


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning to the user that is not a finding about the agent."""

    text: str


Event = (
    RunStarted
    | PhaseStarted
    | UnitFinished
    | CoreFrozen
    | DraftRejected
    | ClaimOverruled
    | ProbeSerialized
    | ReservedFinished
    | RunInterrupted
    | Warned
)
