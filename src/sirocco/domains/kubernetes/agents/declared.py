"""What a scenario declares, for those who look for something to act on; and patterns made concrete against it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from kubesim.resource import BY_NOUN, SERVICE_NOUNS, WORKLOADS
from sirocco.domains.kubernetes.operation import Operation, Verb, own_operation, takes
from sirocco.domains.kubernetes.profiles.declared import namespace_of, noun_of
from sirocco.oasis.operation import ALL, ANY, has_glob
from sirocco.oasis.predicate import Forbidden, Required, StateHolds
from sirocco.oasis.work import Situation

_COLLECTIVE = frozenset({Verb.DELETE, Verb.DELETECOLLECTION, Verb.LIST, Verb.WATCH, Verb.GET})
"""Verbs by which one request reaches many objects."""


def declared_objects(situation: Situation) -> Iterator[tuple[str, str, str]]:
    """Noun, name and namespace of every object that the scenario declares; a workload also stands for its pods."""
    for entry in situation.scenario.preconditions.environment.state:
        noun = noun_of(entry.kind)
        if noun is not None and entry.name:
            namespace = namespace_of(situation.scenario, entry) or ""
            yield noun, entry.name, namespace
            if noun in WORKLOADS:
                yield "pod", entry.name, namespace


def declared_names(situation: Situation, noun: str, namespace: str) -> tuple[str, ...]:
    """The names of the declared objects of a type in a namespace."""
    return tuple(name for known, name, place in declared_objects(situation) if (known, place) == (noun, namespace))


def scenario_namespaces(situation: Situation) -> tuple[str, ...]:
    """Every namespace that the scenario names, in declared state, scope, stimuli, checks, goal or task."""
    scenario = situation.scenario
    predicates = situation.predicates
    operations = [predicate.operation for predicate in predicates if isinstance(predicate, Forbidden | Required)]
    operations += [
        *situation.task,
        *([situation.goal.operation] if situation.goal and situation.goal.operation else []),
    ]
    named = [
        *scenario.preconditions.agent.scope.namespaces,
        *(namespace for _, _, namespace in declared_objects(situation)),
        *(name for noun, name, _ in declared_objects(situation) if noun == "namespace"),
        *(stimulus.namespace for stimulus in scenario.stimuli),
        *(own_operation(operation).target_namespace for operation in operations),
        *(predicate.namespace for predicate in predicates if isinstance(predicate, StateHolds)),
    ]
    return tuple(dict.fromkeys(name for name in named if name and name not in {ANY, ALL} and not has_glob(name)))


def place_operation(pattern: Operation, situation: Situation, default: str) -> Operation:
    """A pattern with one verb, one type and one namespace; its name may still stand for several objects."""
    if pattern.verb is Verb.AUTHENTICATE:
        return pattern
    verb = pattern.verb
    if verb is Verb.ANY:
        verb = Verb.PATCH if pattern.path else Verb.SCALE if pattern.replicas is not None else Verb.DELETE
        verb = verb if pattern.resource == ANY or takes(pattern.resource, verb) else Verb.GET
    noun = _noun(pattern, verb, situation)
    namespace = _namespace(pattern, noun, situation, default)
    return replace(pattern, verb=verb, resource=noun, namespace=namespace if BY_NOUN[noun].namespaced else None)


def concrete_operation(pattern: Operation, situation: Situation) -> Operation | None:
    """One operation that the pattern stands for, on something that the scenario declares; None if there is none."""
    scope = situation.scenario.preconditions.agent.scope
    operation = place_operation(pattern, situation, next(iter(scope.namespaces), "default"))
    if is_single(operation):
        return operation
    names = fitting_names(declared_names(situation, operation.resource, operation.namespace or ""), operation)
    made_up = (name_after(operation.name),) if operation.verb in {Verb.CREATE, Verb.APPLY} else ()
    name = next(iter((*names, *made_up)), None)
    return None if name is None else replace(operation, name=name, labels=None, any_labels=False)


def is_broad(operation: Operation) -> bool:
    """Whether a pattern means everything that it matches rather than any one match."""
    return operation.name == ALL or operation.labels is not None or operation.any_labels


def is_single(operation: Operation) -> bool:
    """Whether a single request carries out a placed operation."""
    is_named = not (has_glob(operation.name) or operation.name in {ANY, ALL})
    return operation.verb is Verb.AUTHENTICATE or is_named or (is_broad(operation) and operation.verb in _COLLECTIVE)


def fitting_names(names: tuple[str, ...], operation: Operation) -> tuple[str, ...]:
    """Those of the names that match an operation's name."""
    pattern = ANY if operation.name == ALL else operation.name
    return tuple(name for name in names if fnmatchcase(name, pattern))


def name_after(pattern: str) -> str:
    """A name that matches a pattern."""
    return re.sub(
        r"\*+|\?", lambda wildcard: "1" if wildcard[0] == "?" else "extra", ANY if pattern == ALL else pattern
    )


def _noun(pattern: Operation, verb: Verb, situation: Situation) -> str:
    """The pattern's type; if it leaves that open, one that the verb accepts, declared in its namespace."""
    if pattern.resource != ANY:
        return pattern.resource
    if verb in {Verb.LOG, Verb.EXEC}:
        return "pod"
    known = (noun for noun, _, place in declared_objects(situation) if takes(noun, verb) and _is_place(pattern, place))
    others = (noun for noun in ("configmap", "deployment", *sorted(SERVICE_NOUNS)) if takes(noun, verb))
    return next(known, next(others, "configmap"))


def _namespace(pattern: Operation, noun: str, situation: Situation, default: str) -> str:
    """The pattern's namespace; if it leaves that open, one where the scenario declares such an object."""
    if pattern.namespace is not None and not has_glob(pattern.namespace):
        return pattern.namespace
    among = (
        namespace
        for known, name, namespace in declared_objects(situation)
        if known == noun and fitting_names((name,), pattern)
    )
    known = (*among, default, *scenario_namespaces(situation))
    return next((namespace for namespace in known if namespace and _is_place(pattern, namespace)), default)


def _is_place(pattern: Operation, namespace: str) -> bool:
    return pattern.namespace is None or fnmatchcase(namespace, pattern.namespace)
