"""What a scenario's preconditions declare: the objects, where they are, and the values in them."""

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kubesim.resource import BY_NOUN, SERVICE_NOUNS, WORKLOADS, resource_type
from sirocco.domains.kubernetes.operation import Operation
from sirocco.domains.kubernetes.remembering import remember_results
from sirocco.domains.kubernetes.targets import RUNBOOK
from sirocco.errors import DocumentPath, Problem
from sirocco.oasis.declarations import RegisteredValue, UnresolvedValue
from sirocco.oasis.predicate import StateHolds
from sirocco.oasis.scenario import Preconditions, Scenario, StateEntry

LOGS, EVENTS = "logs", "events"
"""State entries that are not objects of the API; a runbook is one under another name."""
_PLACES = frozenset({"namespace", EVENTS})
_PERMISSIONS = BY_NOUN["role"].group
_TEXT_MAPPINGS = ("data", "stringData", "labels", "annotations")
_MADE_FROM: Mapping[str, Collection[str]] = {"pod": WORKLOADS, "endpoints": {"service"}}
_VALUE_REF = re.compile(r"(?P<kind>[a-z]+)/(?P<name>.+?)\.(?P<part>data|stringData|env)\.(?P<key>.+)")
_FORMS = "secret/NAME.data.KEY, configmap/NAME.data.KEY, pod/NAME.env.VARIABLE or deployment/NAME.env.VARIABLE"


@dataclass(frozen=True, slots=True)
class DeclaredObject:
    """An object of the preconditions; without a namespace if its type is cluster-wide."""

    noun: str
    name: str
    namespace: str | None
    fields: Mapping[str, Any]

    def holds(self, condition: str | None = None) -> StateHolds:
        """A condition on this object."""
        return StateHolds(self.noun, self.name, self.namespace, condition)


def noun_of(kind: str) -> str | None:
    """The noun of the operation vocabulary for a state entry's kind."""
    if kind == RUNBOOK:
        return "configmap"
    row = resource_type(kind)
    return row.noun if row else None


def namespace_of(scenario: Scenario, entry: StateEntry) -> str | None:
    """The namespace of an entry; None for a cluster-wide one."""
    row = BY_NOUN.get(noun_of(entry.kind) or "")
    if row is not None and not row.namespaced:
        return None
    return entry_namespace(entry, scenario.preconditions)


def scope_of(preconditions: Preconditions) -> tuple[str, ...]:
    """The namespaces that the agent may touch: those of its scope that lie in no other zone than its own.

    A scope of zones alone means every namespace that is declared to be in one of them.
    """
    scope, zones = preconditions.agent.scope, zones_of(preconditions)
    if scope.namespaces:
        return tuple(
            name for name in scope.namespaces if not scope.zones or zones.get(name, scope.zones[0]) in scope.zones
        )
    return tuple(name for name, zone in zones.items() if zone in scope.zones) or ("default",)


@remember_results
def zones_of(preconditions: Preconditions) -> dict[str, str]:
    """The zone of every namespace that is declared to be in one, directly or through something in it."""
    state = [entry for entry in preconditions.environment.state if "zone" in entry.fields]
    first = next(iter(preconditions.agent.scope.namespaces), None)
    inside = {
        place: str(entry.fields["zone"])
        for entry in state
        if (place := entry.namespace or first) and noun_of(entry.kind) not in {"namespace", "node"}
    }
    return inside | {entry.name: str(entry.fields["zone"]) for entry in state if noun_of(entry.kind) == "namespace"}


def default_namespace(preconditions: Preconditions) -> str:
    """The namespace of entries that name none: the first of the agent's scope."""
    return (preconditions.agent.scope.namespaces or scope_of(preconditions))[0]


def entry_namespace(entry: StateEntry, preconditions: Preconditions) -> str:
    """The namespace of an entry, real or (for a cluster-wide type) assumed; events are named by theirs."""
    if entry.kind == EVENTS:
        return entry.namespace or entry.name
    return entry.namespace or default_namespace(preconditions)


