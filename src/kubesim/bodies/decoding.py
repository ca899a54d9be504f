"""What the server makes of a request's body: an object of a type, or a refusal in the words of Go's decoders."""

from typing import Any, Protocol

from kubesim.bodies import go_json, go_yaml
from kubesim.bodies.go_text import go_quote
from kubesim.bodies.json_iterator import decoding_problem
from kubesim.bodies.normalization import MismatchError, normalize_value, unknown_fields
from kubesim.bodies.protobuf import ProtobufError, decoded_protobuf
from kubesim.bodies.standard_json import unmarshal_problem
from kubesim.status import ApiError, Json, bad_request, unsupported_media_type
from kubesim.types.definitions import Definitions, Type

__all__ = ["decode_body", "decoded_options", "decoding_failure", "normalize_value", "unknown_fields"]

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"

_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_JSON_ITERATOR_UNTIL = 23  # from then on the standard library's decoder, and its words
_SUMMARY = 30
_SCHEMES = {True: "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30", False: "pkg/api/legacyscheme/scheme.go:30"}
_SCHEME_MOVED, _MOVED_SCHEME = 34, "pkg/runtime/scheme.go:110"
# Groups whose types live in another group's package inside the server.
_INTERNAL_PACKAGES = {"": "core", "events.k8s.io": "core"}
_MOVED_KINDS = {
    "Deployment": "apps", "DaemonSet": "apps", "ReplicaSet": "apps", "Ingress": "networking",
    "NetworkPolicy": "networking", "PodSecurityPolicy": "policy", "Scale": "autoscaling", "Event": "core",
}  # fmt: skip


_OPTIONS_SCHEMES = {
    True: "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27",
    False: "pkg/apis/meta/internalversion/scheme/register.go:27",
}
# Groups of aggregated servers, unknown to the main one.
_OTHER_SCHEMES = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})


class BodyError(Exception):
    """A body that cannot be read, or does not say what it is; the message is Go's."""


class Kind(Protocol):
    """What a body is expected to be."""

    @property
    def kind(self) -> str:
        """For example `Pod`."""

    @property
    def group(self) -> str:
        """Empty for the core group."""

    @property
    def version(self) -> str:
        """For example `v1`."""


def decode_body(resource: Kind, request_content: Any, media_type: str, types: Definitions) -> Json:
    """The body of a create or update as an object of the resource's type; raise 400 or 415 when it cannot be read.

    `request_content` is the body's bytes or, from a caller in the same process, JSON data.
    """
    kind, version = resource.kind, resource.version
    expected = types.of_kind(resource.group, version, kind)
    try:
        content, value = _parse_body(request_content, media_type)
        given_group, given_version, given_kind = claimed_kind(value)
    except ProtobufError as problem:
        raise _unreadable_error(kind, problem, request_content) from None
    except BodyError as problem:
        raise _unrecognized_error(kind, str(problem), request_content) from None
    if expected is None:
        return _decode_custom(resource, value or {}, content, types)
    given_kind = given_kind or kind
    if not given_version and given_group in {"", resource.group}:
        given_group, given_version = resource.group, version
    if (given_group, given_version, given_kind) != (resource.group, version, kind):
        raise _other_kind(resource, given_group, given_version, given_kind, value, content, types)
    try:
        obj = normalize_value(expected, value)
    except MismatchError:
        raise decoding_failure(kind, version, kind, expected, value, content) from None
    api_version = f"{resource.group}/{version}" if resource.group else version
    return {**(obj or {}), "kind": kind, "apiVersion": api_version}


