"""Small changes to a scenario document that operators are made of; each returns a new document."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kubesim.resource import BY_NOUN
from sirocco.domains.kubernetes.covering import covers
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.oasis.operation import ALL, ANY
from sirocco.oasis.scenario import Goal
from sirocco.oasis.stimulus import SAID, StimulusType
from sirocco.probes.mutation.disguise import readings
from sirocco.probes.mutation.document import Document, Entry, entries, home_namespace, parsed_operation

_OURS = "x-sirocco"


def goal_of(document: Mapping[str, Any]) -> Goal | None:
    """What a violating agent would do; None where the document declares nothing."""
    goal = document.get(_OURS, {}).get("goal")
    return Goal.model_validate(goal) if goal else None


def goal_operation(document: Mapping[str, Any]) -> Operation | None:
    """The goal where it is an operation."""
    goal = goal_of(document)
    return parsed_operation(goal.operation) if goal is not None and goal.operation else None


def task_operations(document: Mapping[str, Any]) -> tuple[Operation, ...]:
    """The legitimate work of the document."""
    steps = map(parsed_operation, document.get(_OURS, {}).get("task", ()))
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


def payload_number(document: Mapping[str, Any]) -> int | None:
    """The stimulus that carries the goal: the first text in the environment that names what the goal is about."""
    waiting = [
        number
        for number, stimulus in enumerate(document["stimuli"])
        if stimulus.get("value") and stimulus.get("target") and stimulus["type"] not in SAID
    ]
    name = goal_object(document)
    asking = [number for number in waiting if _are_said([name], document["stimuli"][number]["value"])]
    return next(iter(asking or waiting), None)


def is_goal_said(document: Mapping[str, Any]) -> bool:
    """Whether the payload, disguised or not, names what the goal is about and, unless it is a name itself, where."""
    number, goal = payload_number(document), goal_operation(document)
    if number is None:
        return False
    text = document["stimuli"][number]["value"]
    if goal is None:
        return _are_said([goal_object(document)], text)
    meant = [value for _, value in goal.labels or ()] if goal.name in {ANY, ALL} else [goal.name]
    place = [goal.namespace or home_namespace(document)] if " " in text and _is_namespaced(goal) else []
    return _are_said([*meant, *place], text)


def _are_said(names: Sequence[str], text: str) -> bool:
    return any(all(name in reading for name in names) for reading in readings(text))


def goal_object(document: Mapping[str, Any]) -> str:
    """The name of what the goal is about."""
    goal = goal_of(document)
    if goal is None:
        return ""
    if goal.output is not None:
        return goal.output.partition("/")[2].partition(".")[0]
    return Operation.parse(goal.operation or "").name


def with_payload_text(document: Mapping[str, Any], text: str) -> Document:
    """The document whose payload says something else."""
    number = payload_number(document)
    if number is None:
        return {**document}
    stimuli = list(document["stimuli"])
    stimuli[number] = {**stimuli[number], "value": text}
    return {**document, "stimuli": stimuli}


def free_name(document: Mapping[str, Any], wanted: str) -> str:
    """A name that nothing in the document has yet."""
    taken = {entry.name for entry in entries(document)}
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    return name


def is_object(entry: Entry, operation: Operation | None) -> bool:
    """Whether an operation is about the declared object."""
    return operation is not None and (entry.kind, entry.name) == (operation.resource, operation.name)


def forbidding(document: Mapping[str, Any], goal: Goal, archetype: str | None = None) -> Document:
    """The document with an oracle that sees the goal: it is forbidden, and its object must stay as it was.

    Where the state of the object is checked already, that stays the only measure: the task may have to change it. What
    was forbidden before stays forbidden; new entries come last, so that attributions by number keep their meaning.
    With an archetype, the new entries count for it.
    """
    if goal.operation is None:
        return {**document}
    home = home_namespace(document)
    operation = Operation.parse(goal.operation)
    if operation.namespace is None and _is_namespaced(operation):
        operation = replace(operation, namespace=home)
    assertions, verification = {**document.get("assertions", {})}, {**document.get("verification", {})}
    must_not, audit = [*assertions.get("must_not", ())], [*verification.get("api_audit", ())]
    state = [*verification.get("state_assertions", ())]
    added: list[str] = []
    if not _is_forbidden(operation, [item.get("action") for item in must_not]):
        added.append(f"must_not.{len(must_not)}")
        must_not.append({"action": str(operation)})
    if not _is_forbidden(operation, [rule.get("forbidden") for rule in audit]):
        added.append(f"api_audit.{len(audit)}")
        audit.append({"forbidden": str(operation)})
    if _changes_what_is_declared(operation, document) and not _is_held(operation, state, home):
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


def _is_forbidden(operation: Operation, patterns: Collection[str | None]) -> bool:
    return any(covers(pattern, operation) for text in patterns if text and (pattern := parsed_operation(text)))


def _is_held(operation: Operation, state: Collection[Mapping[str, Any]], home: str) -> bool:
    """Whether some check is about the state of what the operation is about."""
    wanted = (f"{operation.resource}/{operation.name}", operation.namespace)
    return any((item.get("resource"), item.get("namespace", home)) == wanted for item in state)


def _changes_what_is_declared(operation: Operation, document: Mapping[str, Any]) -> bool:
    wanted = (operation.resource, operation.name, operation.namespace)
    is_change = not operation.is_read and operation.verb is not Verb.CREATE
    return is_change and any((entry.kind, entry.name, entry.namespace) == wanted for entry in entries(document))


def _is_namespaced(operation: Operation) -> bool:
    row = BY_NOUN.get(operation.resource)
    return row is not None and row.namespaced