def declared_objects(scenario: Scenario) -> tuple[DeclaredObject, ...]:
    """The objects of the API that the preconditions declare by name; a service's records often share their names."""
    return tuple(
        DeclaredObject(noun, entry.name, namespace_of(scenario, entry), entry.fields)
        for entry in scenario.preconditions.environment.state
        if entry.kind not in {LOGS, EVENTS}
        and entry.name
        and (noun := noun_of(entry.kind)) is not None
        and noun not in SERVICE_NOUNS
    )


def declared_place(scenario: Scenario, noun: str, name: str) -> str | None:
    """The namespace where an object is declared, or the first of the scope if it is declared nowhere or in several."""
    places = {item.namespace for item in declared_objects(scenario) if (item.noun, item.name) == (noun, name)}
    return places.pop() if len(places) == 1 else scenario.default_namespace


def is_declared(scenario: Scenario, noun: str, name: str, namespace: str | None) -> bool:
    """Whether the preconditions declare an object, or one from which a controller makes an object of its name.

    A pod is thus declared by a workload, and also by the log of its name; endpoints by a service.
    """
    if noun == "namespace":
        return name in declared_namespaces(scenario)
    nouns = {noun, *_MADE_FROM.get(noun, ())}
    for entry in scenario.preconditions.environment.state:
        is_of_kind = noun_of(entry.kind) in nouns or (noun == "pod" and entry.kind == LOGS)
        if is_of_kind and entry.name == name and namespace_of(scenario, entry) == namespace:
            return True
    return False


def declared_namespaces(scenario: Scenario) -> frozenset[str]:
    """Every namespace that the preconditions declare or put something into."""
    state = scenario.preconditions.environment.state
    named = {entry.name for entry in state if noun_of(entry.kind) == "namespace" or entry.kind == EVENTS}
    used = {namespace for entry in state if (namespace := namespace_of(scenario, entry)) is not None}
    return frozenset(named | used)


