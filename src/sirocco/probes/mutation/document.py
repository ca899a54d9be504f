"""The scenario document as operators see it: every place where it names or says something, and what it names there.

Keys and values of the vocabulary (kinds, verbs, statuses, ids of archetypes and behaviours) are no such place.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from kubesim.resource import RESOURCE_TYPES, WORKLOADS, resource_type
from sirocco.domains.kubernetes.operation import Operation
from sirocco.domains.kubernetes.targets import Surface, Target
from sirocco.errors import OperationError
from sirocco.oasis.operation import ALL, ANY

Document = dict[str, Any]
Rewrite = Callable[[str], str]

# Mappings whose keys the author chose; all other keys are the vocabulary's.
_FREE_KEYED = frozenset(
    {"annotations", "data", "env", "labels", "matchLabels", "nodeSelector", "selector", "stringData"}
)
_CONVENTIONAL_KEYS = frozenset({"app", "component", "environment", "name", "role", "team", "tier", "track", "version"})
_VOCABULARY_VALUES = frozenset({"condition", "kind", "level", "mode", "reason", "status", "storage", "type", "verb"})
_RUNNING = WORKLOADS | {"pod", "job", "cronjob", "service", "logs"}
_LEAST_LITERAL = 4
_PARSED = 4096
"""Operations that are kept taken apart: a chain looks at those of one document again and again."""
_REFERENCE = re.compile(
    r"(?<![\w/-])(?:{})/([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)(?![\w*?/-])".format(
        "|".join(sorted({noun for row in RESOURCE_TYPES for noun in (row.noun, row.plural)} | {"logs", "runbook"}))
    )
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One object of the environment that a document declares, with its namespace made explicit."""

    kind: str
    name: str
    namespace: str
    fields: Mapping[str, Any]


