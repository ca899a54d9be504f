"""What a request specifies besides its verb: dry run, field manager, options of a deletion, preconditions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kubesim.bodies.decoding import decoded_options
from kubesim.bodies.go_text import go_quote
from kubesim.discovery.catalogue import Resource
from kubesim.handling.plain_bodies import as_data
from kubesim.handling.request import Request
from kubesim.kinds.validation.recent import reworded
from kubesim.patching.patches import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    PATCH_TYPES,
    STRATEGIC_MERGE_PATCH,
)
from kubesim.resource import ResourceType
from kubesim.status import (
    ApiError,
    Cause,
    Json,
    bad_request,
    conflict,
    internal_error,
    invalid,
    too_large_body,
    unsupported_media_type,
)
from kubesim.store import BACKGROUND, FOREGROUND, ORPHAN
from kubesim.types.definitions import Definitions

BODY_LIMIT = 3 * 1024 * 1024
_OBJECT_TYPES = frozenset({"", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"})
_MANAGER_LENGTH = 128
_VERSION_DIGITS = len(str(1 << 64))
# Where etcd holds what is not under its resource's own name.
_FOLDERS = {
    "endpoints": "services/endpoints", "ingresses": "ingress", "nodes": "minions", "services": "services/specs",
    "podsecuritypolicies": "podsecuritypolicy", "replicationcontrollers": "controllers",
}  # fmt: skip
_OWN_FOLDERS = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})
_PROPAGATIONS = (FOREGROUND, BACKGROUND, ORPHAN, "nil")
_STRICTNESS = ("Ignore", "Warn", "Strict")
_NO_STRICTNESS_NAMED = 34
"""The first release known to list an empty strictness among the valid values."""


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How an object is written."""

    dry_run: bool
    manager: str
    force: bool = False
    strictness: str = ""


def write_options(request: Request, kind: str, minor: int) -> WriteOptions:
    """The options of a create, update or patch; raise 422 when they are wrong, in the words of a release."""
    if not request.query:
        if kind == "PatchOptions" and request.content_type == APPLY_PATCH:
            raise _invalid_options(kind, [_manager_required()], minor)
        return WriteOptions(dry_run=False, manager=_agent(request))
    causes = _patch_causes(request) if kind == "PatchOptions" else []
    manager = request.parameter("fieldManager") or ""
    causes += _manager_causes(manager)
    dry_run = list(request.values("dryRun"))
    causes += _dry_run_causes(dry_run)
    strictness = request.parameter("fieldValidation") or ""
    if strictness not in ("", *_STRICTNESS):
        known = '"", "Ignore"' if minor >= _NO_STRICTNESS_NAMED else '"Ignore"'
        text = f'Unsupported value: "{strictness}": supported values: {known}, "Strict", "Warn"'
        causes.append(Cause("FieldValueNotSupported", text, "fieldValidation"))
    if causes:
        raise _invalid_options(kind, causes, minor)
    return WriteOptions(bool(dry_run), manager or _agent(request), request.asks("force"), strictness)


def _patch_causes(request: Request) -> list[Cause]:
    if request.content_type == APPLY_PATCH:
        return [] if request.parameter("fieldManager") else [_manager_required()]
    if request.parameter("force") is None:
        return []
    return [Cause("FieldValueForbidden", "Forbidden: may not be specified for non-apply patch", "force")]


def _manager_required() -> Cause:
    return Cause("FieldValueRequired", "Required value: is required for apply patch", "fieldManager")


def _manager_causes(manager: str) -> list[Cause]:
    causes = []
    if len(manager.encode()) > _MANAGER_LENGTH:
        causes.append(
            Cause("FieldValueTooLong", f"Too long: must have at most {_MANAGER_LENGTH} bytes", "fieldManager")
        )
    position = 0
    for letter in manager:
        if not letter.isprintable():
            text = f"Invalid value: {go_quote(manager)}: invalid character U+{ord(letter):04X} (at position {position})"
            causes.append(Cause("FieldValueInvalid", text, "fieldManager"))
        position += len(letter.encode(errors="replace"))
    return causes


def _dry_run_causes(values: list[Any]) -> list[Cause]:
    if all(value == "All" for value in values):
        return []
    shown = "[]string{" + ", ".join(f'"{value}"' for value in values) + "}"
    return [Cause("FieldValueNotSupported", f'Unsupported value: {shown}: supported values: "All"', "dryRun")]


def _invalid_options(kind: str, causes: list[Cause], minor: int) -> Exception:
    return invalid(kind, "meta.k8s.io", "", reworded(minor, causes))


def _agent(request: Request) -> str:
    """The manager name for a client that gives none: the first word of its User-Agent."""
    word = request.headers.get("user-agent", "").partition("/")[0]
    return "".join(letter for letter in word if letter.isprintable()).encode()[:_MANAGER_LENGTH].decode(errors="ignore")


def deletion_options(request: Request, types: Definitions) -> tuple[Json, bool]:
    """The options of a deletion and whether the body gave them; a body makes the server ignore the query."""
    require_size(request)
    if request.sent_body in (None, b""):
        return _queried_options(request), False
    require_object_type(request)
    given = mapping(as_data(request.sent_body))
    if isinstance(given.get("kind"), str) and given["kind"] not in {"DeleteOptions", ""}:
        raise internal_error(
            f'no kind "{given["kind"]}" is registered for version "{given.get("apiVersion", "")}" in scheme '
            '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"'
        )
    return decoded_options("DeleteOptions", request.sent_body, request.content_type, types), True


