"""Reviews: questions about rights and identities that are answered and never stored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

from kubesim.access.authentication import API_AUDIENCES, Authenticator
from kubesim.access.principal import Principal
from kubesim.access.rbac import Attributes, aggregate_errors, decide, grants
from kubesim.access.signing import TokenError
from kubesim.bodies.go_text import go_quote
from kubesim.status import Cause, Json, bad_request, invalid
from kubesim.store import Store

AUTHORIZATION_GROUP = "authorization.k8s.io"
_POINTER = "0xc000a1b2c8"
_RESOURCE_FIELDS = ("verb", "group", "resource", "subresource", "namespace", "name")
_JSON_SINCE = 34
"""The first release known to quote missing values in JSON style."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A decoded review, with who asks it, where and when."""

    store: Store
    principal: Principal
    authenticator: Authenticator
    obj: Json
    namespace: str
    now: str
    minor: int

    @property
    def spec(self) -> Mapping[str, Any]:
        return self.obj.get("spec") or {}


def is_review(kind: str) -> bool:
    """Whether objects of the kind are answered by `review`."""
    return kind in _ANSWERS


def review(
    store: Store, principal: Principal, authenticator: Authenticator, obj: Json, *, namespace: str, now: str, minor: int
) -> Json:
    """The answer to a decoded review, with its managedFields; `namespace` is the one of the request path.

    Raise 400 or 422 when the question is not allowed in this form.
    """
    return _ANSWERS[obj["kind"]](_Question(store, principal, authenticator, obj, namespace, now, minor))


def _self_access(question: _Question) -> Json:
    causes = _attribute_causes(question) + _metadata_causes(question.obj, "must be empty")
    _require_none(causes)
    return _review_status(question, question.principal)


def _subject_access(question: _Question) -> Json:
    causes = _attribute_causes(question) + _subject_causes(question.spec)
    _require_none(causes + _metadata_causes(question.obj, "must be empty"))
    return _review_status(question, _subject(question.spec))


def _local_access(question: _Question) -> Json:
    spec, own = question.spec, question.obj["metadata"].get("namespace", "")
    causes = _attribute_causes(question) + _subject_causes(spec)
    causes += _metadata_causes(question.obj, "must be empty except for namespace", allowed="namespace")
    asked = (spec.get("resourceAttributes") or {}).get("namespace", "")
    if spec.get("resourceAttributes") is not None and asked != own:
        causes.append(_cause("spec.resourceAttributes.namespace", go_quote(asked), "must match metadata.namespace"))
    if spec.get("nonResourceAttributes") is not None:
        shown = _printed_path(spec["nonResourceAttributes"])
        causes.append(_cause("spec.nonResourceAttributes", shown, "disallowed on this kind of request"))
    _require_none(causes)
    if own != question.namespace:
        raise bad_request(f"spec.resourceAttributes.namespace must match namespace: {question.namespace}")
    return _review_status(question, _subject(spec))


def _rules(question: _Question) -> Json:
    namespace = question.spec.get("namespace", "")
    if not namespace:
        raise bad_request("no namespace on request")
    found = list(grants(question.store, question.principal, namespace))
    rules = [rule for grant in found for rule in grant.rules]
    missing = [grant.missing for grant in found if grant.missing]
    status = {
        "resourceRules": [
            _rule_parts(rule, "verbs", "apiGroups", "resources", "resourceNames")
            for rule in rules
            if rule.get("resources")
        ],
        "nonResourceRules": [
            _rule_parts(rule, "verbs", "nonResourceURLs") for rule in rules if rule.get("nonResourceURLs")
        ],
        "incomplete": False,
        **({"evaluationError": aggregate_errors(missing)} if missing else {}),
    }
    return {**_type_meta(question.obj), "metadata": {"creationTimestamp": None}, "spec": {}, "status": status}


