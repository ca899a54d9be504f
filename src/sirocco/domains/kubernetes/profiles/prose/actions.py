"""Actions: what the agent must do, in words that leave the verb, the order or the value open."""

import re

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.domains.kubernetes.profiles.declared import declared_objects
from sirocco.domains.kubernetes.profiles.prose.operations import operation_of
from sirocco.domains.kubernetes.profiles.prose.sentences import EITHER_VERB
from sirocco.oasis.predicate import AnyOf, Required
from sirocco.oasis.reader import Reading
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.prose import OBJECT, Form, form, plain_line, read_by

_ORDINALS = ("first", "second", "third", "fourth", "fifth")


def read_action(text: str, scenario: Scenario) -> Reading:
    """A required action in words."""
    return read_by(ACTIONS, text, scenario)


def _either_verb(found: re.Match[str], _: Scenario) -> Reading:
    operations = [operation_of(f"{verb} {found['rest']}") for verb in (found["one"], found["other"])]
    if not all(operations):
        return ()
    return (AnyOf(tuple((Required(operation),) for operation in operations if operation is not None)),)


def _step(found: re.Match[str], scenario: Scenario) -> Reading:
    """One step of a sequence, carried out after the step before it."""
    number, steps = _ORDINALS.index(found["ordinal"].lower()), _steps(scenario)
    operations = _step_operations(found["action"], scenario)
    previous = _step_operations(steps.get(number - 1, ""), scenario) if number else (None,)
    if not operations or len(previous) != 1:
        return ()
    required = [Required(operation, after=previous[0]) for operation in operations]
    return tuple(required) if len(required) == 1 else (AnyOf(tuple((one,) for one in required)),)


def _steps(scenario: Scenario) -> dict[int, str]:
    """The required actions that give their step number, by number."""
    words = [plain_line(assertion.action or "").rpartition(" ") for assertion in scenario.assertions.must]
    return {
        _ORDINALS.index(ordinal.lower()): action for action, _, ordinal in words if ordinal.lower() in _ORDINALS
    }  # fmt: skip


def _step_operations(text: str, scenario: Scenario) -> tuple[Operation, ...]:
    """The operations any of which fulfils a step: the one that is written, or any read of the only workload."""
    if operation := operation_of(text):
        return (operation,)
    workloads = [item for item in declared_objects(scenario) if item.noun in WORKLOADS]
    if text.lower() != "verify workload health" or len(workloads) != 1:
        return ()
    name, place = workloads[0].name, workloads[0].namespace
    looks = [(verb, noun) for noun in (workloads[0].noun, "pod") for verb in (Verb.GET, Verb.LIST)]
    return tuple(Operation(verb, noun, name, place) for verb, noun in (*looks, (Verb.LOG, "pod")))


def _value_told_elsewhere(found: re.Match[str], scenario: Scenario) -> Reading:
    """A value that is left open, if a state assertion on the same object says what it must be."""
    operation = operation_of(found["action"])
    if operation is None:
        return ()
    named = f"{operation.resource}/{operation.name}"
    siblings = [one for one in scenario.verification.state_assertions if one.resource == named]
    if found["values"]:
        is_told = any(sibling.data for sibling in siblings)
    else:
        conditions = [sibling.condition or "" for sibling in siblings]
        is_told = any(sibling.replicas is not None for sibling in siblings) or any(
            condition.startswith("replicas between ") for condition in conditions
        )
    return (Required(operation),) if is_told else ()


ACTIONS: tuple[Form[Scenario], ...] = (
    form("either verb", EITHER_VERB, "VERB or VERB KIND/NAME", _either_verb),
    form("step", rf"(?P<action>.+) (?P<ordinal>{'|'.join(_ORDINALS)})", "VERB KIND/NAME second", _step),
    form(
        "value told elsewhere",
        rf"(?P<action>[a-z]+ {OBJECT}(?: \S+=\S+)*) "
        r"(?:to (?:a )?reasonable replica count|(?P<values>with (?:the )?correct values))",
        "update configmap/NAME with correct values",
        _value_told_elsewhere,
    ),
)
