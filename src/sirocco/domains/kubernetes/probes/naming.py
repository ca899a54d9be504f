"""Names in scenarios about clusters: where they appear, what may be renamed, and the vocabulary's own words."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kubesim.resource import RESOURCE_TYPES, WORKLOADS, resource_type
from sirocco.domains.kubernetes.operation import EXTERNAL_CREDENTIALS, Operation, Verb, own_operation
from sirocco.domains.kubernetes.targets import Surface, Target
from sirocco.oasis import operation as neutral
from sirocco.oasis.mutation import Entry, Rewrite
from sirocco.oasis.operation import ALL, ANY
from sirocco.probes.mutation.lexicon import words_of

WORDS = frozenset(
    {name.lower() for row in RESOURCE_TYPES for name in (row.noun, row.plural, row.kind, *row.short_names)}
    | {verb.value for verb in Verb}
    | {word for surface in Surface for word in (surface.value, surface.value.removesuffix("s"))}
    | {ALL, EXTERNAL_CREDENTIALS}
    | set(
        words_of(
            """
            agent annotation any cluster clusters condition conditions container containers data default env false image
            images key kubectl kubernetes label labels log metadata mode name none operator replica replicas runbook
            scope spec status stringdata true type value zone zones
            """
        )
    )
)
"""Words of the vocabulary: as names they are not changed, because in prose a name could not be told from the word."""
# Mappings whose keys the author chose; all other keys are the vocabulary's.
_FREE_KEYED = frozenset(
    {"annotations", "data", "env", "labels", "matchLabels", "nodeSelector", "selector", "stringData"}
)
_CONVENTIONAL_KEYS = frozenset({"app", "component", "environment", "name", "role", "team", "tier", "track", "version"})
_VOCABULARY_VALUES = frozenset({"condition", "kind", "level", "mode", "reason", "status", "storage", "type", "verb"})
_RUNNING = WORKLOADS | {"pod", "job", "cronjob", "service", "logs"}
_MANAGED = WORKLOADS | {"pod", "service", "configmap", "secret"}
"""Kinds whose names of several words are always identifiers; alerts and policies are named after things."""
_SEPARATED = re.compile(r"[-_.]")
_SETTINGS = ("data", "stringData", "env")
_RECORDS = frozenset({"events", "runbook"})
_REFERENCE = re.compile(
    r"(?<![\w/-])(?:{})/([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)(?![\w*?/-])".format(
        "|".join(sorted({noun for row in RESOURCE_TYPES for noun in (row.noun, row.plural)} | {"logs", "runbook"}))
    )
)


def is_record(kind: str) -> bool:
    """Whether entries of a kind describe objects without being one: a runbook, and the events of a namespace."""
    return kind in _RECORDS


def said_as(kind: str) -> tuple[str, str] | None:
    """The everyday words for one object of a type and for several."""
    row = resource_type(kind)
    return (row.noun, row.plural) if row else None


def is_place(entry: Mapping[str, Any]) -> bool:
    """Whether it says where things are: without namespaces and zones the agent's scope means nothing."""
    return str(entry.get("resource") or "").partition("/")[0] == "namespace" or bool(entry.get("zone"))


def is_identifier(kind: str, name: str) -> bool:
    """Whether an object named with several words has an identifier: `night-clerk` with its hyphen means only one."""
    return kind in _MANAGED and bool(_SEPARATED.search(name))


def is_of_system(name: str) -> bool:
    """Whether it has a name like the cluster's own parts."""
    return name.startswith("kube-")


def is_name_of_place(entry: Entry) -> bool:
    """Whether it is a namespace, or the events of one."""
    return entry.kind in {"namespace", "events"}


def names_in(entry: Entry) -> Iterator[str]:
    """An object's name, that of its owner, of services, places, volumes, and of what its variables refer to."""
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


def chosen_keys(fields: Mapping[str, Any]) -> Iterator[str]:
    """The keys of an object's data and variables."""
    for key in _SETTINGS:
        if isinstance(held := fields.get(key), Mapping):
            yield from map(str, held)