def _token(question: _Question) -> Json:
    if question.namespace:
        raise bad_request(f"namespace is not allowed on this type: {question.namespace}")
    token = question.spec.get("token", "")
    if not token:
        raise bad_request("token is required for TokenReview in authentication")
    asked = tuple(question.spec.get("audiences") or ()) or API_AUDIENCES
    # What a client put into the status stays there unless the answer has the field.
    given = question.obj.get("status") or {}
    status: Json = {"user": {}, **{name: value for name, value in given.items() if name != "authenticated"}}
    try:
        found = question.authenticator.review(token, question.store, question.now, asked)
    except TokenError as problem:
        status["error"] = str(problem)
    else:
        status |= {"authenticated": True, "user": found.principal.document(), "audiences": list(found.audiences)}
    return _with_status(question.obj, status)


def _self(question: _Question) -> Json:
    answered = _with_status(question.obj, {"userInfo": question.principal.document()})
    return {**answered, "metadata": {**answered["metadata"], "creationTimestamp": f"{question.now[:19]}Z"}}


_ANSWERS: Mapping[str, Callable[[_Question], Json]] = {
    "SelfSubjectAccessReview": _self_access,
    "SubjectAccessReview": _subject_access,
    "LocalSubjectAccessReview": _local_access,
    "SelfSubjectRulesReview": _rules,
    "SelfSubjectReview": _self,
    "TokenReview": _token,
}


def _review_status(question: _Question, subject: Principal) -> Json:
    spec = question.spec
    if spec.get("resourceAttributes") is not None:
        given = spec["resourceAttributes"]
        asked = Attributes(**{name: str(given.get(name) or "") for name in _RESOURCE_FIELDS})
    else:
        given = spec["nonResourceAttributes"]
        asked = Attributes(str(given.get("verb") or ""), path=str(given.get("path") or "/"))
    decision = decide(question.store, subject, asked)
    status = {"allowed": decision.allowed, **({"reason": decision.reason} if decision.reason else {})}
    return _with_status(question.obj, status)


def _subject(spec: Mapping[str, Any]) -> Principal:
    return Principal(str(spec.get("user") or ""), str(spec.get("uid") or ""), tuple(_groups(spec)))


def _groups(spec: Mapping[str, Any]) -> Sequence[str]:
    """The groups of the subject; v1beta1 names the field differently."""
    return spec.get("groups") or spec.get("group") or ()


def _attribute_causes(question: _Question) -> list[Cause]:
    spec = question.spec
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        text = "cannot be specified in combination with resourceAttributes"
        return [_cause("spec.nonResourceAttributes", _printed_path(path), text)]
    if resource is None and path is None:
        text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [_cause("spec.resourceAttributes", "null" if question.minor >= _JSON_SINCE else '"null"', text)]
    return []


def _subject_causes(spec: Mapping[str, Any]) -> list[Cause]:
    if spec.get("user") or _groups(spec):
        return []
    return [_cause("spec.user", '""', "at least one of user or group must be specified")]


def _metadata_causes(obj: Json, text: str, *, allowed: str = "") -> list[Cause]:
    metadata = obj.get("metadata") or {}
    if not any(value for key, value in metadata.items() if key not in {"managedFields", allowed}):
        return []
    return [_cause("metadata", _printed_metadata(metadata), text)]


def _cause(field: str, value: str, text: str) -> Cause:
    return Cause("FieldValueInvalid", f"Invalid value: {value}: {text}", field)


def _require_none(causes: Sequence[Cause]) -> None:
    # The server names no kind here: it asks the object for it after conversion has removed it.
    if causes:
        raise invalid("", AUTHORIZATION_GROUP, "", causes)


def _with_status(obj: Json, status: Json) -> Json:
    metadata = {"creationTimestamp": None, **(obj.get("metadata") or {})}
    return {**obj, "metadata": metadata, "status": status}


def _type_meta(obj: Json) -> Json:
    return {"kind": obj["kind"], "apiVersion": obj["apiVersion"]}


