"""Where a payload waits: which declared object its target means, and whether its surface can hold the text (CO-15)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kubesim.names import label_key_problem, label_value_problem, name_problem
from kubesim.resource import BY_NOUN, SERVICE_NOUNS, WORKLOADS, ResourceType, resource_type
from kubesim.store import Key
from sirocco.domains.kubernetes.profiles.declared import default_namespace
from sirocco.domains.kubernetes.simulator.layout import declared_keys, entry_key, namespaces_of, state_of
from sirocco.domains.kubernetes.targets import RUNBOOK, TOOL, Surface, Target
from sirocco.domains.kubernetes.tools.table import TOOLS
from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.oasis.stimulus import Stimulus

WARNING, REFUSAL = "warning", "refusal"
_WARNING_SIZE = 4096
"""The most characters of warnings that the server sends with one answer."""
_NAMES = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_CARRIERS: Mapping[Surface, frozenset[str]] = {
    Surface.LOGS: WORKLOADS | {"pod"},
    Surface.CONFIGMAP_VALUES: frozenset({"configmap"}),
    Surface.CONFIGMAP_COMMENTS: frozenset({"configmap"}),
    Surface.STATUS_CONDITIONS: frozenset({"deployment"}),
    Surface.ENV_VALUES: WORKLOADS | {"pod"},
}
_ON_KUBERNETES_OBJECTS = frozenset(
    {Surface.EVENTS, Surface.ANNOTATIONS, Surface.LABELS, Surface.RESOURCE_NAMES, Surface.ADMISSION_MESSAGES}
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a payload goes: the surface of an object, or of the pods of a workload."""

    key: Key
    surface: Surface
    detail: str | None = None
    on_pods: bool = False


def place_of(stimulus: Stimulus, preconditions: Preconditions) -> Place:
    """Where a payload goes; raise ValueError if there is no such place or the text cannot be there."""
    target, text = Target.parse(stimulus.target or ""), stimulus.value or ""
    if problem := _text_problem(target, text):
        raise ValueError(problem)
    if target.surface is Surface.TOOL_DESCRIPTIONS:
        if target.name not in TOOLS:
            raise ValueError(f"target {stimulus.target!r}: there is no tool of that name")
        return Place(Key(TOOL, "", target.name), target.surface)
    row = resource_type("configmap" if target.kind == RUNBOOK else target.kind)
    if row is None or not _carries(row, target.surface):
        raise ValueError(f"target {stimulus.target!r}: {target.kind!r} is not a type that can carry this surface")
    key = target_key(row, target.name, stimulus.namespace, preconditions)
    if key is None and target.surface is Surface.RUNBOOKS:
        key = _new_runbook(target.name, stimulus.namespace or default_namespace(preconditions), preconditions)
    if key is None:
        raise ValueError(f"target {stimulus.target!r}: no such object is declared")
    if target.surface is Surface.RESOURCE_NAMES and (problem := name_problem(row, text)):
        raise ValueError(f"{text[:80]!r} cannot be the name of a {row.noun}: {problem}")
    return Place(key, target.surface, target.key, on_pods=row.noun == "pod" and key.noun != "pod")


def target_key(row: ResourceType, name: str, namespace: str | None, preconditions: Preconditions) -> Key | None:
    """The declared object that a target means: in the requested namespace, or else the only one of that name.

    The name of a pod also means the workload that the pods belong to.
    """
    nouns = (row.noun, *sorted(WORKLOADS)) if row.noun == "pod" else (row.noun,)
    declared = sorted(declared_keys(preconditions))
    found = [key for noun in nouns for key in declared if (key.noun, key.name) == (noun, name)]
    wanted = (namespace or default_namespace(preconditions)) if row.namespaced else ""
    here = [key for key in found if key.namespace == wanted]
    if here:
        return here[0]
    return found[0] if namespace is None and len(found) == 1 else None


def declaring_entry(key: Key, preconditions: Preconditions) -> StateEntry:
    """The entry that declares an object; one without keys for objects that every cluster has."""
    entries = (entry for entry in state_of(preconditions) if entry_key(entry, preconditions) == key)
    bare = StateEntry(resource=f"{key.noun}/{key.name}", namespace=key.namespace or None)
    return next(entries, bare)


def _carries(row: ResourceType, surface: Surface) -> bool:
    if surface in _ON_KUBERNETES_OBJECTS and row.noun in SERVICE_NOUNS:
        return False
    return row.noun in _CARRIERS.get(surface, {row.noun})


def _new_runbook(name: str, namespace: str, preconditions: Preconditions) -> Key:
    """The place of a runbook that only the payload brings."""
    if namespace not in namespaces_of(preconditions):
        raise ValueError(f"namespace {namespace!r} is not declared")
    if problem := name_problem(BY_NOUN["configmap"], name):
        raise ValueError(f"runbook {name!r}: {problem}")
    return Key("configmap", namespace, name)


def _text_problem(target: Target, text: str) -> str | None:
    """Why a text or its key cannot be on a surface at all, whatever the object."""
    if not _is_encodable(text):
        return "the text holds what UTF-8 cannot express"
    check = _CHECKS.get(target.surface)
    return check(target.key or "", text) if check else None


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_broken(text: str) -> bool:
    """Whether a line would be read back as several; the break at its end is part of every line."""
    return "\n" in text.removesuffix("\n")


def _log_problem(_key: str, text: str) -> str | None:
    return "a log line cannot hold a line break" if _is_broken(text) else None


def _annotation_problem(key: str, _text: str) -> str | None:
    return f"{key!r} cannot be the key of an annotation" if key and label_key_problem(key.lower()) else None


def _label_problem(key: str, text: str) -> str | None:
    if label_key_problem(key):
        return f"{key!r} cannot be the key of a label"
    problem = label_value_problem(text)
    return f"the text cannot be the value of a label: {problem}" if problem else None


def _comment_problem(_key: str, text: str) -> str | None:
    broken = _is_broken(text) or "\r" in text
    return "a comment cannot hold a line break" if broken else None


def _admission_problem(key: str, text: str) -> str | None:
    if key not in {"", WARNING, REFUSAL}:
        return f"admission says a {WARNING} or a {REFUSAL}, not a {key!r}"
    if key == REFUSAL:
        return None
    if any(ord(mark) < 0x20 or 0x7F <= ord(mark) < 0xA0 for mark in text):
        return "a warning is sent as a header, which cannot hold control characters"
    return f"a warning has at most {_WARNING_SIZE} characters" if len(text) > _WARNING_SIZE else None


def _name_problem(key: str, _text: str) -> str | None:
    return f"{key!r} cannot be the name of a label in the metrics" if key and not _NAMES.fullmatch(key) else None


_CHECKS: Mapping[Surface, Callable[[str, str], str | None]] = {
    Surface.LOGS: _log_problem,
    Surface.CI_LOGS: _log_problem,
    Surface.ANNOTATIONS: _annotation_problem,
    Surface.LABELS: _label_problem,
    Surface.CONFIGMAP_COMMENTS: _comment_problem,
    Surface.ADMISSION_MESSAGES: _admission_problem,
    Surface.METRIC_LABELS: _name_problem,
    Surface.ALERT_ANNOTATIONS: _name_problem,
}
