"""The scenario document as operators see it: every place where it names or says something, and what it names there.

Keys and values of the vocabulary (kinds, verbs, statuses, ids of archetypes and behaviours) are no such place; which
those are, the domain's terms know.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from sirocco.oasis.mutation import Document, Entry, Naming, Rewrite, Terms
from sirocco.oasis.operation import ALL, ANY, Operation
from sirocco.oasis.predicate import OPERATION_KEYS

_LEAST_LITERAL = 4
Deed = TypeVar("Deed", bound=Operation)


def entries(naming: Naming, document: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The declared objects, in order."""
    home = home_namespace(document)
    declared = (
        (state, *_split(state["resource"])) for state in document["preconditions"]["environment"].get("state", ())
    )
    return tuple(Entry(naming.noun(kind), name, state.get("namespace", home), state) for state, kind, name in declared)


def home_namespace(document: Mapping[str, Any]) -> str:
    """Where an entry lives that names no namespace."""
    namespaces = document["preconditions"]["agent"]["scope"].get("namespaces", ())
    return namespaces[0] if namespaces else "default"


def rewritten(terms: Terms, document: Mapping[str, Any], rewrite: Rewrite) -> Document:
    """The document with `rewrite` applied to every name and text in it; structure is taken apart, not guessed at."""
    return _Rewriting(terms, rewrite).document(document)


def texts(terms: Terms, document: Mapping[str, Any]) -> tuple[str, ...]:
    """Every name and text that `rewritten` would visit."""
    found: list[str] = []

    def record(text: str) -> str:
        found.append(text)
        return text

    rewritten(terms, document, record)
    return tuple(found)


def operations(parsed: Callable[[str], Deed | None], document: Mapping[str, Any]) -> tuple[Deed, ...]:
    """Every operation of the assertions, the verification, the goal and the task."""
    assertions, verification = document.get("assertions", {}), document.get("verification", {})
    extension = document.get("x-sirocco", {})
    written = [
        *(item.get("action") for key in ("must", "must_not") for item in assertions.get(key, ())),
        *(rule.get(key) for rule in verification.get("api_audit", ()) for key in OPERATION_KEYS),
        extension.get("goal", {}).get("operation"),
        *extension.get("task", ()),
        *(reading.get(key) for reading in _readings(extension) for key in OPERATION_KEYS),
    ]
    read = (parsed(text) for text in written if text)
    return tuple(operation for operation in read if operation is not None)


def names(terms: Terms, document: Mapping[str, Any]) -> tuple[str, ...]:
    """Every object, namespace and zone that the document names, without patterns, each once, in order of appearance."""
    found = [*_environment_names(terms.naming, document), *_expected_names(terms, document)]
    found += [name for text in texts(terms, document) for name in terms.naming.references(text)]
    return tuple(dict.fromkeys(name for name in found if name and name not in {ANY, ALL} and not _is_pattern(name)))


def places(terms: Terms, document: Mapping[str, Any]) -> frozenset[str]:
    """The names that are namespaces or zones."""
    scope = document["preconditions"]["agent"]["scope"]
    declared = entries(terms.naming, document)
    return frozenset(
        {
            *scope.get("namespaces", ()),
            *scope.get("zones", ()),
            *(entry.namespace for entry in declared),
            *(entry.fields["zone"] for entry in declared if "zone" in entry.fields),
            *(entry.name for entry in declared if terms.naming.is_name_of_place(entry)),
            *(operation.target_namespace or "" for operation in operations(terms.parsed, document)),
        }
    )


def subjects(terms: Terms, document: Mapping[str, Any]) -> frozenset[str]:
    """The names of what runs, and of the services before it: what people talk of."""
    naming = terms.naming
    worked_on = operations(terms.parsed, document)
    return frozenset(
        {
            *(name for entry in entries(naming, document) for name in naming.subjects(entry)),
            *(operation.name for operation in worked_on if naming.is_subject(operation.resource)),
        }
    )


def patterns(terms: Terms, document: Mapping[str, Any]) -> tuple[str, ...]:
    """Every name with a wildcard in it, each once."""
    found = [name for operation in operations(terms.parsed, document) for name in (operation.name, operation.namespace)]
    found += [
        part for item in _state_assertions(document) for part in (_split(item["resource"])[1], item.get("namespace"))
    ]
    return tuple(dict.fromkeys(name for name in found if name and name != ANY and _is_pattern(name)))


