"""Composition: the legitimate work of one scenario and the adversarial situation of another in one environment.

The second scenario moves into the first one's namespace under new names, so that the agent's scope stays as it was.
What it checks by deeds comes along, each check with the archetype that it counts for; what it checks by words does
not, since an answer to two requests is worded otherwise. A scenario that checks nothing but words is held by the steps
of its task.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from sirocco.evaluation.behaviors.registry import BEHAVIORS
from sirocco.oasis.mutation import Document
from sirocco.oasis.operation import ALL, ANY, Operation
from sirocco.probes.mutation.document import entries, home_namespace, rewritten
from sirocco.probes.mutation.edits import (
    goal_operation,
    is_prompt,
    joined,
    prompts,
    scope_namespaces,
    state_of,
    task_operations,
    with_state,
)
from sirocco.probes.mutation.kit import Terms
from sirocco.probes.mutation.rename import rename

_LISTS = {"must": "assertions", "must_not": "assertions", "state_assertions": "verification"} | dict.fromkeys(
    ("api_audit", "negative_verification", "value_containment"), "verification"
)
_CONDITIONS = frozenset({"exists", "absent", "unchanged"})
_BY_DEEDS_ALONE = ("rerun", "bands")


@dataclass(frozen=True, slots=True)
class _Carried:
    """An entry that comes along: the list that it belongs to, the archetype that it counts for, and how it is read."""

    kind: str
    entry: Mapping[str, Any]
    archetype: str
    reading: Sequence[Mapping[str, Any]] = ()
    """Empty where the entry speaks for itself."""


def composed(terms: Terms, document: Mapping[str, Any], other: Mapping[str, Any], dice: Random) -> Document | None:
    """The document with the other scenario in it; None when the two cannot be in one environment."""
    if not fits(terms, document, other):
        return None
    guest = _moved(terms, rename(terms, other, dice), home_namespace(document))
    present, coming = entries(terms.naming, document), entries(terms.naming, guest)
    shared = {entry.name for entry in present} & {entry.name for entry in coming}
    if shared - {home_namespace(document)} or _slots(document).keys() & _slots(guest).keys():
        return None
    result = _with_surroundings(document, guest)
    result = _with_checks(terms, result, guest)
    return _with_words(result, guest)


def fits(terms: Terms, document: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the other is of one turn, and both are in one namespace each, for an agent in the same mode."""
    agent, guest = document["preconditions"]["agent"], other["preconditions"]["agent"]
    return (
        agent["mode"] == guest["mode"]
        and len(scope_namespaces(document)) == len(scope_namespaces(other)) == 1
        and len(prompts(other)) == 1
        and not other.get("assertions", {}).get("conditional")
        and not any(key in other.get("x-sirocco", {}) for key in _BY_DEEDS_ALONE)
        and not guest["scope"].get("approval_required_for")
        and _can_be_told_apart(terms, document, other)
        and not (_destroys(terms, document, other) or _destroys(terms, other, document))
        and any(carried := _carried(terms, other, document))
        # What counts for the host's own archetype would decide about the host's work by the guest's.
        and all(one.archetype != document["archetype"] for one in carried)
    )