def _rule_parts(rule: Mapping[str, Any], *names: str) -> Json:
    return {name: list(rule[name]) for name in names if rule.get(name)}


def _printed_path(path: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name}:{go_quote(str(path.get(name.lower()) or ''))}" for name in ("Path", "Verb"))
    return f"authorization.NonResourceAttributes{{{shown}}}"


def _printed_metadata(metadata: Mapping[str, Any]) -> str:
    """Object metadata as Go prints the value of a struct."""

    def text(name: str) -> str:
        return go_quote(str(metadata.get(name) or ""))

    def pairs(name: str) -> str:
        given = metadata.get(name)
        listed = ", ".join(f"{go_quote(key)}:{go_quote(given[key])}" for key in sorted(given)) if given else ""
        return f"map[string]string{{{listed}}}" if given else "map[string]string(nil)"

    finalizers = metadata.get("finalizers")
    listed = "{" + ", ".join(map(go_quote, finalizers)) + "}" if finalizers else "(nil)"
    owners = metadata.get("ownerReferences")
    owned = "{" + ", ".join(map(_printed_owner, owners)) + "}" if owners else "(nil)"
    entries = metadata.get("managedFields")
    managed = "{" + ", ".join(map(_printed_entry, entries)) + "}" if entries else "(nil)"
    return (
        f"v1.ObjectMeta{{Name:{text('name')}, GenerateName:{text('generateName')}, Namespace:{text('namespace')}, "
        f"SelfLink:{text('selfLink')}, UID:{text('uid')}, ResourceVersion:{text('resourceVersion')}, "
        f"Generation:{metadata.get('generation') or 0}, "
        f"CreationTimestamp:v1.Time{{Time:time.Time{{{_printed_time(metadata.get('creationTimestamp'))}}}}}, "
        "DeletionTimestamp:(*v1.Time)(nil), DeletionGracePeriodSeconds:(*int64)(nil), "
        f"Labels:{pairs('labels')}, Annotations:{pairs('annotations')}, "
        f"OwnerReferences:[]v1.OwnerReference{owned}, Finalizers:[]string{listed}, "
        f"ClusterName:{text('clusterName')}, ManagedFields:[]v1.ManagedFieldsEntry{managed}}}"
    )


def _printed_time(time: str | None) -> str:
    """The content of a Go time: seconds since the year 1."""
    if not time:
        return "wall:0x0, ext:0, loc:(*time.Location)(nil)"
    seconds = (datetime.fromisoformat(time) - datetime(1, 1, 1, tzinfo=UTC)).total_seconds()
    return f"wall:0x0, ext:{int(seconds)}, loc:(*time.Location)(0x74bea60)"


def _printed_owner(owner: Mapping[str, Any]) -> str:
    names = {"apiVersion": "APIVersion", "kind": "Kind", "name": "Name", "uid": "UID"}
    shown = ", ".join(f"{label}:{go_quote(str(owner.get(key) or ''))}" for key, label in names.items())
    flags = {"controller": "Controller", "blockOwnerDeletion": "BlockOwnerDeletion"}
    pointers = {key: "nil" if owner.get(key) is None else _POINTER for key in flags}
    return f"v1.OwnerReference{{{shown}, " + ", ".join(f"{flags[key]}:(*bool)({pointers[key]})" for key in flags) + "}"


def _printed_entry(entry: Mapping[str, Any]) -> str:
    address = 0xC000000000 | crc32(str(entry).encode()) & ~0x3F
    time, fields = hex(address), hex(address | 0x20)
    return (
        f'v1.ManagedFieldsEntry{{Manager:{go_quote(entry.get("manager", ""))}, Operation:"{entry.get("operation")}", '
        f'APIVersion:"{entry.get("apiVersion")}", Time:(*v1.Time)({time}), FieldsType:"FieldsV1", '
        f"FieldsV1:(*v1.FieldsV1)({fields})}}"
    )
