"""What a request asks for beside its verb: dry run, options of a deletion, preconditions, and its body's format."""

from collections.abc import Mapping
from typing import Any

from sirocco.oasis.resource import ResourceType
from sirocco.providers.simulator.kubernetes.cluster import BACKGROUND, FOREGROUND, ORPHAN
from sirocco.providers.simulator.kubernetes.patches import PATCH_TYPES
from sirocco.providers.simulator.kubernetes.request import Request
from sirocco.providers.simulator.kubernetes.status import (
    Cause,
    Json,
    bad_request,
    conflict,
    internal_error,
    invalid,
    precondition_failed,
    unsupported_media_type,
)

_DELETIONS = frozenset({"delete", "deletecollection"})
_OPTIONS = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}


def is_dry_run(request: Request, verb: str) -> bool:
    """Whether the request must change nothing; raise 422 for a kind of dry run that does not exist."""
    asked = mapping(request.body).get("dryRun") if verb in _DELETIONS else None
    values = [*request.values("dryRun"), *(asked if isinstance(asked, list) else ())]
    if any(value != "All" for value in values):
        shown = "[]string{" + ", ".join(f'"{value}"' for value in values) + "}"
        text = f'Unsupported value: {shown}: supported values: "All"'
        cause = Cause("FieldValueNotSupported", text, "dryRun")
        raise invalid(_OPTIONS.get(verb, "DeleteOptions"), "meta.k8s.io", "", [cause])
    return bool(values)


def recorded_options(row: ResourceType, request: Request) -> Json | None:
    """The options in a deletion's body, as the audit log shows them."""
    if not isinstance(request.body, Mapping):
        return None
    return {**request.body, "kind": "DeleteOptions", "apiVersion": row.api_version}


def deletion_options(request: Request) -> Json:
    """The options of a deletion, from body and query."""
    body = dict(mapping(request.body)) if request.method == "DELETE" else {}
    policy = request.parameter("propagationPolicy") or body.get("propagationPolicy")
    if policy is not None:
        if policy not in (FOREGROUND, BACKGROUND, ORPHAN):
            text = f'Unsupported value: "{policy}": supported values: "Foreground", "Background", "Orphan", "nil"'
            cause = Cause("FieldValueNotSupported", text, "propagationPolicy")
            raise invalid("DeleteOptions", "meta.k8s.io", "", [cause])
        body["propagationPolicy"] = policy
    grace = integer(request.parameter("gracePeriodSeconds"))
    if grace is not None:
        body["gracePeriodSeconds"] = grace
    return body


def require_preconditions(row: ResourceType, obj: Json, options: Json) -> None:
    """Raise a conflict when a deletion means another object or version than the stored one."""
    wanted = mapping(options.get("preconditions"))
    metadata = obj["metadata"]
    for key, label, hint in (
        ("uid", "UID", "deleted and then recreated"), ("resourceVersion", "ResourceVersion", "modified"),
    ):  # fmt: skip
        if key in wanted and wanted[key] != metadata[key]:
            why = (
                f"the {label} in the precondition ({wanted[key]}) does not match the {label} in record "
                f"({metadata[key]}). The object might have been {hint}"
            )
            raise precondition_failed(row, metadata["name"], why)


def require_version(row: ResourceType, old: Json, metadata: Mapping[str, Any]) -> None:
    """Raise a conflict when the request rests on another version or another object than the stored one."""
    name, known = old["metadata"]["name"], old["metadata"]
    version = metadata.get("resourceVersion")
    if version and not str(version).isdecimal():
        raise internal_error(f'strconv.ParseUint: parsing "{version}": invalid syntax')
    if version and version != known["resourceVersion"]:
        raise conflict(row, name)
    uid = metadata.get("uid")
    if uid and uid != known["uid"]:
        place = "/".join(part for part in ("/registry", row.plural, known.get("namespace", ""), name) if part)
        raise conflict(
            row, name,
            f"StorageError: invalid object, Code: 4, Key: {place}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {uid}, UID in object meta: {known['uid']}",
        )  # fmt: skip


def require_json(request: Request) -> None:
    """Raise 415 for a body that is no object."""
    if request.content_type not in {"application/json", "application/yaml", ""}:
        raise unsupported_media_type(patch=False)


def require_patch(request: Request) -> Any:
    """The patch in the body; raise 415 for a kind of patch that does not exist."""
    if request.content_type not in PATCH_TYPES:
        raise unsupported_media_type(patch=True)
    return request.body if request.body is not None else {}


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where a client sent an object, and nothing where it sent something else."""
    return value if isinstance(value, Mapping) else {}


def integer(text: str | None) -> int | None:
    """A query parameter as a number; raise 400 when it is none."""
    if text is None or text == "":
        return None
    try:
        return int(text)
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None
