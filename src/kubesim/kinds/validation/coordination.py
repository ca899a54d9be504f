"""What the server refuses in leases."""

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.fields import invalid
from kubesim.kinds.validation.metadata import metadata_causes, metadata_update_causes
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.status import Cause, Json


def _lease(row: Resource, obj: Json) -> list[Cause]:
    return [*metadata_causes(row, obj["metadata"]), *_spec_causes(obj.get("spec") or {})]


def _lease_update(_row: Resource, new: Json, old: Json) -> list[Cause]:
    return [*metadata_update_causes(new["metadata"], old["metadata"]), *_spec_causes(new.get("spec") or {})]


def _spec_causes(spec: Json) -> list[Cause]:
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    causes = []
    if duration is not None and duration <= 0:
        causes.append(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    if transitions is not None and transitions < 0:
        causes.append(invalid("spec.leaseTransitions", transitions, "must to greater or equal than 0"))
    return causes


CREATION: dict[str, CreationRule] = {"lease": _lease}
UPDATE: dict[str, UpdateRule] = {"lease": _lease_update}
