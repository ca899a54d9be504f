"""The `Status` answers of the Kubernetes API: every refusal with its real code, reason, text and details."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kubesim.resource import ResourceType

Json = dict[str, Any]


class ApiError(Exception):
    """A request that the API refuses; carries the `Status` object that says why."""

    def __init__(self, code: int, reason: str, message: str, details: Json | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.body: Json = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            **({"reason": reason} if reason else {}),
            **({} if details is None else {"details": details}),
            "code": code,
        }


NOTHING_QUOTED = object()
"""The value of a cause that quotes none."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One field that makes an object invalid."""

    reason: str
    message: str
    field: str
    refused: Any = dataclasses.field(default=NOTHING_QUOTED, compare=False, repr=False)
    """The value that the message quotes, for releases that quote it in another way."""

    def document(self) -> Json:
        """The cause in the form it has in a Status."""
        return {"reason": self.reason, "message": self.message, "field": self.field}


def success(row: ResourceType, name: str, uid: str) -> Json:
    """The answer to a completed deletion."""
    details = {"name": name, **({"group": row.group} if row.group else {}), "kind": row.plural, "uid": uid}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def created_status() -> Json:
    """The answer to an eviction that was carried out."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def unauthorized() -> ApiError:
    """The request carries no credential that the environment knows."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def not_found(row: ResourceType, name: str, subresource: str = "") -> ApiError:
    """There is no such object."""
    plural = f"{row.plural}/{subresource}" if subresource else row.plural
    return ApiError(404, "NotFound", f'{_full_plural(plural, row)} "{name}" not found', _details(row, name, plural))


def no_such_resource() -> ApiError:
    """The path names a resource that the API does not serve."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def method_not_allowed() -> ApiError:
    """The resource exists, but not with this method."""
    text = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", text, {})


def already_exists(row: ResourceType, name: str) -> ApiError:
    """An object of that name exists."""
    return ApiError(
        409, "AlreadyExists", f'{_full_plural(row.plural, row)} "{name}" already exists', _details(row, name)
    )


def conflict(row: ResourceType, name: str, why: str = "", kind: str = "") -> ApiError:
    """The request rests on another version or object of that name; a failed precondition names the kind instead."""
    why = why or "the object has been modified; please apply your changes to the latest version and try again"
    message = f'Operation cannot be fulfilled on {_full_plural(kind or row.plural, row)} "{name}": {why}'
    return ApiError(409, "Conflict", message, _details(row, name, kind))


def namespace_terminating(row: ResourceType, name: str, namespace: str) -> ApiError:
    """A namespace that is being deleted accepts no new content."""
    message = f"namespace {namespace} is being terminated"
    cause = Cause("NamespaceTerminating", message, "metadata.namespace")
    text = (
        f'{_full_plural(row.plural, row)} "{name}" is forbidden: unable to create new content in namespace '
        f"{namespace} because it is being terminated"
    )
    return ApiError(403, "Forbidden", text, {**_details(row, name), "causes": [cause.document()]})


def invalid(kind: str, group: str, name: str, causes: Sequence[Cause]) -> ApiError:
    """The object was read, but its content is not allowed."""
    # The message says each thing once, however often the server came across it.
    texts = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    listed = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    details: Json = {
        **({"name": name} if name else {}),
        **({"group": group} if group else {}),
        **({"kind": kind} if kind else {}),
        "causes": [cause.document() for cause in causes],
    }
    qualified = f"{kind}.{group}" if group else kind
    return ApiError(422, "Invalid", f'{qualified} "{name}" is invalid: {listed}', details)


def bad_request(message: str) -> ApiError:
    """The request cannot be understood."""
    return ApiError(400, "BadRequest", message)


def expired(message: str) -> ApiError:
    """What the request builds on is too old."""
    return ApiError(410, "Expired", message)


def too_large_version(asked: int, current: int) -> ApiError:
    """The request asks for a version that does not exist yet."""
    details = {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
               "retryAfterSeconds": 1}  # fmt: skip
    return ApiError(504, "Timeout", f"Timeout: Too large resource version: {asked}, current: {current}", details)


def too_large_body(limit: int) -> ApiError:
    """The body is longer than the server accepts."""
    message = f"Request entity too large: limit is {limit}"
    return ApiError(413, "RequestEntityTooLarge", message)


def rejected_patch() -> ApiError:
    """A JSON patch whose operations cannot be carried out."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {})


def unsupported_media_type(*, patch: bool) -> ApiError:
    """The body is in a format that the method does not accept."""
    if patch:
        return ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    accepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    text = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
    return ApiError(415, "UnsupportedMediaType", text)


def internal_error(message: str) -> ApiError:
    """What the real server answers with 500 although the request is at fault."""
    return ApiError(500, "", message)


def _full_plural(plural: str, row: ResourceType) -> str:
    return f"{plural}.{row.group}" if row.group else plural


def _details(row: ResourceType, name: str, kind: str | None = None) -> Json:
    return {"name": name, **({"group": row.group} if row.group else {}), "kind": kind or row.plural}