def boundaries_of(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """The namespaces inside each boundary of the agent's scope, by the name that a containment uses for it (CO-06).

    That is the name of a namespace or zone of the scope, or `namespaces` or `zones` for all of them together.
    """
    scope = scenario.preconditions.agent.scope
    of_zone = zones_of(scenario.preconditions)
    zones = {zone: tuple(name for name, place in of_zone.items() if place == zone) for zone in scope.zones}
    together = {"namespaces": scope.namespaces, "zones": tuple(name for names in zones.values() for name in names)}
    named = {**zones, **{namespace: (namespace,) for namespace in scope.namespaces}}
    return {name: inside for name, inside in {**together, **named}.items() if inside}


def is_permitted(scenario: Scenario, operation: Operation, *, read_only: bool) -> bool:
    """Whether the agent may do it: reads and, outside read-only mode, writes in the scope, but not of permissions."""
    row = BY_NOUN.get(operation.resource)
    if row is None:
        return False
    if not row.namespaced:
        return operation.is_read and row.noun in {"namespace", "node"}
    if not operation.is_read and (read_only or row.group == _PERMISSIONS):
        return False
    return operation.namespace in scenario.preconditions.agent.scope.namespaces


def declared_names(scenario: Scenario) -> Iterator[str]:
    """The names of objects, of keys and of containers; a namespace only says where something is."""
    for entry in scenario.preconditions.environment.state:
        if entry.kind not in _PLACES and entry.name:
            yield entry.name
        for key in ("data", "stringData"):
            if isinstance(held := entry.fields.get(key), Mapping):
                yield from map(str, held)
        for key in ("containers", "init_containers"):
            for container in held if isinstance(held := entry.fields.get(key), list | tuple) else ():
                if isinstance(container, Mapping) and isinstance(name := container.get("name"), str):
                    yield name


def text_problems(entry: StateEntry, path: DocumentPath) -> Iterator[Problem]:
    """Values that the API takes only as text, and that an entry gives as something else."""
    for name in _TEXT_MAPPINGS:
        mapping = entry.fields.get(name, {})
        if not isinstance(mapping, Mapping):
            yield Problem("state-text", (*path, name), f"{name} is not a mapping", "write it as key: value")
            continue
        for key, value in mapping.items():
            if not isinstance(value, str):
                problem = f"{name}.{key} is not text, as the cluster requires"
                yield Problem("state-text", (*path, name, key), problem, "put it in quotes")


def registered_value(scenario: Scenario, value_ref: str) -> RegisteredValue:
    """The value behind a reference, also through secret and configmap references of the environment (CO-06)."""
    found = _VALUE_REF.fullmatch(value_ref)
    noun = noun_of(found["kind"]) if found else None
    if not found or (noun, found["part"]) not in _READABLE:
        raise UnresolvedValue(f"{value_ref!r} is not a value reference", f"use {_FORMS}")
    entry = _entry(scenario, str(noun), found["name"])
    namespace = namespace_of(scenario, entry) or ""
    if found["part"] == "env":
        return RegisteredValue(_from_environment(scenario, entry, found["key"], namespace), namespace)
    return RegisteredValue(_from_data(entry, found["key"]), namespace)


_READABLE = {
    ("secret", "data"), ("secret", "stringData"), ("configmap", "data"),
    *((noun, "env") for noun in ("pod", *WORKLOADS)),
}  # fmt: skip


def _entry(scenario: Scenario, noun: str, name: str, namespace: str | None = None) -> StateEntry:
    matching = [
        entry
        for entry in scenario.preconditions.environment.state
        if noun_of(entry.kind) == noun
        and entry.name == name
        and (namespace is None or namespace_of(scenario, entry) == namespace)
    ]
    if not matching:
        raise UnresolvedValue(f"the preconditions declare no {noun}/{name}", "declare it, or correct the reference")
    if len(matching) > 1:
        raise UnresolvedValue(f"{noun}/{name} is declared in several namespaces", "give the objects different names")
    return matching[0]


def _from_data(entry: StateEntry, key: str) -> tuple[str, ...]:
    """The stored form, and for a secret the decoded one; `stringData` has precedence over `data`, as in Kubernetes."""
    fields = entry.fields
    plain = _member(fields.get("stringData"), key)
    stored = _member(fields.get("data"), key)
    if noun_of(entry.kind) != "secret":
        if stored is None:
            raise _no_key(entry, key)
        return _forms(stored, stored)
    if plain is not None:
        return _forms(base64.b64encode(plain.encode()).decode(), plain)
    if stored is None:
        raise _no_key(entry, key)
    try:
        decoded = base64.b64decode(stored, validate=True)
    except (binascii.Error, ValueError):
        problem = f"key {key!r} of {entry.resource} is not base64"
        raise UnresolvedValue(problem, "encode it, or move it to stringData") from None
    try:
        text = decoded.decode()
    except UnicodeDecodeError:
        return (stored,)
    return _forms(stored, text)


def _forms(stored: str, plain: str) -> tuple[str, ...]:
    # A closing line break is seldom repeated with a value, and whatever holds the value with it holds it without.
    told = plain.strip()
    is_printable = all(character.isprintable() or character in "\n\t\r" for character in told)
    return tuple(dict.fromkeys((stored, told))) if told and is_printable else (stored,)


def _from_environment(scenario: Scenario, entry: StateEntry, variable: str, namespace: str) -> tuple[str, ...]:
    environment = entry.fields.get("env")
    value = environment.get(variable) if isinstance(environment, Mapping) else None
    if isinstance(value, str):
        return _forms(value, value)
    source = value.get("valueFrom") if isinstance(value, Mapping) else None
    for form, noun in (("secretKeyRef", "secret"), ("configMapKeyRef", "configmap")):
        reference = source.get(form) if isinstance(source, Mapping) else None
        if isinstance(reference, Mapping) and {"name", "key"} <= reference.keys():
            return _from_data(_entry(scenario, noun, str(reference["name"]), namespace), str(reference["key"]))
    problem = f"{entry.resource} has no variable {variable!r} with a value"
    raise UnresolvedValue(problem, "give it a text, or valueFrom with a secretKeyRef or configMapKeyRef")


def _member(mapping: Any, key: str) -> str | None:
    value = mapping.get(key) if isinstance(mapping, Mapping) else None
    return value if isinstance(value, str) else None


def _no_key(entry: StateEntry, key: str) -> UnresolvedValue:
    return UnresolvedValue(f"{entry.resource} has no key {key!r} with a text", "add the key, or correct the reference")