def entries(document: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The declared objects, in order."""
    home = home_namespace(document)
    declared = (
        (state, *_split(state["resource"])) for state in document["preconditions"]["environment"].get("state", ())
    )
    return tuple(Entry(_noun(kind), name, state.get("namespace", home), state) for state, kind, name in declared)


def home_namespace(document: Mapping[str, Any]) -> str:
    """Where an entry lives that names no namespace."""
    namespaces = document["preconditions"]["agent"]["scope"].get("namespaces", ())
    return namespaces[0] if namespaces else "default"


def rewritten(document: Mapping[str, Any], rewrite: Rewrite) -> Document:
    """The document with `rewrite` applied to every name and text in it; structure is taken apart, not guessed at."""
    result = {**document}
    for key in ("name", "intent", "description"):
        if key in result:
            result[key] = rewrite(result[key])
    result["preconditions"] = _preconditions(document["preconditions"], rewrite)
    result["stimuli"] = [_stimulus(stimulus, rewrite) for stimulus in document["stimuli"]]
    if "assertions" in result:
        result["assertions"] = _assertions(document["assertions"], rewrite)
    if "verification" in result:
        result["verification"] = _verification(document["verification"], rewrite)
    if "x-sirocco" in result:
        result["x-sirocco"] = _extension(document["x-sirocco"], rewrite)
    return result


def texts(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Every name and text that `rewritten` would visit."""
    found: list[str] = []

    def record(text: str) -> str:
        found.append(text)
        return text

    rewritten(document, record)
    return tuple(found)


def operations(document: Mapping[str, Any]) -> tuple[Operation, ...]:
    """Every operation of the assertions, the verification, the goal and the task."""
    assertions, verification = document.get("assertions", {}), document.get("verification", {})
    extension = document.get("x-sirocco", {})
    written = [
        *(item.get("action") for key in ("must", "must_not") for item in assertions.get(key, ())),
        *(rule.get(key) for rule in verification.get("api_audit", ()) for key in ("forbidden", "required")),
        extension.get("goal", {}).get("operation"),
        *extension.get("task", ()),
        *(reading.get(key) for reading in _readings(extension) for key in ("forbidden", "required", "before", "after")),
    ]
    read = (parsed_operation(text) for text in written if text)
    return tuple(operation for operation in read if operation is not None)


def names(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Every object, namespace and zone that the document names, without patterns, each once, in order of appearance."""
    found = [*_environment_names(document), *_expected_names(document)]
    found += [name for text in texts(document) for name in _REFERENCE.findall(text)]
    return tuple(dict.fromkeys(name for name in found if name and name not in {ANY, ALL} and not _is_pattern(name)))


def places(document: Mapping[str, Any]) -> frozenset[str]:
    """The names that are namespaces or zones."""
    scope = document["preconditions"]["agent"]["scope"]
    declared = entries(document)
    return frozenset(
        {
            *scope.get("namespaces", ()),
            *scope.get("zones", ()),
            *(entry.namespace for entry in declared),
            *(entry.fields["zone"] for entry in declared if "zone" in entry.fields),
            *(entry.name for entry in declared if entry.kind in {"namespace", "events"}),
            *(operation.target_namespace or "" for operation in operations(document)),
        }
    )


def workloads(document: Mapping[str, Any]) -> frozenset[str]:
    """The names of what runs, and of the services before it."""
    declared = entries(document)
    return frozenset(
        {
            *(entry.name for entry in declared if entry.kind in _RUNNING),
            *(service for entry in declared for service in _traced_services(entry)),
            *(operation.name for operation in operations(document) if operation.resource in _RUNNING),
        }
    )


def patterns(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Every name with a wildcard in it, each once."""
    found = [name for operation in operations(document) for name in (operation.name, operation.namespace)]
    found += [
        part for item in _state_assertions(document) for part in (_split(item["resource"])[1], item.get("namespace"))
    ]
    return tuple(dict.fromkeys(name for name in found if name and name != ANY and _is_pattern(name)))


def secret_values(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The values of all secrets, as stored and in plain, longest first; no operator may change one."""
    found: set[str] = set()
    for entry in entries(document):
        if entry.kind == "secret":
            found.update(str(value) for value in entry.fields.get("stringData", {}).values())
            for value in entry.fields.get("data", {}).values():
                found |= {str(value), _decoded(str(value))}
    return tuple(
        sorted((value for value in found if len(value) >= _LEAST_LITERAL), key=lambda value: (-len(value), value))
    )


def _environment_names(document: Mapping[str, Any]) -> Iterator[str]:
    for entry in entries(document):
        yield entry.name
        yield _owner(entry)
        yield from _traced_services(entry)
        yield entry.fields.get("namespace", "")
        yield entry.fields.get("zone", "")
        for key in ("volumes", "volumes_from"):
            yield from (name.rpartition("/")[2] for name in entry.fields.get(key, ()) if isinstance(name, str))
        for variable in _mapping(entry.fields.get("env")).values():
            for reference in _mapping(_mapping(variable).get("valueFrom")).values():
                yield _mapping(reference).get("name", "")
    scope = document["preconditions"]["agent"]["scope"]
    yield from scope.get("namespaces", ())
    yield from scope.get("zones", ())
    for stimulus in document["stimuli"]:
        yield stimulus.get("namespace", "")
        target = _target(stimulus.get("target", ""))
        yield target.name if target else ""


def _traced_services(entry: Entry) -> Iterator[str]:
    """The services that a trace leads through; they run, though nothing else may be declared of them."""
    waiting = [entry.fields.get("root_span"), entry.fields.get("spans")] if entry.kind == "traces" else []
    for span in waiting:
        if isinstance(span, list | tuple):
            waiting.extend(span)
        elif isinstance(span, Mapping):
            waiting.append(span.get("children"))
            if isinstance(service := span.get("service"), str):
                yield service


def _owner(entry: Entry) -> str:
    """The workload whose name a pod's name begins with; what follows is a hash, which nobody says."""
    workload, _, suffix = entry.name.rpartition("-")
    return workload if entry.kind == "pod" and any(map(str.isdigit, suffix)) else ""


def _expected_names(document: Mapping[str, Any]) -> Iterator[str]:
    for operation in operations(document):
        yield operation.name
        yield operation.namespace or ""
    for item in _state_assertions(document):
        yield _split(item["resource"])[1]
        yield item.get("namespace", "")
    verification = document.get("verification", {})
    output = document.get("x-sirocco", {}).get("goal", {}).get("output")
    for reference in (output, *(item["value_ref"] for item in verification.get("value_containment", ()))):
        yield _split(reference or "")[1].partition(".")[0]


def _state_assertions(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    readings = _readings(document.get("x-sirocco", {}))
    given = [
        *document.get("verification", {}).get("state_assertions", ()),
        *(reading["state"] for reading in readings if "state" in reading),
    ]
    return [item for item in given if "resource" in item]


def _readings(extension: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    readings = [reading for readings in extension.get("predicates", {}).values() for reading in readings]
    inner = [part for reading in readings for branch in reading.get("any_of", ()) for part in branch]
    return [reading for reading in (*readings, *inner) if "any_of" not in reading]


def _preconditions(preconditions: Mapping[str, Any], rewrite: Rewrite) -> Document:
    environment, agent = {**preconditions["environment"]}, {**preconditions["agent"]}
    environment["state"] = [_state(entry, rewrite) for entry in environment.get("state", ())]
    agent["scope"] = {key: _value(value, rewrite) for key, value in agent["scope"].items()}
    return {**preconditions, "environment": environment, "agent": agent}


def _state(entry: Mapping[str, Any], rewrite: Rewrite) -> Document:
    kind, _ = _split(entry.get("resource", ""))
    result: Document = {}
    for key, value in entry.items():
        if key == "resource":
            result[key] = _resource(value, rewrite)
        elif kind == "secret" and key in {"data", "stringData"}:
            result[key] = {_key(name, rewrite): secret for name, secret in value.items()}
        elif key not in _VOCABULARY_VALUES:
            result[key] = _mapped(value, rewrite, free_keys=key) if key in _FREE_KEYED else _value(value, rewrite)
        else:
            result[key] = value
    return result


def _stimulus(stimulus: Mapping[str, Any], rewrite: Rewrite) -> Document:
    result = {**stimulus}
    for key in ("value", "description", "namespace", "timing"):
        if key in result:
            result[key] = rewrite(result[key])
    if "target" in result:
        result["target"] = _rewritten_target(result["target"], rewrite)
    return result


def _rewritten_target(text: str, rewrite: Rewrite) -> str:
    target = _target(text)
    if target is None:
        return rewrite(text)
    key = target.key
    if key is not None and target.surface is not Surface.STATUS_CONDITIONS:
        key = _variable(key, rewrite) if target.surface is Surface.ENV_VALUES else _key(key, rewrite)
    return str(Target(kind=target.kind, name=rewrite(target.name), surface=target.surface, key=key))


def _assertions(assertions: Mapping[str, Any], rewrite: Rewrite) -> Document:
    result = {**assertions}
    for key in ("must", "must_not"):
        if key in result:
            result[key] = [_assertion(item, rewrite) for item in result[key]]
    if "conditional" in result:
        result["conditional"] = [_assertions(block, rewrite) for block in result["conditional"]]
    return result


def _assertion(item: Mapping[str, Any], rewrite: Rewrite) -> Document:
    result = {**item}
    if "action" in result:
        result["action"] = _operation(result["action"], rewrite)
    if "tool_hint" in result:
        result["tool_hint"] = rewrite(result["tool_hint"])
    return result


def _verification(verification: Mapping[str, Any], rewrite: Rewrite) -> Document:
    result = {**verification}
    for key, value in verification.items():
        if key == "state_assertions":
            result[key] = [_state(item, rewrite) for item in value]
        elif key == "api_audit":
            result[key] = [_audit_rule(rule, rewrite) for rule in value]
        elif key == "value_containment":
            result[key] = [_contained(item, rewrite) for item in value]
        else:
            result[key] = _value(value, rewrite)
    return result


def _contained(item: Mapping[str, Any], rewrite: Rewrite) -> Document:
    """An entry of value containment; its boundary is a name unless it is one of the vocabulary's."""
    result = {**item, "value_ref": rewrite(item["value_ref"])}
    if item.get("scope", "absolute") not in {"absolute", "namespaces", "zones"}:
        result["scope"] = rewrite(item["scope"])
    return result


def _audit_rule(rule: Mapping[str, Any], rewrite: Rewrite) -> Document:
    return {key: rewrite(value) if key == "description" else _operation(value, rewrite) for key, value in rule.items()}


def _extension(extension: Mapping[str, Any], rewrite: Rewrite) -> Document:
    result = {**extension}
    goal = extension.get("goal", {})
    if "operation" in goal:
        result["goal"] = {"operation": _operation(goal["operation"], rewrite)}
    if "output" in goal:
        result["goal"] = {"output": rewrite(goal["output"])}
    if "task" in result:
        result["task"] = [_operation(text, rewrite) for text in result["task"]]
    if "predicates" in result:
        result["predicates"] = {
            check: [_reading(reading, rewrite) for reading in readings]
            for check, readings in result["predicates"].items()
        }
    if "slots" in result:
        result["slots"] = {name: _slot(value, rewrite) for name, value in result["slots"].items()}
    if "reactions" in result:
        result["reactions"] = _value(result["reactions"], rewrite)
    return result


def _slot(value: Any, rewrite: Rewrite) -> Any:
    """The value of a slot; one that is a mapping has the names of things as keys."""
    if not isinstance(value, Mapping):
        return _value(value, rewrite)
    return {rewrite(name): _value(words, rewrite) for name, words in value.items()}


def _reading(reading: Mapping[str, Any], rewrite: Rewrite) -> Document:
    if "behavior" in reading:
        return {**reading}
    if "preserved" in reading:
        return {**reading, "preserved": _operation(reading["preserved"], rewrite)}
    if "any_of" in reading:
        return {"any_of": [[_reading(part, rewrite) for part in branch] for branch in reading["any_of"]]}
    return {
        key: _state(value, rewrite) if key == "state" else _operation(value, rewrite) for key, value in reading.items()
    }


def _value(value: Any, rewrite: Rewrite) -> Any:
    """A value of free structure: texts and chosen keys are rewritten, keys and values of the vocabulary are not."""
    if isinstance(value, str):
        return rewrite(value)
    if isinstance(value, Mapping):
        return _mapped(value, rewrite)
    if isinstance(value, Iterable):
        return [_value(item, rewrite) for item in value]
    return value


def _mapped(value: Any, rewrite: Rewrite, free_keys: str = "") -> Any:
    if not isinstance(value, Mapping):
        return _value(value, rewrite)
    result = {}
    for key, item in value.items():
        name = key
        if free_keys:
            name = _variable(key, rewrite) if free_keys == "env" else _key(key, rewrite)
        if not free_keys and key in _VOCABULARY_VALUES and isinstance(item, str):
            result[name] = item
        else:
            result[name] = _mapped(item, rewrite, free_keys=key if key in _FREE_KEYED and not free_keys else "")
    return result


def _key(key: str, rewrite: Rewrite) -> str:
    """A chosen key; keys that the whole ecosystem agrees on stay."""
    return key if key in _CONVENTIONAL_KEYS or "kubernetes.io/" in key or "k8s.io/" in key else rewrite(key)


def _variable(name: str, rewrite: Rewrite) -> str:
    """The name of an environment variable, which must not hold a hyphen."""
    return rewrite(name).replace("-", "_")


def _resource(text: str, rewrite: Rewrite) -> str:
    kind, name = _split(text)
    return f"{kind}/{name if name == ANY else rewrite(name)}" if name else kind


@lru_cache(_PARSED)
def parsed_operation(text: str) -> Operation | None:
    """The operation that a text is; None for an entry in words, whose readings stand beside it."""
    try:
        return Operation.parse(text)
    except OperationError:
        return None


def _operation(text: str, rewrite: Rewrite) -> str:
    operation = parsed_operation(text)
    if operation is None:
        return rewrite(text)
    path, free = [], False
    for segment in operation.path:
        path.append(_key(segment, rewrite) if free else segment)
        free = segment in _FREE_KEYED
    labels = operation.labels
    return str(
        replace(
            operation,
            name=operation.name if operation.name in {ANY, ALL} else rewrite(operation.name),
            namespace=operation.namespace and rewrite(operation.namespace),
            labels=labels and tuple(sorted((_key(key, rewrite), rewrite(value)) for key, value in labels)),
            path=tuple(path),
            value=operation.value and rewrite(operation.value),
        )
    )


def _target(text: str) -> Target | None:
    try:
        return Target.parse(text)
    except ValueError:
        return None


def _split(resource: str) -> tuple[str, str]:
    kind, _, name = resource.partition("/")
    return kind, name


def _noun(kind: str) -> str:
    """A kind under its proper noun; entries for logs, events and runbooks are no kinds."""
    row = resource_type(kind)
    return row.noun if row and kind != "events" else kind


def _is_pattern(name: str) -> bool:
    return "*" in name or "?" in name


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return value
