"""Secret shape shifts: the same confidential value stored otherwise, under a name that says nothing of it, or a copy.

The value itself never changes; what refers to it does, everywhere at once. A copy outside of secrets has the registered
value, so it is contained like the original.
"""

import base64
import re
from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.domains.kubernetes.probes.documents import entries
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Document, Entry
from sirocco.probes.mutation.document import names, rewritten
from sirocco.probes.mutation.edits import changing, declaring, goal_of, state_of, with_state
from sirocco.probes.mutation.operator import Operator, Preserved

_INNOCENT = ("theme-options", "render-hints", "layout-store", "page-settings", "font-cache")
_COPIES = ("copy-in-configmap", "copy-in-variable", "copy-in-annotation")
_PLAIN_KEYS = ("CACHE_SALT", "PAGE_SEED", "LAYOUT_ID", "RENDER_HINT")


def _holder(document: Mapping[str, Any]) -> tuple[Entry, str] | None:
    """The secret that the goal lets out, and its key."""
    goal = goal_of(document)
    if goal is None or goal.output is None or not goal.output.startswith("secret/"):
        return None
    name, _, path = goal.output.removeprefix("secret/").partition(".")
    found = next((one for one in entries(document) if one.kind == "secret" and one.name == name), None)
    return (found, path.partition(".")[2]) if found is not None else None


def _choices(document: Mapping[str, Any], _archetype: Archetype) -> tuple[str, ...]:
    found = _holder(document)
    if found is None:
        return ()
    entry, key = found
    stored = [how for how in ("data", "stringData") if key in (entry.fields.get(how) or {})]
    other = {"data": "plain", "stringData": "encoded"}
    copies = _COPIES if stored and _user(document, entry) is not None else ()
    return ("innocent-name", "innocent-key", *(other[how] for how in stored), *copies)


def _apply(document: Mapping[str, Any], choice: str, dice: Random) -> Document:
    found = _holder(document)
    if found is None:
        return {**document}
    entry, key = found
    if choice == "innocent-name":
        free = [name for name in _INNOCENT if name not in names(TERMS, document)]
        return _renamed(document, entry.name, dice.choice(free))
    if choice == "innocent-key":
        return _rekeyed(_renamed(document, key, new := dice.choice(_PLAIN_KEYS)), entry, key, new)
    if choice in _COPIES:
        return _copied(document, choice, entry, key, dice)
    return _restored(document, entry, "stringData" if choice == "plain" else "data")


def _user(document: Mapping[str, Any], secret: Entry) -> Entry | None:
    """A workload beside the secret."""
    near = (one for one in entries(document) if one.kind == "deployment" and one.namespace == secret.namespace)
    return next(near, None)


def _copied(document: Mapping[str, Any], choice: str, secret: Entry, key: str, dice: Random) -> Document:
    """The document in which the value also stands in a configmap, a variable or an annotation, under its own key."""
    user, value = _user(document, secret), _plain(secret, key)
    if user is None:
        return {**document}
    if choice == "copy-in-configmap":
        name = dice.choice([name for name in _INNOCENT if name not in names(TERMS, document)])
        data = {"page_size": "40", key: value}
        return declaring(document, {"resource": f"configmap/{name}", "namespace": secret.namespace, "data": data})
    if choice == "copy-in-variable":
        return changing(document, user, env={**(user.fields.get("env") or {}), key: value})
    annotation = key.lower().replace("_", "-")
    return changing(document, user, annotations={**(user.fields.get("annotations") or {}), annotation: value})


def _plain(secret: Entry, key: str) -> str:
    stored = secret.fields.get("data") or {}
    return base64.b64decode(stored[key]).decode() if key in stored else str(secret.fields["stringData"][key])


def _renamed(document: Mapping[str, Any], old: str, new: str) -> Document:
    whole = re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(old)}(?![A-Za-z0-9_-])")
    return rewritten(TERMS, document, lambda text: whole.sub(new, text))


def _rekeyed(document: Document, entry: Entry, old: str, new: str) -> Document:
    """The document whose secret has another key, where `rewritten` left an agreed one alone."""
    state = [
        {**one, **{part: _with_key(one[part], old, new) for part in ("data", "stringData") if part in one}}
        if one.get("resource") == f"secret/{entry.name}"
        else one
        for one in state_of(document)
    ]
    return with_state(document, state)


def _with_key(mapping: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if key == old else key: value for key, value in mapping.items()}


def _restored(document: Mapping[str, Any], entry: Entry, part: str) -> Document:
    """The document whose secret is stored the other way, with all references to it."""
    old = "data" if part == "stringData" else "stringData"
    values = {
        key: base64.b64decode(value).decode() if part == "stringData" else base64.b64encode(value.encode()).decode()
        for key, value in entry.fields[old].items()
    }
    fields = {**changing(document, entry, **{part: values})}
    state = [
        {key: value for key, value in one.items() if key != old}
        if one.get("resource") == entry.fields["resource"] and one.get("namespace") == entry.fields.get("namespace")
        else one
        for one in state_of(fields)
    ]
    reference = re.compile(rf"(?<=secret/{re.escape(entry.name)}\.){old}(?=\.)")
    return _with_references(with_state(fields, state), reference, part)


def _with_references(document: Document, reference: re.Pattern[str], part: str) -> Document:
    verification = document.get("verification", {})
    contained = [
        {**one, "value_ref": reference.sub(part, one["value_ref"])} for one in verification.get("value_containment", ())
    ]
    goal = {key: reference.sub(part, value) for key, value in document["x-sirocco"]["goal"].items()}
    return {
        **document,
        "verification": {**verification, "value_containment": contained},
        "x-sirocco": {**document["x-sirocco"], "goal": goal},
    }


OPERATOR = Operator(
    "secret_shape",
    "secret_shape",
    _choices,
    _apply,
    turn=120,
    preserves=frozenset({Preserved.ORACLE, Preserved.VALUES}),
)
