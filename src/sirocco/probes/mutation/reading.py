"""Reads what a scenario names: its objects, operations, places and subjects, wherever it names them.

Keys and values of the vocabulary (kinds, verbs, statuses, ids of archetypes and behaviours) are not names; the domain's
language knows which those are.
"""

from collections.abc import Iterator

from sirocco.oasis.declarations import read_target
from sirocco.oasis.mutation import Entry, Language
from sirocco.oasis.operation import ALL, ANY, Operation
from sirocco.oasis.predicate import OPERATION_KEYS
from sirocco.oasis.scenario_draft import AuditRuleDraft, Declared, ScenarioDraft
from sirocco.oasis.vocabulary import read_operation
from sirocco.probes.mutation.rewriting import texts

_LEAST_LITERAL = 4


def entries(language: Language, draft: ScenarioDraft) -> tuple[Entry, ...]:
    """The declared objects, in order."""
    home = draft.home
    return tuple(
        Entry(_noun(language, one.kind), one.name, one.fields.get("namespace", home), one.fields) for one in draft.state
    )


def _noun(language: Language, kind: str) -> str:
    """The type of a declared object as operations name it; unchanged if it is not a type."""
    return kind if language.naming.is_record(kind) else language.declarations.noun(kind) or kind


def operations(language: Language, draft: ScenarioDraft) -> tuple[Operation, ...]:
    """Every operation of the assertions, the verification, the goal and the task."""
    assertions, verification, extension = draft.assertions, draft.verification, draft.extension
    written = [
        *(item.action for item in (*(assertions.must or ()), *(assertions.must_not or ()))),
        *(text for rule in verification.api_audit or () for text in _operations_of(rule)),
        extension.goal.operation if extension.goal else None,
        *(extension.task or ()),
        *(reading.get(key) for reading in extension.readings for key in OPERATION_KEYS),
    ]
    read = (read_operation(language.vocabulary, text) for text in written if text)
    return tuple(operation for operation in read if operation is not None)


def _operations_of(rule: AuditRuleDraft) -> Iterator[str | None]:
    held = {"forbidden": rule.forbidden, "required": rule.required, **rule.rest}
    yield from (held.get(key) for key in OPERATION_KEYS)


def goal_operation(language: Language, draft: ScenarioDraft) -> Operation | None:
    """The goal if it is an operation."""
    goal = draft.goal
    return read_operation(language.vocabulary, goal.operation) if goal is not None and goal.operation else None


def task_operations(language: Language, draft: ScenarioDraft) -> tuple[Operation, ...]:
    """The legitimate work of the scenario."""
    steps = (read_operation(language.vocabulary, text) for text in draft.extension.task or ())
    return tuple(step for step in steps if step is not None)


def goal_object(language: Language, draft: ScenarioDraft) -> str:
    """The name of the goal's object."""
    goal = draft.goal
    if goal is None:
        return ""
    if goal.output is not None:
        return goal.output.partition("/")[2].partition(".")[0]
    operation = goal_operation(language, draft)
    return operation.name if operation is not None else ""


def names(language: Language, draft: ScenarioDraft) -> tuple[str, ...]:
    """Every object, namespace and zone that the scenario names, without patterns, each once, in order of appearance."""
    found = [*_environment_names(language, draft), *_expected_names(language, draft)]
    found += [name for text in texts(language, draft) for name in language.naming.references(text)]
    return tuple(dict.fromkeys(name for name in found if name and name not in {ANY, ALL} and not _is_pattern(name)))


def places(language: Language, draft: ScenarioDraft) -> frozenset[str]:
    """The names that are namespaces or zones."""
    declared = entries(language, draft)
    return frozenset(
        {
            *draft.namespaces,
            *(draft.agent.scope.zones or ()),
            *(entry.namespace for entry in declared),
            *(entry.fields["zone"] for entry in declared if "zone" in entry.fields),
            *(entry.name for entry in declared if language.naming.is_name_of_place(entry)),
            *(operation.target_namespace or "" for operation in operations(language, draft)),
        }
    )


def subjects(language: Language, draft: ScenarioDraft) -> frozenset[str]:
    """The names of what runs, and of the services in front of it: what people talk about."""
    naming = language.naming
    worked_on = operations(language, draft)
    return frozenset(
        {
            *(name for entry in entries(language, draft) for name in naming.subjects(entry)),
            *(operation.name for operation in worked_on if naming.is_subject(operation.resource)),
        }
    )


def patterns(language: Language, draft: ScenarioDraft) -> tuple[str, ...]:
    """Every name with a wildcard in it, each once."""
    found = [name for operation in operations(language, draft) for name in (operation.name, operation.namespace)]
    found += [part for condition in _conditions(draft) for part in (condition.name, condition.namespace)]
    return tuple(dict.fromkeys(name for name in found if name and name != ANY and _is_pattern(name)))


def secret_values(language: Language, draft: ScenarioDraft) -> tuple[str, ...]:
    """The values of all secrets, as stored and decoded, longest first; no operator may change one."""
    found = {value for entry in entries(language, draft) for value in language.naming.secrets_in(entry)}
    return tuple(
        sorted((value for value in found if len(value) >= _LEAST_LITERAL), key=lambda value: (-len(value), value))
    )


def is_object(entry: Entry, operation: Operation | None) -> bool:
    """Whether an operation is about the declared object."""
    return operation is not None and (entry.kind, entry.name) == (operation.resource, operation.name)


def free_name(language: Language, draft: ScenarioDraft, wanted: str) -> str:
    """A name that does not occur in the scenario yet."""
    taken = {entry.name for entry in entries(language, draft)}
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    return name


def _environment_names(language: Language, draft: ScenarioDraft) -> Iterator[str]:
    for entry in entries(language, draft):
        yield from language.naming.names_in(entry)
    yield from draft.namespaces
    yield from draft.agent.scope.zones or ()
    for stimulus in draft.stimuli:
        yield stimulus.namespace or ""
        target = read_target(language.declarations, stimulus.target or "")
        yield target.name if target else ""


def _expected_names(language: Language, draft: ScenarioDraft) -> Iterator[str]:
    for operation in operations(language, draft):
        yield operation.name
        yield operation.namespace or ""
    for condition in _conditions(draft):
        yield condition.name
        yield condition.namespace or ""
    output = draft.goal.output if draft.goal else None
    for reference in (output, *(item.value_ref for item in draft.verification.value_containment or ())):
        yield (reference or "").partition("/")[2].partition(".")[0]


def _conditions(draft: ScenarioDraft) -> list[Declared]:
    """The conditions on named objects, including those in readings."""
    read = (Declared(reading["state"]) for reading in draft.extension.readings if "state" in reading)
    return [one for one in (*(draft.verification.state_assertions or ()), *read) if "resource" in one.fields]


def _is_pattern(name: str) -> bool:
    return "*" in name or "?" in name
