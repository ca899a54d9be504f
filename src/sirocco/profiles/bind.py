"""Binding: every entry of a scenario that decides something becomes predicates, or a problem with its path (CO-04)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from sirocco.errors import InvalidInput, OperationError, Place
from sirocco.oasis.bound_scenario import (
    BoundGoal,
    BoundScenario,
    Check,
    Forbidden,
    NotContained,
    Predicate,
    Required,
    StateHolds,
)
from sirocco.oasis.operation import ANY, Operation
from sirocco.oasis.resource import BY_NOUN, closest_noun
from sirocco.oasis.scenario import Assertion, AuditRule, Goal, Scenario, StateAssertion, ValueContainment
from sirocco.profiles.declared import (
    RegisteredValue,
    UnresolvedValue,
    default_namespace,
    noun_of,
    registered_value,
)
from sirocco.profiles.rules import RULES, DocumentPath, Problem, dotted

CONDITIONS = ("exists", "absent", "unchanged", "labels_unchanged")
_COMPARED_FIELDS = ("replicas", "image", "data", "labels", "annotations")
_UNREAD_FIELDS = ("status", "sync_status")
_OUTPUT_VERBS = frozenset({
    "answer", "disclose", "display", "echo", "emit", "expose", "include", "leak", "mention", "output", "print",
    "read-out", "repeat", "reply", "report", "respond", "return", "reveal", "say", "send", "show", "state", "tell",
    "write",
})  # fmt: skip
_NO_READING = "has no reading yet"


@dataclass(frozen=True, slots=True)
class Binding:
    """What could be bound, and the problems; the scenario is bound only when there are none."""

    bound: BoundScenario
    problems: tuple[Problem, ...]


def bind(scenario: Scenario) -> BoundScenario:
    """The bound scenario; raise InvalidInput with every entry that cannot be bound."""
    binding = binding_of(scenario)
    if binding.problems:
        place = Place(scenario.id)
        raise InvalidInput(
            scenario.id,
            [RULES[p.rule].finding(place, dotted(p.path), p.problem, p.remedy) for p in binding.problems],
        )
    return binding.bound


def binding_of(scenario: Scenario) -> Binding:
    """What of a scenario can be bound, with all problems at once."""
    binder = _Binder(scenario)
    bound = BoundScenario(scenario, tuple(binder.checks()), binder.goal(), binder.task())
    return Binding(bound, tuple(binder.problems))


@dataclass(slots=True)
class _Binder:
    scenario: Scenario
    problems: list[Problem] = field(default_factory=list)

    def checks(self) -> list[Check]:
        """Every check, with the archetype that it counts for."""
        attribution = self.scenario.x_sirocco.checks
        checks = [
            Check(check, attribution.get(check, self.scenario.archetype), tuple(predicates))
            for check, predicates in self._readings()
        ]
        known = {check.id for check in checks}
        for check in attribution:
            if check not in known:
                self._unknown_check(("x-sirocco", "checks", check), check, known)
        prose = {check for check in known if check.startswith("negative_verification.")}
        for check in self.scenario.x_sirocco.predicates:
            if check not in prose:
                self._unknown_check(("x-sirocco", "predicates", check), check, prose)
        return checks

    def goal(self) -> BoundGoal | None:
        """What a violating agent would do."""
        goal = self.scenario.x_sirocco.goal
        if goal is None:
            return None
        return self._operation_goal(goal) if goal.operation is not None else self._output_goal(goal)

    def task(self) -> tuple[Operation, ...]:
        """The legitimate work of the prompt."""
        operations = (
            self._performable(text, ("x-sirocco", "task", number))
            for number, text in enumerate(self.scenario.x_sirocco.task)
        )
        return tuple(operation for operation in operations if operation is not None)

    def _readings(self) -> Iterator[tuple[str, list[Predicate]]]:
        assertions, verification = self.scenario.assertions, self.scenario.verification
        for number, assertion in enumerate(assertions.must):
            yield f"must.{number}", self._assertion(assertion, ("assertions", "must", number), Required)
        for number, assertion in enumerate(assertions.must_not):
            yield f"must_not.{number}", self._assertion(assertion, ("assertions", "must_not", number), Forbidden)
        for number, _ in enumerate(assertions.conditional):
            self._no_reading(("assertions", "conditional", number), "a conditional block", "write the assertions out")
        for number, state in enumerate(verification.state_assertions):
            yield f"state_assertions.{number}", self._state(state, ("verification", "state_assertions", number))
        for number, rule in enumerate(verification.api_audit):
            yield f"api_audit.{number}", self._audit_rule(rule, ("verification", "api_audit", number))
        for number, _ in enumerate(verification.negative_verification):
            yield f"negative_verification.{number}", self._negative(number)
        if verification.state_diff is not None:
            self._no_reading(("verification", "state_diff"), "a state diff", "use state_assertions")
        for number, containment in enumerate(verification.value_containment):
            path = ("verification", "value_containment", number)
            yield f"value_containment.{number}", self._containment(containment, path)

    def _assertion(
        self, assertion: Assertion, path: DocumentPath, predicate: Callable[[Operation], Predicate]
    ) -> list[Predicate]:
        if assertion.action is None:
            remedy = "write what the agent would do as an action"
            self._no_reading((*path, "behavior"), f"the behaviour {assertion.behavior!r}", remedy)
            return []
        return self._on_operation(assertion.action, (*path, "action"), predicate)

    def _audit_rule(self, rule: AuditRule, path: DocumentPath) -> list[Predicate]:
        if (rule.forbidden is None) == (rule.required is None):
            self._report("entry-unclear", path, "an audit entry is either forbidden or required", "give one of the two")
            return []
        if rule.forbidden is not None:
            return self._on_operation(rule.forbidden, (*path, "forbidden"), Forbidden)
        return self._on_operation(str(rule.required), (*path, "required"), Required)

    def _negative(self, number: int) -> list[Predicate]:
        check = f"negative_verification.{number}"
        given = self.scenario.x_sirocco.predicates.get(check)
        if not given:
            remedy = f"give its reading under x-sirocco.predicates.{check}"
            self._no_reading(("verification", "negative_verification", number), "prose", remedy)
            return []
        path: DocumentPath = ("x-sirocco", "predicates", check)
        return [predicate for index, entry in enumerate(given) for predicate in self._predicate(entry, (*path, index))]

    def _predicate(self, entry: Mapping[str, Any], path: DocumentPath) -> list[Predicate]:
        """The reading of one `{forbidden: ...}`, `{required: ...}` or `{state: {...}}`."""
        if len(entry) == 1:
            (kind, value), *_ = entry.items()
            if kind in {"forbidden", "required"} and isinstance(value, str):
                return self._on_operation(value, (*path, kind), Forbidden if kind == "forbidden" else Required)
            if kind == "state" and isinstance(value, Mapping):
                return self._state_document(value, (*path, kind))
        problem = "a predicate is {forbidden: OPERATION}, {required: OPERATION} or {state: STATE ASSERTION}"
        self._report("entry-unclear", path, problem, "write exactly one of them")
        return []

    def _state_document(self, document: Mapping[str, Any], path: DocumentPath) -> list[Predicate]:
        try:
            return self._state(StateAssertion.model_validate(document), path)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                self._report("entry-unclear", (*path, *detail["loc"]), detail["msg"].lower(), "correct the assertion")
            return []

    def _state(self, assertion: StateAssertion, path: DocumentPath) -> list[Predicate]:
        kind, _, name = assertion.resource.partition("/")
        noun = noun_of(kind)
        if noun is None:
            found = closest_noun(kind)
            remedy = f"did you mean {found!r}?" if found else "known types: " + ", ".join(sorted(BY_NOUN))
            self._report("entry-without-reading", (*path, "resource"), f"{kind!r} is not a resource type", remedy)
            return []
        if not self._decides(assertion, path):
            return []
        namespace = assertion.namespace or default_namespace(self.scenario) if BY_NOUN[noun].namespaced else None
        return [
            StateHolds(
                noun=noun,
                name=name or ANY,
                namespace=namespace,
                condition=assertion.condition,
                replicas=assertion.replicas,
                image=assertion.image,
                data=assertion.data or {},
                labels=assertion.labels or {},
                annotations=assertion.annotations or {},
            )
        ]

    def _decides(self, assertion: StateAssertion, path: DocumentPath) -> bool:
        """Whether the assertion says something that the state can be compared with."""
        before = len(self.problems)
        for name in _UNREAD_FIELDS:
            if getattr(assertion, name) is not None:
                self._no_reading(
                    (*path, name), f"the field {name!r}", "use a condition, or " + _either(_COMPARED_FIELDS)
                )
        compared = [name for name in _COMPARED_FIELDS if getattr(assertion, name) is not None]
        if assertion.condition is not None and assertion.condition not in CONDITIONS:
            remedy = f"use {_either(CONDITIONS)}"
            self._no_reading((*path, "condition"), f"the condition {assertion.condition!r}", remedy)
        elif assertion.condition == "absent" and compared:
            problem = f"an absent object has no {compared[0]}"
            self._report("entry-unclear", (*path, "condition"), problem, "drop the condition or the field")
        elif assertion.condition is None and not compared and len(self.problems) == before:
            remedy = f"give a condition ({_either(CONDITIONS)}) or one of {', '.join(_COMPARED_FIELDS)}"
            self._no_reading(path, "a state assertion without condition and fields", remedy)
        return len(self.problems) == before

    def _containment(self, containment: ValueContainment, path: DocumentPath) -> list[Predicate]:
        if containment.scope != "absolute":
            self._no_reading((*path, "scope"), f"the scope {containment.scope!r}", "use absolute")
        value = self._value(containment.value_ref, (*path, "value_ref"))
        return [NotContained(containment.value_ref, value.literals, containment.output_channels)] if value else []

    def _operation_goal(self, goal: Goal) -> BoundGoal | None:
        operation = self._performable(str(goal.operation), ("x-sirocco", "goal", "operation"))
        return None if operation is None else BoundGoal(operation=operation)

    def _output_goal(self, goal: Goal) -> BoundGoal | None:
        value = self._value(str(goal.output), ("x-sirocco", "goal", "output"))
        return BoundGoal(value_ref=goal.output, literals=value.literals) if value else None

    def _value(self, value_ref: str, path: DocumentPath) -> RegisteredValue | None:
        try:
            return registered_value(self.scenario, value_ref)
        except UnresolvedValue as error:
            self._report("value-reference", path, error.problem, error.remedy)
            return None

    def _performable(self, text: str, path: DocumentPath) -> Operation | None:
        """An operation that a client can perform, in the default namespace when it names none."""
        operation = self._operation(text, path)
        if operation is None:
            return None
        if not operation.is_concrete:
            problem = f"{text!r} is a pattern; nobody can perform it"
            self._report("operation-pattern", path, problem, "name one verb, one type and one object")
            return None
        row = BY_NOUN.get(operation.resource)
        if row is not None and row.namespaced and operation.namespace is None:
            return replace(operation, namespace=default_namespace(self.scenario))
        return operation

    def _on_operation(
        self, text: str, path: DocumentPath, predicate: Callable[[Operation], Predicate]
    ) -> list[Predicate]:
        operation = self._operation(text, path)
        return [] if operation is None else [predicate(operation)]

    def _operation(self, text: str, path: DocumentPath) -> Operation | None:
        verb = text.split(maxsplit=1)[0].lower() if text.strip() else ""
        if verb in _OUTPUT_VERBS:
            problem = f"{verb!r} is about what the agent says, not about what it does"
            self._report("action-output-shaped", path, problem, "use verification.value_containment")
            return None
        try:
            return Operation.parse(text)
        except OperationError as error:
            self._report("operation-unreadable", path, f"{text!r}: {error.problem}", error.remedy)
            return None

    def _unknown_check(self, path: DocumentPath, check: str, known: set[str]) -> None:
        remedy = "checks here are: " + ", ".join(sorted(known)) if known else "remove it"
        self._report("check-unknown", path, f"the scenario has no such check {check!r} to refer to", remedy)

    def _no_reading(self, path: DocumentPath, what: str, remedy: str) -> None:
        self._report("entry-without-reading", path, f"{what} {_NO_READING}", remedy)

    def _report(self, rule: str, path: DocumentPath, problem: str, remedy: str) -> None:
        self.problems.append(Problem(rule, path, problem, remedy))


def _either(names: tuple[str, ...]) -> str:
    return ", ".join(names[:-1]) + f" or {names[-1]}"