def _decode_custom(resource: Kind, value: Json, content: bytes, types: Definitions) -> Json:
    """An object without a built-in type: its metadata is decoded, and its kind is left to validation."""
    kind, version, given = resource.kind, resource.version, value.get("apiVersion")
    if not value.get("kind"):
        shown = (content or go_json.dump_json(value)).decode("utf-8", "replace")
        text = f"unmarshalerDecoder: Object 'Kind' is missing in '{shown}'"
        raise bad_request(f"{kind} in version {go_quote(version)} cannot be handled as a {kind}: {text}")
    if not given:
        text = "Object 'apiVersion' is missing in 'object has no apiVersion field'"
        raise ApiError(500, "InternalError", f"Internal error occurred: {text}", {"causes": [{"message": text}]})
    if given != f"{resource.group}/{version}":
        expected = f"{resource.group}/{version}"
        text = f"the API version in the data ({given}) does not match the expected API version ({expected})"
        raise bad_request(text)
    metadata = value.get("metadata")
    type_ = types.type_named(_OBJECT_META)
    try:
        decoded_metadata = normalize_value(type_, {} if metadata is None else metadata)
    except MismatchError:
        raise decoding_failure(kind, version, kind, type_, metadata, go_json.dump_json(metadata)) from None
    if decoded_metadata.get("creationTimestamp") is None:
        decoded_metadata = {name: item for name, item in decoded_metadata.items() if name != "creationTimestamp"}
    return {**value, "metadata": decoded_metadata}


def decoded_options(kind: str, request_content: Any, media_type: str, types: Definitions) -> Json:
    """A body that carries options such as `DeleteOptions`; raise 415 or, as the server does for the rest, 500."""
    try:
        content, value = _parse_body(request_content, media_type)
        _, version, given = claimed_kind(value)
    except (BodyError, ProtobufError) as problem:
        raise ApiError(500, "", str(problem)) from None
    if given and given != kind:
        scheme = _OPTIONS_SCHEMES[types.minor < _JSON_ITERATOR_UNTIL]
        text = f'no kind {go_quote(given)} is registered for version {go_quote(version)} in scheme "{scheme}"'
        raise ApiError(500, "", text)
    expected = types.of_kind("", "v1", kind)
    try:
        return {**normalize_value(expected, value), "kind": kind}
    except MismatchError:
        raise ApiError(500, "", problem_in(expected, value, content)) from None


def decoding_failure(given: str, version: str, kind: str, type_: Type | None, value: Any, content: bytes) -> ApiError:
    """The refusal of a body whose values do not fit its type."""
    problem = problem_in(type_, value, content)
    return bad_request(f"{given} in version {go_quote(version)} cannot be handled as a {kind}: {problem}")


def _parse_body(sent: Any, media_type: str) -> tuple[bytes, Any]:
    """The body as JSON bytes, if it came so, and as a value; raise 415, `BodyError` or `ProtobufError`."""
    main = media_type.partition(";")[0].strip().lower() or JSON
    if main not in {JSON, YAML, PROTOBUF}:
        raise unsupported_media_type(patch=False)
    if sent is None:
        sent = b""
    if not isinstance(sent, bytes):
        return b"", sent
    if main == PROTOBUF:
        return b"", decoded_protobuf(sent)
    try:
        return (b"", go_yaml.load_yaml(sent)) if main == YAML else (sent, go_json.load_json(sent))
    except go_yaml.YamlError as problem:
        raise BodyError(str(problem)) from None
    except go_json.JsonError as problem:
        raise BodyError(f"couldn't get version/kind; json parse error: {problem}") from None


def claimed_kind(value: Any) -> tuple[str, str, str]:
    """Group, version and kind that a body claims, empty where it says nothing; raise `BodyError`."""
    if not isinstance(value, dict | None):
        raise BodyError(go_json.no_object_problem(value))
    found = {"apiversion": "", "kind": ""}
    # Go matches these two names, unlike all others, case-insensitively.
    for key, item in (value or {}).items():
        if key.lower() in found and item is not None:
            if not isinstance(item, str):
                name = "apiVersion" if key.lower() == "apiversion" else "kind"
                problem = f"json: cannot unmarshal {go_json.kind_of(item)} into Go struct field .{name} of type string"
                raise BodyError(f"couldn't get version/kind; json parse error: {problem}")
            found[key.lower()] = item
    api_version = found["apiversion"]
    if api_version.count("/") > 1:
        raise BodyError(f"unexpected GroupVersion string: {api_version}")
    group, slash, version = api_version.partition("/")
    return (group, version, found["kind"]) if slash else ("", group, found["kind"])


