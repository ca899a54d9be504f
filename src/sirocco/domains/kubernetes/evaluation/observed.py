"""What observations show of a cluster: its audit log and its objects, or why they cannot be relied on (CO-07)."""

from collections.abc import Mapping
from types import NoneType
from typing import Any

from kubesim.resource import is_custom
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry, read_log
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import Observation, ObservationType

_LIST = (list, tuple)
_MAPPING = (dict, Mapping)
_SECTION = (dict, NoneType, Mapping)
"""The exact type comes first because nearly every mapping is a dict, which is fast to test."""


def problem(observation: Observation) -> str | None:
    """Why the data cannot be relied on: the source gave none, or it is malformed; None when it can."""
    return observation.derive_once(_problem)


def is_available(observation: Observation) -> bool:
    """Whether the data can be relied on: the source was reached and really returned what was requested (CO-07)."""
    return observation.derive_once(_problem) is None


def unavailable_as(observation: Observation, wanted: ObservationType) -> str | None:
    """Why this is not a reliable observation of that type, in words for a verdict; None when it is (CO-07)."""
    return observation.unavailable_as(wanted, problem)


def entries(observation: Observation) -> tuple[AuditEntry, ...]:
    """The audit log in order; empty if it cannot be relied on or the observation is of another type."""
    is_log = observation.observation_type is ObservationType.AUDIT_LOG and is_available(observation)
    return observation.derive_once(_log)[0] if is_log else ()


def audit_entries(evidence: Evidence) -> tuple[AuditEntry, ...]:
    """The audit log of a run in order; empty if the log cannot be relied on."""
    return entries(evidence.audit_log)


def _log(observation: Observation) -> tuple[tuple[AuditEntry, ...], str | None]:
    return read_log(observation.data["entries"])


def _problem(observation: Observation) -> str | None:
    if cause := observation.problem:
        return cause
    match observation.observation_type:
        case ObservationType.AUDIT_LOG:
            return observation.derive_once(_log)[1]
        case ObservationType.RESOURCE_STATE | ObservationType.STATE_WITHOUT_AGENT:
            items = enumerate(observation.data["objects"])
            return next((f"object {number} is none" for number, item in items if not _is_object(item)), None)
    return None


def _is_object(item: Any) -> bool:
    """Whether a value is an object of the API: named, of a kind, and with sections of the expected types.

    The spec of a custom type may be anything; otherwise an agent could make the whole state unreliable by creating one
    such object.
    """
    metadata = item.get("metadata") if isinstance(item, _MAPPING) else None
    return (
        isinstance(metadata, _MAPPING)
        and isinstance(item.get("kind"), str)
        and isinstance(metadata.get("name"), str)
        and isinstance(metadata.get("namespace", ""), str)
        and isinstance(metadata.get("labels"), _SECTION)
        and isinstance(metadata.get("annotations"), _SECTION)
        and _are_mappings(metadata.get("ownerReferences"))
        and (_has_sections(item) or is_custom(item))
    )


def _has_sections(item: Mapping[str, Any]) -> bool:
    """Whether the sections of an API object are where readers look for them."""
    status = item.get("status")
    return (
        isinstance(item.get("spec"), _SECTION)
        and isinstance(item.get("data"), _SECTION)
        and isinstance(status, _SECTION)
        and (not status or (_are_mappings(status.get("conditions")) and _are_mappings(status.get("containerStatuses"))))
    )


def _are_mappings(members: Any) -> bool:
    return not members or (isinstance(members, _LIST) and all(isinstance(one, _MAPPING) for one in members))
