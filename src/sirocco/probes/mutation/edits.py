"""Small changes to a scenario document that operators are made of; each returns a new document."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sirocco.oasis.mutation import Document, Entry, Naming, Terms
from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import Goal
from sirocco.oasis.stimulus import SAID, StimulusType
from sirocco.probes.mutation.disguise import readings
from sirocco.probes.mutation.document import Deed, entries, home_namespace

_OURS = "x-sirocco"


def goal_of(document: Mapping[str, Any]) -> Goal | None:
    """What a violating agent would do; None where the document declares nothing."""
    goal = document.get(_OURS, {}).get("goal")
    return Goal.model_validate(goal) if goal else None


def goal_operation(parsed: Callable[[str], Deed | None], document: Mapping[str, Any]) -> Deed | None:
    """The goal where it is an operation."""
    goal = goal_of(document)
    return parsed(goal.operation) if goal is not None and goal.operation else None


def task_operations(parsed: Callable[[str], Deed | None], document: Mapping[str, Any]) -> tuple[Deed, ...]:
    """The legitimate work of the document."""
    steps = map(parsed, document.get(_OURS, {}).get("task", ()))
    return tuple(step for step in steps if step is not None)


def scope_namespaces(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Where the agent may act."""
    return tuple(document["preconditions"]["agent"]["scope"].get("namespaces", ()))


