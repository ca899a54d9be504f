"""The vocabulary of state entries: the kinds, the keys that each may declare, and what is wrong with a value."""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.resource import REPLICATED, closest_noun, resource_type
from sirocco.oasis.scenario import StateEntry
from sirocco.providers.simulator.controllers.dynamics import Health
from sirocco.providers.simulator.kubernetes.names import label_key_problem, label_value_problem

Checker = Callable[[Any], str | None]
"""Says what is wrong with a declared value, as the rest of a sentence; None when nothing is."""


def entry_noun(entry: StateEntry) -> str | None:
    """The kind of entry under the name that the vocabulary has for it; None when there is none."""
    if entry.kind in _VOCABULARY:
        return entry.kind
    row = resource_type(entry.kind)
    return row.noun if row and row.noun in _VOCABULARY else None


def as_text(value: Any) -> str:
    """A declared scalar as Kubernetes stores it: text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def is_broken_line(line: str) -> bool:
    """Whether a line would come back as several; the break at its end is the one that every line has."""
    return "\n" in line.removesuffix("\n")


def entry_problems(entry: StateEntry) -> Iterator[str]:
    """What an entry says that the vocabulary does not have."""
    noun = entry_noun(entry)
    if noun is None:
        closest = closest_noun(entry.kind)
        hint = f"; did you mean {closest!r}?" if closest in _VOCABULARY else ""
        yield f"kind {entry.kind!r} cannot be established{hint}"
        return
    if not entry.name:
        yield "names no object; write kind/name"
        return
    for key, value in entry.fields.items():
        check = _VOCABULARY[noun].get(key)
        problem = check(value) if check else "cannot be established for this kind"
        if problem:
            yield f"{key} {problem}"
    if noun == "runbook" and not {"content", "steps"} & set(entry.fields):
        yield "needs content or steps"
    if noun == "hpa" and "target" not in entry.fields:
        yield "needs a target"
    if entry.namespace not in {None, entry.name} and noun in {"namespace", "node", "events"}:
        yield f"cannot be in namespace {entry.namespace!r}"


def _scalar(value: Any) -> str | None:
    return None if isinstance(value, str | int | float) else "is not a text"


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) else "is not a text"


def _count(value: Any) -> str | None:
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return None if good else "is not a whole number of at least 0"


def _port(value: Any) -> str | None:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536
    return None if good else "is not a port number"


def _object(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "is not a map"
    try:
        canonical_json(value)
    except (TypeError, ValueError):
        return "holds a value that JSON cannot express"
    return None


def _scalars(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "is not a map of texts"
    return next((f"holds {key}, which {problem}" for key, item in value.items() if (problem := _scalar(item))), None)


def _labels(value: Any) -> str | None:
    problem = _scalars(value)
    if problem:
        return problem
    for key, item in value.items():
        problem = label_key_problem(str(key)) or label_value_problem(as_text(item))
        if problem:
            return f"holds {key}={as_text(item)}: {problem}"
    return None


def _annotations(value: Any) -> str | None:
    problem = _scalars(value)
    if problem:
        return problem
    wrong = next((key for key in value if label_key_problem(str(key).lower())), None)
    return None if wrong is None else f"holds the key {wrong!r}, which no annotation can have"


def _base64(value: Any) -> str | None:
    problem = _scalars(value)
    if problem:
        return problem
    wrong = next((key for key, item in value.items() if not _is_base64(as_text(item))), None)
    return None if wrong is None else f"holds {wrong}, which is not base64; use stringData for plain text"


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _names(value: Any) -> str | None:
    good = isinstance(value, list | tuple) and all(isinstance(item, str) and item for item in value)
    return None if good else "is not a list of names"


def _lines(value: Any) -> str | None:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        return "is not a list of lines"
    return "holds a line with a line break in it" if any(map(is_broken_line, value)) else None


def _environment(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "is not a map of variables"
    wrong = next((name for name, item in value.items() if _scalar(item) and not _is_key_reference(item)), None)
    return None if wrong is None else f"holds {wrong}, which is neither a text nor a key of a secret or configmap"


def _is_key_reference(item: Any) -> bool:
    source = item.get("valueFrom") if isinstance(item, Mapping) and set(item) == {"valueFrom"} else None
    if not isinstance(source, Mapping) or len(source) != 1:
        return False
    ((kind, reference),) = source.items()
    return (
        kind in {"secretKeyRef", "configMapKeyRef"}
        and isinstance(reference, Mapping)
        and ({"name", "key"} <= set(reference) <= {"name", "key", "optional"})
    )


def _conditions(value: Any) -> str | None:
    allowed = {"type", "status", "reason", "message"}
    good = isinstance(value, list | tuple) and all(
        isinstance(item, Mapping) and "type" in item and set(item) <= allowed and not any(map(_scalar, item.values()))
        for item in value
    )
    return None if good else "is not a list of conditions with type, status, reason, message"


def _status(value: Any) -> str | None:
    known = [health.value for health in Health]
    return None if value in known else f"is {value!r}; supported: {', '.join(known)}"


def _scale_target(value: Any) -> str | None:
    kind, _, name = value.partition("/") if isinstance(value, str) else ("", "", "")
    row = resource_type(kind)
    good = row is not None and row.noun in REPLICATED and bool(name)
    return None if good else "is not a workload, such as deployment/NAME"


def _recent(value: Any) -> str | None:
    allowed = {"type", "reason", "object", "message"}
    if not isinstance(value, list | tuple):
        return "is not a list of events"
    for item in value:
        if not isinstance(item, Mapping) or not {"object", "message"} <= set(item) <= allowed:
            return "holds an event without object and message, or with keys beside type, reason, object, message"
        kind, _, name = str(item["object"]).partition("/")
        if resource_type(kind) is None or not name or any(map(_scalar, item.values())):
            return f"holds an event about {item['object']!r}, which is not an object such as deployment/NAME"
        if item.get("type", "Normal") not in {"Normal", "Warning"}:
            return f"holds an event of type {item['type']!r}; events are Normal or Warning"
    return None


_COMMON: Mapping[str, Checker] = {"labels": _labels, "annotations": _annotations}
_POD_KEYS = {**_COMMON, "env": _environment, "image": _text, "status": _status}
_VOCABULARY: Mapping[str, Mapping[str, Checker]] = {
    "namespace": {**_COMMON, "zone": _text},
    "deployment": {
        **_POD_KEYS, "replicas": _count, "volumes_from": _names, "volumes": _names, "managed_by": _text,
        "conditions": _conditions, "resource_limits": _scalars,
    },
    "pod": _POD_KEYS,
    "configmap": {**_COMMON, "data": _scalars},
    "secret": {**_COMMON, "data": _base64, "stringData": _scalars, "type": _text},
    "service": {**_COMMON, "selector": _labels, "port": _port},
    "hpa": {**_COMMON, "target": _scale_target, "min_replicas": _count, "max_replicas": _count},
    "pvc": {**_COMMON, "storage": _text},
    **{noun: {**_COMMON, "spec": _object}
       for noun in ("role", "rolebinding", "clusterrole", "clusterrolebinding", "serviceaccount", "networkpolicy",
                    "ingress", "node", "pdb")},
    "logs": {"entries": _lines},
    "events": {"recent": _recent},
    "runbook": {"content": _text, "steps": _lines},
}  # fmt: skip