def _can_be_told_apart(terms: Terms, document: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the work of the guest is nothing that the host forbids, and its events nothing that the host has not."""
    if document["classification"] != "safety":
        return True
    (here,), (there,) = scope_namespaces(document), scope_namespaces(other)
    patterns = [pattern for text in _forbidden(document) if text and (pattern := terms.parsed(text))]
    work = [
        terms.operations.with_namespace(one, here) if one.namespace == there else one
        for one in task_operations(terms.parsed, other)
    ]
    quiet = all(is_prompt(stimulus) for stimulus in other["stimuli"])
    return quiet and not any(_concerns(terms, pattern, one) for pattern in patterns for one in work)


def _destroys(terms: Terms, document: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether what one goes for would take the other's work with it: its prompt would ask to mend what it gives up."""
    goal = goal_operation(terms.parsed, document)
    if goal is None:
        return False
    kinds = {entry.kind for entry in entries(terms.naming, other)}
    return terms.operations.destroys(goal, scope_namespaces(document), kinds)


def _forbidden(document: Mapping[str, Any]) -> Iterator[str | None]:
    yield from (item.get("action") for item in document.get("assertions", {}).get("must_not", ()))
    yield from (rule.get("forbidden") for rule in document.get("verification", {}).get("api_audit", ()))


def _concerns(terms: Terms, pattern: Operation, work: Operation) -> bool:
    """Whether the pattern would hit the work under whatever name its object has then."""
    named = pattern.name not in {ANY, ALL} and not any(mark in pattern.name for mark in "*?")
    return not named and terms.vocabulary.covers(pattern, work)


def _moved(terms: Terms, guest: Mapping[str, Any], home: str) -> Document:
    """The guest in the host's namespace."""
    (own,) = scope_namespaces(guest)
    whole = re.compile(rf"(?<![A-Za-z0-9-]){re.escape(own)}(?![A-Za-z0-9-])")
    moved = rewritten(terms, guest, lambda text: whole.sub(home, text))
    state = [terms.surroundings.entry_in_host(entry, home) for entry in state_of(moved)]
    return with_state(moved, [entry for entry in state if entry is not None])


def _slots(document: Mapping[str, Any]) -> Mapping[str, Any]:
    slots = document.get("x-sirocco", {}).get("slots", {})
    return slots if isinstance(slots, Mapping) else {}


def _with_surroundings(document: Mapping[str, Any], guest: Mapping[str, Any]) -> Document:
    """State, tools, stimuli in the environment, task, slots and reactions of both."""
    agent, other = document["preconditions"]["agent"], guest["preconditions"]["agent"]
    tools = list(dict.fromkeys([*agent["tools"], *other["tools"]]))
    result = with_state(document, [*state_of(document), *state_of(guest)])
    result["preconditions"] = {**result["preconditions"], "agent": {**agent, "tools": tools}}
    waiting = [stimulus for stimulus in guest["stimuli"] if not is_prompt(stimulus)]
    result["stimuli"] = [*waiting, *document["stimuli"]]
    own, theirs = document.get("x-sirocco", {}), guest.get("x-sirocco", {})
    extension: Document = {**own, "task": [*theirs.get("task", ()), *own.get("task", ())]}
    if "goal" not in own and "goal" in theirs:
        extension["goal"] = theirs["goal"]
    if _slots(guest):
        extension["slots"] = {**_slots(document), **_slots(guest)}
    if theirs.get("reactions"):
        extension["reactions"] = [*own.get("reactions", ()), *theirs["reactions"]]
    result["x-sirocco"] = extension
    return result


def _with_checks(terms: Terms, document: Document, guest: Mapping[str, Any]) -> Document:
    """The guest's checks by deeds behind the host's own, each counted for what it counts for in the guest (AV-18)."""
    result: Document = {**document}
    extension = {**document["x-sirocco"]}
    checks, predicates = {**extension.get("checks", {})}, {**extension.get("predicates", {})}
    for one in _carried(terms, guest, document):
        part = {**result.get(_LISTS[one.kind], {})}
        present = list(part.get(one.kind, ()))
        check = f"{one.kind}.{len(present)}"
        checks[check] = one.archetype
        if one.reading:
            predicates[check] = one.reading
        result[_LISTS[one.kind]] = {**part, one.kind: [*present, one.entry]}
    extension |= {"checks": checks} | ({"predicates": predicates} if predicates else {})
    result["x-sirocco"] = extension
    return result


def _carried(terms: Terms, guest: Mapping[str, Any], document: Mapping[str, Any]) -> list[_Carried]:
    """What is checked for the guest: its entries that deeds decide, or else that each step of its task is done."""
    is_work = guest["classification"] == "capability"
    return list(_kept(terms, guest, document)) or [
        _demand(terms, step, guest["archetype"]) for step in task_operations(terms.parsed, guest) if is_work
    ]


def _demand(terms: Terms, step: Operation, archetype: str) -> _Carried:
    """That a step is taken, in one of the ways in which it can be."""
    proofs = terms.operations.proofs(step)
    if len(proofs) == 1:
        return _Carried("must", {"action": str(step)}, archetype)
    ways = [[{"required": str(one)}] for one in proofs]
    return _Carried("must", {"action": f"look at the {step.resource} {step.name}"}, archetype, [{"any_of": ways}])


def _kept(terms: Terms, guest: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[_Carried]:
    """The entries of the guest that deeds decide.

    A host that checks no state gets no check of state: it has nothing that destruction would fail.
    """
    extension = guest.get("x-sirocco", {})
    readings, attributed = extension.get("predicates", {}), extension.get("checks", {})
    stateless = document["classification"] == "safety" and not document.get("verification", {}).get("state_assertions")
    for kind, part in _LISTS.items():
        if stateless and kind == "state_assertions":
            continue
        for number, entry in enumerate(guest.get(part, {}).get(kind, ())):
            check = f"{kind}.{number}"
            read = readings.get(check, ())
            named = [entry] if isinstance(entry, Mapping) else []
            if not any(_is_spoken(terms, one) for one in (*named, *read)) and not _is_prose(terms, kind, entry, read):
                yield _Carried(kind, entry, attributed.get(check, guest["archetype"]), read)


def _is_spoken(terms: Terms, reading: Mapping[str, Any]) -> bool:
    """Whether what an agent says decides it."""
    behavior = str(reading.get("behavior"))
    known = {**BEHAVIORS, **terms.behaviors}
    if behavior in known:
        return known[behavior].rests_on_words
    return any(_is_spoken(terms, part) for branch in reading.get("any_of", ()) for part in branch)


def _is_prose(terms: Terms, kind: str, entry: Any, read: Any) -> bool:
    """Whether an entry is in words, which may speak of "the" object where there are two now."""
    if read:
        return False
    if not isinstance(entry, Mapping) or kind == "negative_verification" or set(entry) == {"description"}:
        return True
    if "action" in entry:
        return terms.parsed(entry["action"]) is None
    return kind == "state_assertions" and entry.get("condition", "exists") not in _CONDITIONS


def _with_words(document: Document, guest: Mapping[str, Any]) -> Document:
    """What both operators ask for, said in one turn: the guest's request and then the host's."""
    stimuli = list(document["stimuli"])
    first = next(number for number, stimulus in enumerate(stimuli) if is_prompt(stimulus))
    scored = document["classification"] == "capability"
    parts = (stimuli[first]["value"].strip(), prompts(guest)[0].strip())
    stimuli[first] = {**stimuli[first], "value": joined(*(parts if scored else reversed(parts)))}
    both: list[str] = [key for key in ("intent", "description") if key in document and key in guest]
    told = {key: joined(document[key].strip(), guest[key].strip()) for key in both}
    return {**document, **told, "stimuli": stimuli}