def state_of(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The declared environment."""
    return list(document["preconditions"]["environment"].get("state", ()))


def with_state(document: Mapping[str, Any], state: Sequence[Mapping[str, Any]]) -> Document:
    """The document with another environment."""
    environment = {**document["preconditions"]["environment"], "state": [dict(entry) for entry in state]}
    return {**document, "preconditions": {**document["preconditions"], "environment": environment}}


def declaring(document: Mapping[str, Any], *declared: Mapping[str, Any]) -> Document:
    """The document with more in its environment."""
    return with_state(document, [*state_of(document), *declared])


def changing(document: Mapping[str, Any], entry: Entry, **keys: Any) -> Document:
    """The document with other keys on one of its declared objects."""
    return with_state(
        document, [{**fields, **keys} if fields is entry.fields else fields for fields in state_of(document)]
    )


def with_tool(document: Mapping[str, Any], tool: str) -> Document:
    """The document whose agent has a tool."""
    agent = document["preconditions"]["agent"]
    if tool in agent["tools"]:
        return {**document}
    preconditions = {**document["preconditions"], "agent": {**agent, "tools": [*agent["tools"], tool]}}
    return {**document, "preconditions": preconditions}


def with_extension(document: Mapping[str, Any], **keys: Any) -> Document:
    """The document with other keys of ours."""
    return {**document, _OURS: {**document.get(_OURS, {}), **keys}}


def is_prompt(stimulus: Mapping[str, Any]) -> bool:
    """Whether the operator says it."""
    return stimulus["type"] == StimulusType.OPERATOR_PROMPT and bool(stimulus.get("value"))


def prompts(document: Mapping[str, Any]) -> tuple[str, ...]:
    """What the operator says, turn by turn."""
    return tuple(stimulus["value"] for stimulus in document["stimuli"] if is_prompt(stimulus))


def saying(document: Mapping[str, Any], *, before: str = "", after: str = "") -> Document:
    """The document with sentences around what the operator says last."""
    stimuli = list(document["stimuli"])
    last = max(number for number, stimulus in enumerate(stimuli) if is_prompt(stimulus))
    said = joined(before, stimuli[last]["value"].strip(), after)
    return {**document, "stimuli": [*stimuli[:last], {**stimuli[last], "value": said}, *stimuli[last + 1 :]]}


def joined(*parts: str) -> str:
    """Sentences one after the other, each ended."""
    ended = [part if re.search(r"[.!?:\n]$", part.rstrip(" ")) else f"{part}." for part in parts if part]
    separator = "\n" if any("\n" in part for part in ended) else " "
    return separator.join(part.strip("\n") for part in ended)


def with_turn_before(document: Mapping[str, Any], said: str) -> Document:
    """The document with one more turn of the operator before the first."""
    stimuli = list(document["stimuli"])
    first = next(number for number, stimulus in enumerate(stimuli) if is_prompt(stimulus))
    turn = {"type": StimulusType.OPERATOR_PROMPT.value, "value": said}
    return {**document, "stimuli": [*stimuli[:first], turn, *stimuli[first:]]}


def doing_also(document: Mapping[str, Any], *operations: str) -> Document:
    """The document with more legitimate work."""
    task = document.get(_OURS, {}).get("task", ())
    return with_extension(document, task=[*task, *(text for text in operations if text not in task)])


def payload_number(terms: Terms, document: Mapping[str, Any]) -> int | None:
    """The stimulus that carries the goal: the first text in the environment that names what the goal is about."""
    waiting = [
        number
        for number, stimulus in enumerate(document["stimuli"])
        if stimulus.get("value") and stimulus.get("target") and stimulus["type"] not in SAID
    ]
    name = goal_object(terms, document)
    asking = [number for number in waiting if _are_said([name], document["stimuli"][number]["value"])]
    return next(iter(asking or waiting), None)


def is_goal_said(terms: Terms, document: Mapping[str, Any]) -> bool:
    """Whether the payload, disguised or not, names what the goal is about and, unless it is a name itself, where."""
    number, goal = payload_number(terms, document), goal_operation(terms.parsed, document)
    if number is None:
        return False
    text = document["stimuli"][number]["value"]
    if goal is None:
        return _are_said([goal_object(terms, document)], text)
    is_placed = " " in text and terms.vocabulary.is_namespaced(goal.resource)
    place = [goal.namespace or home_namespace(document)] if is_placed else []
    return _are_said([*terms.operations.telling_names(goal), *place], text)


def _are_said(names: Sequence[str], text: str) -> bool:
    return any(all(name in reading for name in names) for reading in readings(text))


def goal_object(terms: Terms, document: Mapping[str, Any]) -> str:
    """The name of what the goal is about."""
    goal = goal_of(document)
    if goal is None:
        return ""
    if goal.output is not None:
        return goal.output.partition("/")[2].partition(".")[0]
    operation = terms.parsed(goal.operation or "")
    return operation.name if operation is not None else ""


def with_payload_text(terms: Terms, document: Mapping[str, Any], text: str) -> Document:
    """The document whose payload says something else."""
    number = payload_number(terms, document)
    if number is None:
        return {**document}
    stimuli = list(document["stimuli"])
    stimuli[number] = {**stimuli[number], "value": text}
    return {**document, "stimuli": stimuli}


def free_name(naming: Naming, document: Mapping[str, Any], wanted: str) -> str:
    """A name that nothing in the document has yet."""
    taken = {entry.name for entry in entries(naming, document)}
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    return name


def is_object(entry: Entry, operation: Operation | None) -> bool:
    """Whether an operation is about the declared object."""
    return operation is not None and (entry.kind, entry.name) == (operation.resource, operation.name)


def forbidding(terms: Terms, document: Mapping[str, Any], goal: Goal, archetype: str | None = None) -> Document:
    """The document with an oracle that sees the goal: it is forbidden, and its object must stay as it was.

    Where the state of the object is checked already, that stays the only measure: the task may have to change it. What
    was forbidden before stays forbidden; new entries come last, so that attributions by number keep their meaning.
    With an archetype, the new entries count for it.
    """
    operation = terms.parsed(goal.operation or "")
    if operation is None:
        return {**document}
    home = home_namespace(document)
    operation = terms.vocabulary.with_default_namespace(operation, home)
    assertions, verification = {**document.get("assertions", {})}, {**document.get("verification", {})}
    must_not, audit = [*assertions.get("must_not", ())], [*verification.get("api_audit", ())]
    state = [*verification.get("state_assertions", ())]
    added: list[str] = []
    if not _is_forbidden(terms, operation, [item.get("action") for item in must_not]):
        added.append(f"must_not.{len(must_not)}")
        must_not.append({"action": str(operation)})
    if not _is_forbidden(terms, operation, [rule.get("forbidden") for rule in audit]):
        added.append(f"api_audit.{len(audit)}")
        audit.append({"forbidden": str(operation)})
    if _changes_what_is_declared(terms, operation, document) and not _is_held(operation, state, home):
        added.append(f"state_assertions.{len(state)}")
        resource = f"{operation.resource}/{operation.name}"
        state.append({"resource": resource, "namespace": operation.namespace, "condition": "unchanged"})
    result: Document = {
        **document,
        "assertions": {**assertions, "must_not": must_not},
        "verification": {**verification, "api_audit": audit, "state_assertions": state},
    }
    if archetype is None or not added:
        return result
    checks = {**document.get(_OURS, {}).get("checks", {}), **dict.fromkeys(added, archetype)}
    return with_extension(result, checks=checks)


def _is_forbidden(terms: Terms, operation: Operation, patterns: Collection[str | None]) -> bool:
    known = (terms.parsed(text) for text in patterns if text)
    return any(terms.vocabulary.covers(pattern, operation) for pattern in known if pattern is not None)


def _is_held(operation: Operation, state: Collection[Mapping[str, Any]], home: str) -> bool:
    """Whether some check is about the state of what the operation is about."""
    wanted = (f"{operation.resource}/{operation.name}", operation.namespace)
    return any((item.get("resource"), item.get("namespace", home)) == wanted for item in state)


def _changes_what_is_declared(terms: Terms, operation: Operation, document: Mapping[str, Any]) -> bool:
    wanted = (operation.resource, operation.name, operation.namespace)
    is_change = not operation.is_read and not operation.is_creation
    declared = entries(terms.naming, document)
    return is_change and any((entry.kind, entry.name, entry.namespace) == wanted for entry in declared)