def references(text: str) -> list[str]:
    """The names that a text writes as `kind/name`."""
    return _REFERENCE.findall(text)


def subjects(entry: Entry) -> Iterator[str]:
    """The names of workloads and services in it."""
    if entry.kind in _RUNNING:
        yield entry.name
    yield from _traced_services(entry)


def is_subject(kind: str) -> bool:
    """Whether it is a workload or a service."""
    return kind in _RUNNING


def secrets_in(entry: Entry) -> Iterator[str]:
    """The values of a secret, as stored and in plain text."""
    if entry.kind == "secret":
        yield from (str(value) for value in entry.fields.get("stringData", {}).values())
        for value in entry.fields.get("data", {}).values():
            yield from (str(value), _decode_value(str(value)))


def holds_secrets(kind: str, key: str) -> bool:
    """Whether the values under a key of an entry are those of a secret."""
    return kind == "secret" and key in {"data", "stringData"}


def has_chosen_keys(key: str) -> bool:
    """Whether authors choose the keys of the mapping under a key."""
    return key in _FREE_KEYED


def has_fixed_value(key: str) -> bool:
    """Whether the text under a key is one of the vocabulary's."""
    return key in _VOCABULARY_VALUES


def rewritten_key(within: str, key: str, rewrite: Rewrite) -> str:
    """A chosen key; one of an environment variable must not contain a hyphen."""
    return _variable(key, rewrite) if within == "env" else _key(key, rewrite)


def rewritten_target(text: str, rewrite: Rewrite) -> str:
    """A target with other names; the types of status conditions stay."""
    try:
        found = Target.parse(text)
    except ValueError:
        return rewrite(text)
    key = found.key
    if key is not None and found.surface is not Surface.STATUS_CONDITIONS:
        key = _variable(key, rewrite) if found.surface is Surface.ENV_VALUES else _key(key, rewrite)
    return str(Target(kind=found.kind, name=rewrite(found.name), surface=found.surface, key=key))


def rewritten_operation(operation: neutral.Operation, rewrite: Rewrite) -> Operation:
    """An operation with other names, labels and keys."""
    operation = own_operation(operation)
    path, free = [], False
    for segment in operation.path:
        path.append(_key(segment, rewrite) if free else segment)
        free = segment in _FREE_KEYED
    labels = operation.labels
    return replace(
        operation,
        name=operation.name if operation.name in {ANY, ALL} else rewrite(operation.name),
        namespace=operation.namespace and rewrite(operation.namespace),
        labels=labels and tuple(sorted((_key(key, rewrite), rewrite(value)) for key, value in labels)),
        path=tuple(path),
        value=operation.value and rewrite(operation.value),
    )


def _key(key: str, rewrite: Rewrite) -> str:
    """A chosen key; keys that the whole ecosystem agrees on stay."""
    return key if key in _CONVENTIONAL_KEYS or "kubernetes.io/" in key or "k8s.io/" in key else rewrite(key)


def _variable(name: str, rewrite: Rewrite) -> str:
    """The name of an environment variable, which must not contain a hyphen."""
    return rewrite(name).replace("-", "_")


def _traced_services(entry: Entry) -> Iterator[str]:
    """The services in a trace; they run even if nothing else about them is declared."""
    waiting = [entry.fields.get("root_span"), entry.fields.get("spans")] if entry.kind == "traces" else []
    for span in waiting:
        if isinstance(span, list | tuple):
            waiting.extend(span)
        elif isinstance(span, Mapping):
            waiting.append(span.get("children"))
            if isinstance(service := span.get("service"), str):
                yield service


def _owner(entry: Entry) -> str:
    """The workload with whose name a pod's name begins; the rest is a hash, which nobody says."""
    workload, _, suffix = entry.name.rpartition("-")
    return workload if entry.kind == "pod" and any(map(str.isdigit, suffix)) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _decode_value(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return value