def require_deletion_options(options: Json, minor: int) -> None:
    """Raise 422 when the options of a deletion are wrong, in the words of a release."""
    causes = []
    policy = options.get("propagationPolicy")
    if policy is not None and options.get("orphanDependents") is not None:
        text = f'Invalid value: "{policy}": orphanDependents and deletionPropagation cannot be both set'
        causes.append(Cause("FieldValueInvalid", text, "propagationPolicy"))
    if policy is not None and policy not in _PROPAGATIONS[:3]:
        listed = ", ".join(f'"{name}"' for name in _PROPAGATIONS)
        text = f'Unsupported value: "{policy}": supported values: {listed}'
        causes.append(Cause("FieldValueNotSupported", text, "propagationPolicy"))
    causes += _dry_run_causes(options.get("dryRun") or [])
    if causes:
        raise _invalid_options("DeleteOptions", causes, minor)


def _queried_options(request: Request) -> Json:
    options: Json = {}
    if not request.query:
        return options
    grace = integer(request.parameter("gracePeriodSeconds"))
    if grace is not None:
        options["gracePeriodSeconds"] = grace
    policy = request.parameter("propagationPolicy")
    if policy is not None:
        options["propagationPolicy"] = policy
    if request.parameter("orphanDependents") is not None:
        options["orphanDependents"] = request.asks("orphanDependents")
    if values := list(request.values("dryRun")):
        options["dryRun"] = values
    return options


def recorded_options(row: ResourceType, options: Json) -> Json:
    """The options in a deletion's body, as the audit log shows them."""
    return {**options, "kind": "DeleteOptions", "apiVersion": row.api_version}


def require_preconditions(row: ResourceType, obj: Json, options: Json) -> None:
    """Raise a conflict when a deletion means another object or version than the stored one."""
    wanted = mapping(options.get("preconditions"))
    metadata = obj["metadata"]
    for key, label, hint in (
        ("uid", "UID", "deleted and then recreated"), ("resourceVersion", "ResourceVersion", "modified"),
    ):  # fmt: skip
        if wanted.get(key) is not None and wanted[key] != metadata.get(key):
            why = (
                f"the {label} in the precondition ({wanted[key]}) does not match the {label} in record "
                f"({metadata[key]}). The object might have been {hint}"
            )
            raise conflict(row, metadata["name"], why, kind=row.kind)


def require_uid(row: ResourceType, namespace: str, name: str, wanted: str, known: str) -> None:
    """Raise a conflict when an update means another object than the stored one."""
    if wanted and wanted != known:
        folder = _FOLDERS.get(row.plural) or (f"{row.group}/{row.plural}" if row.group in _OWN_FOLDERS else row.plural)
        place = "/".join(part for part in ("/registry", folder, namespace, name) if part)
        raise conflict(
            row, name,
            f"StorageError: invalid object, Code: 4, Key: {place}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {known}",
        )  # fmt: skip


def require_version(row: Resource, name: str, wanted: str, known: str, *, required: bool) -> None:
    """Raise a conflict when an update rests on another version than the stored one."""
    if wanted and not (wanted.isascii() and wanted.isdecimal()):
        raise internal_error(f'strconv.ParseUint: parsing "{wanted}": invalid syntax')
    if not wanted.strip("0"):
        if required:
            text = "Invalid value: 0x0: must be specified for an update"
            causes = reworded(row.minor, [Cause("FieldValueInvalid", text, "metadata.resourceVersion")])
            raise invalid(row.plural, row.group, name, causes)
    elif wanted != known:
        raise conflict(row, name)


def version_number(text: str) -> int:
    """A resourceVersion as a number; raise the server's error for anything else."""
    if text in {"", "0"}:
        return 0
    if not (text.isascii() and text.isdecimal()):
        raise internal_error(
            f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        )
    # Python refuses to read thousands of digits.
    if len(text.lstrip("0")) > _VERSION_DIGITS or int(text) >= 1 << 64:
        why = f'strconv.ParseUint: parsing "{text}": value out of range'
        raise internal_error(f'resourceVersion: Invalid value: "{text}": {why}')
    return int(text)


def require_object_type(request: Request) -> None:
    """Raise 415 for a body in a format that no object has."""
    if request.content_type.lower() not in _OBJECT_TYPES:
        raise unsupported_media_type(patch=False)


def require_patch_type(request: Request, *, custom: bool = False) -> None:
    """Raise 415 for a kind of patch that does not exist, or that custom resources do not support."""
    if request.content_type not in PATCH_TYPES:
        raise unsupported_media_type(patch=True)
    if custom and request.content_type == STRATEGIC_MERGE_PATCH:
        accepted = f"{JSON_PATCH}, {MERGE_PATCH}, {APPLY_PATCH}"
        text = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
        raise ApiError(415, "UnsupportedMediaType", text)


def require_size(request: Request) -> None:
    """Raise 413 for a body that is longer than the server accepts."""
    if request.content is not None and len(request.content) > BODY_LIMIT:
        raise too_large_body(BODY_LIMIT)


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if a client sent an object, and an empty one if it sent anything else."""
    return value if isinstance(value, Mapping) else {}


def integer(text: str | None) -> int | None:
    """A query parameter as a number; raise 400 for anything else."""
    if text is None:
        return None
    digits = text[1:] if text[:1] in {"-", "+"} else text
    if not (digits.isascii() and digits.isdecimal()):
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if not -(1 << 63) <= int(text[:40]) < 1 << 63 or len(digits) > 40:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": value out of range')
    return int(text)
