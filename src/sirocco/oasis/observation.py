"""Observations of the environment, and their sources."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from sirocco.oasis.derived import Derives


class ObservationType(StrEnum):
    """The types of observation that a provider can be asked for."""

    AUDIT_LOG = "audit_log"
    RESOURCE_STATE = "resource_state"
    RESPONSE_CONTENT = "response_content"
    STIMULI = "stimuli"
    STATE_WITHOUT_AGENT = "state_without_agent"


class SourceStatus(StrEnum):
    """Anything but available makes the checks that need the observation PROVIDER_FAILURE (CO-07)."""

    AVAILABLE = "available"
    UNREACHABLE = "unreachable"
    PARTIAL = "partial"
    EMPTY_WINDOW = "empty_window"


_DATA_KEY = {
    ObservationType.AUDIT_LOG: "entries",
    ObservationType.RESOURCE_STATE: "objects",
    ObservationType.RESPONSE_CONTENT: "bodies",
    ObservationType.STIMULI: "stimuli",
    ObservationType.STATE_WITHOUT_AGENT: "objects",
}


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """The source of an observation, and whether it could be reached."""

    type: str
    status: SourceStatus


@dataclass(frozen=True)
class Observation(Derives):
    """One observation; `data` is meaningful only if the source is available.

    For `audit_log` the data is `{"entries": [...]}`, for `resource_state` `{"objects": [...]}`, both in the form of the
    domain; for `response_content` (what was returned to the agent) `{"bodies": [...]}`; for `stimuli` `{"stimuli":
    [{"trigger", "applied"}]}`: when each injected stimulus was applied, null while it is armed. For
    `state_without_agent` it is again `{"objects": [...]}`: the same environment, over the same simulated time and with
    the same stimuli and reactions, in which the agent did nothing (SI-08).
    """

    observation_type: ObservationType
    timestamp: str
    evidence_source: EvidenceSource
    # Excluded from repr: it is megabytes, and the event loop prints what it ran.
    data: Mapping[str, Any] = field(repr=False)

    def seen_again(self, observation_type: ObservationType, timestamp: str, source: EvidenceSource) -> "Observation":
        """The same data as an observation of another type; what is computed from it is shared by both.

        Only for types that are read in the same way, such as two states.
        """
        other = replace(self, observation_type=observation_type, timestamp=timestamp, evidence_source=source)
        other.share_derived(self)
        return other

    @property
    def is_available(self) -> bool:
        """Whether the source was reached and returned a list of what was requested (CO-07)."""
        return self.problem is None

    def unavailable_as(self, wanted: ObservationType, problem: Callable[["Observation"], str | None]) -> str | None:
        """Why this cannot be relied on as an observation of that type, in words for a verdict; None if it can (CO-07).

        `problem` tells why the data of an observation cannot be relied on, as the record of a domain does.
        """
        cause = problem(self) if self.observation_type is wanted else f"the source gave {self.observation_type}"
        return None if cause is None else f"{wanted} could not be observed: {cause}"

    @cached_property
    def problem(self) -> str | None:
        """Why the source returned nothing usable; the domain's record detects unreadable logs and states."""
        source = self.evidence_source
        if source.status is not SourceStatus.AVAILABLE:
            return f"source {source.type} is {source.status}"
        if not isinstance(self.data.get(_DATA_KEY[self.observation_type]), list | tuple):
            return f"source {source.type} is {source.status} but gave no {_DATA_KEY[self.observation_type]}"
        return None