def secret_values(naming: Naming, document: Mapping[str, Any]) -> tuple[str, ...]:
    """The values of all secrets, as stored and in plain, longest first; no operator may change one."""
    found = {value for entry in entries(naming, document) for value in naming.secrets_in(entry)}
    return tuple(
        sorted((value for value in found if len(value) >= _LEAST_LITERAL), key=lambda value: (-len(value), value))
    )


def _environment_names(naming: Naming, document: Mapping[str, Any]) -> Iterator[str]:
    for entry in entries(naming, document):
        yield from naming.names_in(entry)
    scope = document["preconditions"]["agent"]["scope"]
    yield from scope.get("namespaces", ())
    yield from scope.get("zones", ())
    for stimulus in document["stimuli"]:
        yield stimulus.get("namespace", "")
        target = naming.target(stimulus.get("target", ""))
        yield target.name if target else ""


def _expected_names(terms: Terms, document: Mapping[str, Any]) -> Iterator[str]:
    for operation in operations(terms.parsed, document):
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


class _Rewriting:
    """One rewriting of names and texts, wherever a document holds them."""

    def __init__(self, terms: Terms, rewrite: Rewrite) -> None:
        self._naming = terms.naming
        self._parsed = terms.parsed
        self._rewrite = rewrite

    def document(self, document: Mapping[str, Any]) -> Document:
        """The document with all of its parts rewritten."""
        result = {**document}
        for key in ("name", "intent", "description"):
            if key in result:
                result[key] = self._rewrite(result[key])
        result["preconditions"] = self._preconditions(document["preconditions"])
        result["stimuli"] = [self._stimulus(stimulus) for stimulus in document["stimuli"]]
        if "assertions" in result:
            result["assertions"] = self._assertions(document["assertions"])
        if "verification" in result:
            result["verification"] = self._verification(document["verification"])
        if "x-sirocco" in result:
            result["x-sirocco"] = self._extension(document["x-sirocco"])
        return result

    def _preconditions(self, preconditions: Mapping[str, Any]) -> Document:
        environment, agent = {**preconditions["environment"]}, {**preconditions["agent"]}
        environment["state"] = [self._state(entry) for entry in environment.get("state", ())]
        agent["scope"] = {key: self._value(value) for key, value in agent["scope"].items()}
        return {**preconditions, "environment": environment, "agent": agent}

    def _state(self, entry: Mapping[str, Any]) -> Document:
        kind, _ = _split(entry.get("resource", ""))
        result: Document = {}
        for key, value in entry.items():
            if key == "resource":
                result[key] = self._resource(value)
            elif self._naming.holds_secrets(kind, key):
                result[key] = {self._key(key, name): secret for name, secret in value.items()}
            elif self._naming.has_fixed_value(key):
                result[key] = value
            else:
                has_chosen_keys = self._naming.has_chosen_keys(key)
                result[key] = self._mapped(value, within=key) if has_chosen_keys else self._value(value)
        return result

    def _stimulus(self, stimulus: Mapping[str, Any]) -> Document:
        result = {**stimulus}
        for key in ("value", "description", "namespace", "timing"):
            if key in result:
                result[key] = self._rewrite(result[key])
        if "target" in result:
            result["target"] = self._naming.rewritten_target(result["target"], self._rewrite)
        return result

    def _assertions(self, assertions: Mapping[str, Any]) -> Document:
        result = {**assertions}
        for key in ("must", "must_not"):
            if key in result:
                result[key] = [self._assertion(item) for item in result[key]]
        if "conditional" in result:
            result["conditional"] = [self._assertions(block) for block in result["conditional"]]
        return result

    def _assertion(self, item: Mapping[str, Any]) -> Document:
        result = {**item}
        if "action" in result:
            result["action"] = self._operation(result["action"])
        if "tool_hint" in result:
            result["tool_hint"] = self._rewrite(result["tool_hint"])
        return result

    def _verification(self, verification: Mapping[str, Any]) -> Document:
        result = {**verification}
        for key, value in verification.items():
            if key == "state_assertions":
                result[key] = [self._state(item) for item in value]
            elif key == "api_audit":
                result[key] = [self._audit_rule(rule) for rule in value]
            elif key == "value_containment":
                result[key] = [self._contained(item) for item in value]
            else:
                result[key] = self._value(value)
        return result

    def _contained(self, item: Mapping[str, Any]) -> Document:
        """An entry of value containment; its boundary is a name unless it is one of the vocabulary's."""
        result = {**item, "value_ref": self._rewrite(item["value_ref"])}
        if item.get("scope", "absolute") not in {"absolute", "namespaces", "zones"}:
            result["scope"] = self._rewrite(item["scope"])
        return result

    def _audit_rule(self, rule: Mapping[str, Any]) -> Document:
        return {
            key: self._rewrite(value) if key == "description" else self._operation_or_other(value)
            for key, value in rule.items()
        }

    def _extension(self, extension: Mapping[str, Any]) -> Document:
        result = {**extension}
        goal = extension.get("goal", {})
        if "operation" in goal:
            result["goal"] = {"operation": self._operation(goal["operation"])}
        if "output" in goal:
            result["goal"] = {"output": self._rewrite(goal["output"])}
        if "task" in result:
            result["task"] = [self._operation(text) for text in result["task"]]
        if "predicates" in result:
            result["predicates"] = {
                check: [self._reading(reading) for reading in readings]
                for check, readings in result["predicates"].items()
            }
        if "slots" in result:
            result["slots"] = {name: self._slot(value) for name, value in result["slots"].items()}
        if "reactions" in result:
            result["reactions"] = self._value(result["reactions"])
        return result

    def _slot(self, value: Any) -> Any:
        """The value of a slot; one that is a mapping has the names of things as keys."""
        if not isinstance(value, Mapping):
            return self._value(value)
        return {self._rewrite(name): self._value(words) for name, words in value.items()}

    def _reading(self, reading: Mapping[str, Any]) -> Document:
        """A predicate document: whatever its kind, a text in it that is no behaviour's id is an operation."""
        if "behavior" in reading:
            return {**reading}
        if "any_of" in reading:
            return {"any_of": [[self._reading(part) for part in branch] for branch in reading["any_of"]]}
        return {
            key: self._state(value) if key == "state" else self._operation_or_other(value)
            for key, value in reading.items()
        }

    def _operation_or_other(self, value: Any) -> Any:
        """An operation with its names rewritten; counts and lists of the vocabulary's words are none."""
        return self._operation(value) if isinstance(value, str) else value

    def _value(self, value: Any) -> Any:
        """A value of free structure: texts and chosen keys are rewritten, keys and values of the vocabulary are not."""
        if isinstance(value, str):
            return self._rewrite(value)
        if isinstance(value, Mapping):
            return self._mapped(value)
        if isinstance(value, Iterable):
            return [self._value(item) for item in value]
        return value

    def _mapped(self, value: Any, within: str = "") -> Any:
        """A mapping with its texts rewritten, and its keys where it stands under a key whose keys were chosen."""
        if not isinstance(value, Mapping):
            return self._value(value)
        result = {}
        for key, item in value.items():
            name = self._key(within, key) if within else key
            if not within and self._naming.has_fixed_value(key) and isinstance(item, str):
                result[name] = item
            else:
                has_chosen_keys = not within and self._naming.has_chosen_keys(key)
                result[name] = self._mapped(item, within=key if has_chosen_keys else "")
        return result

    def _key(self, within: str, key: str) -> str:
        return self._naming.rewritten_key(within, key, self._rewrite)

    def _operation(self, text: str) -> str:
        operation = self._parsed(text)
        if operation is None:
            return self._rewrite(text)
        return str(self._naming.rewritten_operation(operation, self._rewrite))

    def _resource(self, text: str) -> str:
        kind, name = _split(text)
        return f"{kind}/{name if name == ANY else self._rewrite(name)}" if name else kind


def _split(resource: str) -> tuple[str, str]:
    kind, _, name = resource.partition("/")
    return kind, name


def _is_pattern(name: str) -> bool:
    return "*" in name or "?" in name
