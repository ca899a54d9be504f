"""The form in which the client wants the answer: its Accept header read by the server's rules."""

from dataclasses import dataclass
from functools import lru_cache

from kubesim.status import ApiError

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
_PRODUCED = (JSON, YAML, PROTOBUF)
_TOLD = (*_PRODUCED, f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")
_TOLD_SINCE = 34
"""The first release known to list the available forms."""
_SERVED = (JSON, YAML)
_TRANSFORMS = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})
_TRANSFORM_VERSIONS = frozenset({"v1", "v1beta1"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """The form of an answer: its media type, and the kind that objects are turned into."""

    media_type: str = JSON
    kind: str = ""
    version: str = "v1"


@lru_cache(maxsize=256)
def negotiate_form(accept: str, *, as_table: bool = True, minor: int = 0) -> Wanted:
    """The best form that the server can give; raise 406 when there is none. Parts of objects are never tables."""
    clauses = _clauses(accept)
    if not any(name in ("*/*", *_PRODUCED) for name, _ in clauses):
        listed = f"\n\nAvailable representations: {', '.join(_TOLD)}" if minor >= _TOLD_SINCE else ""
        raise ApiError(406, "NotAcceptable", f"406: Not Acceptable{listed}", {})
    for name, parameters in clauses:
        found = _acceptable_form(name, parameters)
        if found and (as_table or found.kind != "Table"):
            return found
    raise not_acceptable(f"only the following media types are accepted: {', '.join(_PRODUCED)}")


@lru_cache(maxsize=256)
def for_errors(accept: str) -> Wanted | None:
    """The form of a refusal, which is never transformed; None when the client accepts none of those that exist."""
    plain = (found for found in (_acceptable_form(*clause) for clause in _clauses(accept)) if found and not found.kind)
    return next(plain, None)


def not_acceptable(message: str) -> ApiError:
    """No form of the answer is one that the client accepts."""
    return ApiError(406, "NotAcceptable", message)


def _acceptable_form(name: str, parameters: dict[str, str]) -> Wanted | None:
    media_type = JSON if name in ("*/*", "application/*") else name
    if media_type not in _SERVED:
        return None
    kind, version = parameters.get("as", ""), parameters.get("v", "v1")
    if not kind:
        return Wanted(media_type)
    known = kind in _TRANSFORMS and version in _TRANSFORM_VERSIONS and parameters.get("g") == "meta.k8s.io"
    return Wanted(media_type, kind, version) if known else None


def _clauses(accept: str) -> list[tuple[str, dict[str, str]]]:
    """The media types of the header with their parameters, the preferred ones first."""
    weighted = []
    for position, clause in enumerate((accept or "*/*").split(",")):
        name, *pairs = (part.strip() for part in clause.split(";"))
        parameters = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        weighted.append((-_weight(parameters.pop("q", "1")), position, name, parameters))
    weighted.sort(key=lambda row: row[:2])
    return [(name, parameters) for _, _, name, parameters in weighted]


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0