def unregistered_words(api_version: str, kind: str, types: Definitions) -> str:
    """The message for a kind that the server does not have."""
    scheme = _SCHEMES[types.minor < _JSON_ITERATOR_UNTIL] if types.minor < _SCHEME_MOVED else _MOVED_SCHEME
    return f'no kind {go_quote(kind)} is registered for version {go_quote(api_version)} in scheme "{scheme}"'


def _unrecognized_error(kind: str, problem: str, sent: Any) -> ApiError:
    content = sent if isinstance(sent, bytes) else b"" if sent is None else go_json.dump_json(sent)
    shown = content[:_SUMMARY]
    summary = shown.decode("utf-8", "replace") if shown[:1] == b"{" else shown.hex()
    summary = f"{summary} ..." if len(content) > _SUMMARY else summary or "<empty>"
    return bad_request(f"the object provided is unrecognized (must be of type {kind}): {problem} ({summary})")


def _unreadable_error(kind: str, problem: ProtobufError, sent: Any) -> ApiError:
    if not problem.kind:
        return _unrecognized_error(kind, str(problem), sent)
    version = go_quote(problem.version)
    return bad_request(f"{problem.kind} in version {version} cannot be handled as a {kind}: {problem}")


def _other_kind(
    resource: Kind, group: str, version: str, kind: str, value: Any, content: bytes, types: Definitions
) -> ApiError:
    """The refusal of a body that is something other than the path asks for."""
    given = None if group in _OTHER_SCHEMES else types.of_kind(group, version, kind)
    api_version = f"{group}/{version}" if group else version
    prefix = f"{kind} in version {go_quote(version)} cannot be handled as a {resource.kind}: "
    if not version:
        shown = (content or go_json.dump_json(value)).decode("utf-8", "replace")
        return bad_request(f"{prefix}Object 'apiVersion' is missing in '{shown}'")
    if given is None:
        return bad_request(prefix + unregistered_words(api_version, kind, types))
    try:
        normalize_value(given, value)
    except MismatchError:
        return decoding_failure(kind, version, resource.kind, given, value, content)
    problem = foreign_kind_problem(given, (group, kind), (resource.group, resource.kind))
    if not problem:
        expected = f"{resource.group}/{resource.version}" if resource.group else resource.version
        text = f"the API version in the data ({api_version}) does not match the expected API version ({expected})"
        return bad_request(text)
    return bad_request(prefix + problem)


def foreign_kind_problem(given: Type, from_: tuple[str, str], to: tuple[str, str]) -> str:
    """Why a type cannot be converted to a kind (a group and a name); empty when both are versions of one kind."""
    if _internal_name(*from_) == _internal_name(*to):
        return ""
    return f"converting ({given.go_name}) to ({_internal_name(*to)}): unknown conversion"


def _internal_name(group: str, kind: str) -> str:
    if group in {"extensions", "apps"} and kind in _MOVED_KINDS:
        return f"{_MOVED_KINDS[kind]}.{kind}"
    return f"{_INTERNAL_PACKAGES.get(group) or group.partition('.')[0]}.{kind}"


def problem_in(type_: Type | None, value: Any, content: bytes) -> str:
    """The decoder's complaint about a value that is not a `type_`; `content` is its JSON, if it came so."""
    if type_ is None:
        return "unknown"
    if type_.definitions.minor >= _JSON_ITERATOR_UNTIL:
        return unmarshal_problem(type_, value)
    raw = content or go_json.dump_json(value)
    return decoding_problem(type_, raw) or "unknown"
