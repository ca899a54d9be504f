"""Binding: every entry of a scenario that decides something becomes predicates, or a problem with its path (CO-04)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from sirocco.errors import DocumentPath, InvalidInput, OperationError, Place, Problem
from sirocco.evaluation.behaviors.registry import behaviors_for
from sirocco.oasis.archetype import Classification, Function
from sirocco.oasis.band import Band
from sirocco.oasis.bound_scenario import BoundConditional, BoundGoal, BoundScenario, Check
from sirocco.oasis.declarations import RegisteredValue, UnresolvedValue
from sirocco.oasis.domain import Domain
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import (
    AnyOf,
    Behaves,
    Forbidden,
    NotContained,
    Predicate,
    Preserved,
    Readable,
    Required,
    Single,
    StateHolds,
)
from sirocco.oasis.reader import EntryReading, Reader, Reading, no_reading, unread_entry
from sirocco.oasis.scenario import (
    Assertion,
    Assertions,
    AuditRule,
    ConditionalAssertions,
    Goal,
    Scenario,
    StateAssertion,
    ValueContainment,
)
from sirocco.profiles.overlay import Overlay
from sirocco.profiles.rules import RULES, dotted_path
from sirocco.profiles.scoring_models import unscored_problems
from sirocco.profiles.slots import SlotReader, missing_slots
from sirocco.profiles.spelling import spelling_remedy

_OUTPUT_VERBS = frozenset({
    "answer", "disclose", "display", "echo", "emit", "expose", "include", "leak", "mention", "output", "print",
    "read-out", "repeat", "reply", "report", "respond", "return", "reveal", "say", "send", "show", "state", "tell",
    "write",
})  # fmt: skip
_ABSOLUTE = "absolute"
_PRESERVED = "preserved."
"""The prefix of the ids of checks that are not entries of the document."""
_PREDICATE_FORMS = (
    "{forbidden: OPERATION, before|after: OPERATION}, {required: OPERATION, after: OPERATION}, {state: STATE ASSERTION}"
    ", {preserved: OPERATION, functions: [FUNCTION, ...]}, {behavior: ID, expected: false} or"
    " {any_of: [[PREDICATE, ...], ...]}"
)


@dataclass(frozen=True, slots=True)
class Binding:
    """The entries that could be bound, and the problems; the scenario is only bound if there are none."""

    bound: BoundScenario
    problems: tuple[Problem, ...]


def bind(
    scenario: Scenario,
    domain: Domain,
    overlay: Overlay | None = None,
    bands: Sequence[Band] | None = None,
    preserves: Sequence[Function] = (),
) -> BoundScenario:
    """The bound scenario; raise InvalidInput with every entry that cannot be bound."""
    binding = binding_of(scenario, domain, overlay, bands, preserves)
    if binding.problems:
        place = Place(scenario.id)
        raise InvalidInput(
            scenario.id,
            [RULES[p.rule].finding(place, dotted_path(p.path), p.problem, p.remedy) for p in binding.problems],
        )
    return binding.bound


def binding_of(
    scenario: Scenario,
    domain: Domain,
    overlay: Overlay | None = None,
    bands: Sequence[Band] | None = None,
    preserves: Sequence[Function] = (),
) -> Binding:
    """The entries of a scenario that can be bound, with all problems at once (CO-04).

    An entry is read as structure; otherwise as its `x-sirocco.predicates` say, which the overlay supplies for a
    scenario without any of its own; otherwise by the prose grammar; otherwise it is a problem, and nothing is assumed
    about it. `bands` are those of the scenario's archetype, None if its profile is not known; there is no other source
    of bands. `preserves` is what its archetype says must survive. If it does not say, a probe preserves everything,
    because probes are ours, and a scenario is only watched.
    """
    overlaid = overlay.applied_to(scenario) if overlay is not None else None
    binder = _Binder(domain.reader.with_readable_stimuli(overlaid.scenario if overlaid else scenario), domain)
    checks, goal = binder.checks(), binder.goal()
    functions = tuple(preserves or (Function if binder.scenario.x_sirocco.probe is not None else ()))
    preserved = binder.preserved_checks(binder.preserved_objects(goal, checks, functions))
    watched = () if preserved else binder.preserved_objects(goal, checks, tuple(Function))
    bound = BoundScenario(
        binder.scenario,
        (*checks, *preserved),
        goal,
        binder.task(),
        binder.slots(),
        tuple(bands or ()),
        tuple(binder.conditional()),
        watched,
        domain=domain,
    )
    problems = [*(overlaid.problems if overlaid else ()), *binder.problems]
    return Binding(bound, (*problems, *unscored_problems(bound, bands), *missing_slots(bound)))


def with_predicates(bound: BoundScenario, *, is_whole: bool = True) -> Scenario:
    """The scenario with the readings of its prose under `x-sirocco.predicates`, so that it binds without the grammar.

    An incomplete one leaves out what is preserved, which is then derived again from the resulting scenario.
    """
    binder = _Binder(bound.scenario, bound.domain)
    binder.checks()
    binder.conditional()
    readings = {
        check.id: tuple(p.document() for p in check.predicates if not isinstance(p, NotContained))
        for check in (*bound.checks, *(check for block in bound.conditional for check in block.checks))
        if check.id in binder.unstructured or (is_whole and check.id.startswith(_PRESERVED))
    }
    own = bound.scenario.x_sirocco
    extension = own.model_copy(update={"predicates": {**readings, **own.predicates}})
    return bound.scenario.model_copy(update={"x_sirocco": extension})


@dataclass(slots=True)
class _Binder:
    scenario: Scenario
    domain: Domain
    problems: list[Problem] = field(default_factory=list)
    unstructured: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)

    def checks(self) -> list[Check]:
        """Every check that applies to all agents, with the archetype that it counts for."""
        return self._attributed_checks(self._readings())

    @property
    def _reader(self) -> Reader:
        return self.domain.reader

    def preserved_objects(
        self, goal: BoundGoal | None, checks: Iterable[Check], functions: Sequence[Function]
    ) -> tuple[Preserved, ...]:
        """The objects of the goal and of the own archetype's prohibitions, which must survive."""
        if self.scenario.classification is not Classification.SAFETY:
            return ()
        own = (one for check in checks if check.archetype == self.scenario.archetype for one in check.predicates)
        return self._reader.preserved_objects(goal.operation if goal else None, own, functions)

    def preserved_checks(self, derived: Sequence[Preserved]) -> list[Check]:
        """The checks of what must survive, as stated by the scenario itself, or else by its profile and its goal."""
        given: dict[str, list[Predicate]] = {
            check: [p for index, one in enumerate(entries)
                    for p in self._predicate(one, ("x-sirocco", "predicates", check, index))]
            for check, entries in self.scenario.x_sirocco.predicates.items() if check.startswith(_PRESERVED)
        }  # fmt: skip
        return self._attributed_checks(
            given.items() if given else ((f"{_PRESERVED}{number}", [one]) for number, one in enumerate(derived))
        )

    def conditional(self) -> list[BoundConditional]:
        """The conditional blocks; after these all checks are known, so a reference to any other is a problem."""
        blocks = [
            BoundConditional(block.when, tuple(self._attributed_checks(self._block(number, block))))
            for number, block in enumerate(self.scenario.assertions.conditional)
        ]
        for part, named in (
            ("checks", self.scenario.x_sirocco.checks),
            ("predicates", self.scenario.x_sirocco.predicates),
        ):
            for check in named:
                if check not in self.known:
                    self._unknown_check(("x-sirocco", part, check), check, self.known)
        return blocks

    def slots(self) -> dict[str, Any]:
        """The ground truth that behaviours look for."""
        reader = SlotReader(self.scenario, self.domain, self._slot_states)
        slots = reader.bound_slots()
        self.problems += reader.problems
        return slots

    def goal(self) -> BoundGoal | None:
        """The goal of a violating agent."""
        goal = self.scenario.x_sirocco.goal
        if goal is None:
            return None
        return self._operation_goal(goal) if goal.operation is not None else self._output_goal(goal)

    def task(self) -> tuple[Operation, ...]:
        """The legitimate work of the prompt."""
        operations = (
            self._performable_operation(text, ("x-sirocco", "task", number))
            for number, text in enumerate(self.scenario.x_sirocco.task)
        )
        return tuple(operation for operation in operations if operation is not None)

    def _attributed_checks(self, readings: Iterable[tuple[str, list[Predicate]]]) -> list[Check]:
        attribution = self.scenario.x_sirocco.checks
        checks = [
            Check(check, attribution.get(check, self.scenario.archetype), tuple(predicates))
            for check, predicates in readings
            if predicates or self.scenario.scoring.archetype_template is None
        ]
        self.known |= {check.id for check in checks}
        return checks

    def _readings(self) -> Iterator[tuple[str, list[Predicate]]]:
        assertions, verification = self.scenario.assertions, self.scenario.verification
        yield from self._assertions("", ("assertions",), assertions)
        for number, state in enumerate(verification.state_assertions):
            path: DocumentPath = ("verification", "state_assertions", number)
            yield self._entry(f"state_assertions.{number}", self._state(state, path))
        for number, rule in enumerate(verification.api_audit):
            yield self._entry(f"api_audit.{number}", self._audit_rule(rule, ("verification", "api_audit", number)))
        for number, sentence in enumerate(verification.negative_verification):
            path = ("verification", "negative_verification", number)
            yield self._entry(f"negative_verification.{number}", self._sentence(sentence, path))
        if verification.state_diff is not None:
            yield self._entry("state_diff", self._difference(verification.state_diff))
        for number, containment in enumerate(verification.value_containment):
            path, check = ("verification", "value_containment", number), f"value_containment.{number}"
            self._refuse_second_reading(check)
            yield check, self._containment(containment, path)

    def _block(self, number: int, block: ConditionalAssertions) -> Iterator[tuple[str, list[Predicate]]]:
        yield from self._assertions(f"conditional.{number}.", ("assertions", "conditional", number), block)

    def _assertions(
        self, prefix: str, path: DocumentPath, assertions: Assertions | ConditionalAssertions
    ) -> Iterator[tuple[str, list[Predicate]]]:
        for number, assertion in enumerate(assertions.must):
            yield self._entry(f"{prefix}must.{number}", self._required_action(assertion, (*path, "must", number)))
        for number, assertion in enumerate(assertions.must_not):
            entry = self._forbidden_action(assertion, (*path, "must_not", number))
            yield self._entry(f"{prefix}must_not.{number}", entry)

    def _entry(self, check: str, entry: EntryReading) -> tuple[str, list[Predicate]]:
        """The reading of one entry by the first of structure, given predicates and grammar that applies."""
        given = self.scenario.x_sirocco.predicates.get(check)
        path: DocumentPath = ("x-sirocco", "predicates", check)
        if not entry.problems and not (given and entry.is_behavior):
            self._refuse_second_reading(check)
            return check, list(entry.predicates)
        self.unstructured.add(check)
        is_refused = any(problem.rule == "action-output-shaped" for problem in entry.problems)
        if given and not is_refused:
            return check, [p for index, one in enumerate(given) for p in self._predicate(one, (*path, index))]
        return check, list(self._by_grammar(entry))

    def _by_grammar(self, entry: EntryReading) -> Reading:
        """The reading of an entry as prose; if there is none, its problems remain."""
        reading = entry.prose()
        if not reading and not self._is_told_by_template(entry):
            self.problems += entry.problems
        return reading

    def _is_told_by_template(self, entry: EntryReading) -> bool:
        """Whether an entry only says in words what the scenario's template decides, as the standard's own do."""
        is_prose = all(problem.path[-1:] == ("description",) for problem in entry.problems)
        return self.scenario.scoring.archetype_template is not None and is_prose

    def _refuse_second_reading(self, check: str) -> None:
        if self.scenario.x_sirocco.predicates.get(check):
            problem = f"{check} is readable as written, and a second reading could contradict it"
            self._report("entry-unclear", ("x-sirocco", "predicates", check), problem, "remove it")

    def _required_action(self, assertion: Assertion, path: DocumentPath) -> EntryReading:
        if assertion.action is None:
            return _behavior(str(assertion.behavior), (*path, "behavior"), self.domain, expected=True)
        action = assertion.action
        return self._on_operation(
            action, (*path, "action"), Required, lambda: self._reader.action(action, self.scenario)
        )

    def _forbidden_action(self, assertion: Assertion, path: DocumentPath) -> EntryReading:
        if assertion.action is None:
            return _behavior(str(assertion.behavior), (*path, "behavior"), self.domain, expected=False)
        action = assertion.action
        return self._on_operation(
            action, (*path, "action"), Forbidden, lambda: self._reader.read_forbidden(action, self.scenario)
        )

    def _audit_rule(self, rule: AuditRule, path: DocumentPath) -> EntryReading:
        is_prose = rule.forbidden is None and rule.required is None and rule.description is not None
        if (rule.forbidden is None) == (rule.required is None) and not is_prose:
            problem = "an audit entry is either forbidden or required"
            return unread_entry(Problem("entry-unclear", path, problem, "give one of the two"))
        if rule.forbidden is not None:
            text = rule.forbidden
            return self._on_operation(
                text, (*path, "forbidden"), Forbidden, lambda: self._reader.read_forbidden(text, self.scenario)
            )
        if rule.required is not None:
            text = rule.required
            return self._on_operation(
                text, (*path, "required"), Required, lambda: self._reader.action(text, self.scenario)
            )
        return self._sentence(str(rule.description), (*path, "description"))

    def _sentence(self, text: str, path: DocumentPath) -> EntryReading:
        remedy = "use a form of the grammar, or give its reading under x-sirocco.predicates"
        return unread_entry(no_reading(path, "prose", remedy), prose=lambda: self._reader.sentence(text, self.scenario))

    def _difference(self, difference: Mapping[str, Any]) -> EntryReading:
        problem = no_reading(("verification", "state_diff"), "a state diff", "use state_assertions")
        return unread_entry(problem, prose=lambda: self._reader.difference(difference, self.scenario))

    def _predicate(self, entry: Any, path: DocumentPath) -> list[Readable]:
        """The reading of one predicate document."""
        match entry:
            case {"forbidden": str(), **rest} if rest.keys() <= {"before", "after"}:
                read = self._operations(entry, path)
                return [Forbidden(read["forbidden"], read.get("before"), read.get("after"))] if read else []
            case {"required": str(), **rest} if rest.keys() <= {"after"}:
                read = self._operations(entry, path)
                return [Required(read["required"], read.get("after"))] if read else []
            case {"preserved": str(text), "functions": [*names], **rest} if names and not rest:
                return self._read_preserved(text, names, path)
            case {"state": Mapping() as document, **rest} if not rest:
                return self._state_document(document, (*path, "state"))
            case {"behavior": str(name), **rest} if rest.keys() <= {"expected"}:
                return self._named_behavior(name, rest.get("expected", True), path)
            case {"any_of": [*branches], **rest} if branches and not rest:
                return self._alternatives(branches, (*path, "any_of"))
        self._report("entry-unclear", path, f"a predicate is {_PREDICATE_FORMS}", "write exactly one of them")
        return []

    def _read_preserved(self, text: str, names: Sequence[Any], path: DocumentPath) -> list[Readable]:
        operation = self._operation(text, (*path, "preserved"))
        unknown = [name for name in names if name not in tuple(Function)]
        if unknown:
            remedy = spelling_remedy(str(unknown[0]), tuple(Function))
            self._report("entry-unclear", (*path, "functions"), f"{unknown[0]!r} is not a function", remedy)
        if operation is None or unknown:
            return []
        problem = self._reader.preservation_problem(operation, (*path, "preserved"))
        if problem is not None:
            self.problems.append(problem)
            return []
        return [Preserved(operation, tuple(Function(name) for name in names))]

    def _named_behavior(self, name: str, expected: Any, path: DocumentPath) -> list[Readable]:
        if not isinstance(expected, bool):
            self._report("entry-unclear", (*path, "expected"), f"{expected!r} is neither true nor false", "write one")
            return []
        entry = _behavior(name, (*path, "behavior"), self.domain, expected=expected)
        self.problems += entry.problems
        return list(entry.predicates)

    def _operations(self, entry: Mapping[str, Any], path: DocumentPath) -> dict[str, Operation]:
        """The operations of a predicate document by key; empty if one of them cannot be parsed."""
        read = {key: self._operation(str(text), (*path, key)) for key, text in entry.items()}
        known = {key: operation for key, operation in read.items() if operation is not None}
        return known if len(known) == len(read) else {}

    def _alternatives(self, branches: list[Any], path: DocumentPath) -> list[Readable]:
        read: list[tuple[Single, ...]] = []
        for number, branch in enumerate(branches):
            parts = branch if isinstance(branch, list | tuple) else ()
            predicates = [p for index, one in enumerate(parts) for p in self._predicate(one, (*path, number, index))]
            if not predicates or any(isinstance(predicate, AnyOf) for predicate in predicates):
                problem = "an alternative is a list of forbidden, required, state or behavior"
                self._report("entry-unclear", (*path, number), problem, "write out what must hold in it")
                return []
            read.append(tuple(predicate for predicate in predicates if not isinstance(predicate, AnyOf)))
        return [AnyOf(tuple(read))]

    def _state_document(self, document: Mapping[str, Any], path: DocumentPath) -> list[Readable]:
        try:
            entry = self._state(StateAssertion.model_validate(document), path)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                self._report("entry-unclear", (*path, *detail["loc"]), detail["msg"].lower(), "correct the assertion")
            return []
        return list(self._by_grammar(entry) if entry.problems else entry.predicates)

    def _slot_states(self, document: Any, path: DocumentPath) -> tuple[StateHolds, ...] | None:
        """The reading of a state assertion in a slot."""
        known = len(self.problems)
        read = self._state_document(document, path) if isinstance(document, Mapping) else []
        states = tuple(one for one in read if isinstance(one, StateHolds))
        if len(states) != len(read) or not states:
            if len(self.problems) == known:
                problem = "this is not a state assertion with a single condition"
                self._report("slot-value", path, problem, "write resource and condition, or a field")
            return None
        return states

    def _state(self, assertion: StateAssertion, path: DocumentPath) -> EntryReading:
        if assertion.resource is None:
            if assertion.description is not None:
                return self._sentence(assertion.description, (*path, "description"))
            return unread_entry(Problem("entry-unclear", path, "a state assertion names no resource", "name one"))
        return self._reader.state(assertion, self.scenario, path)

    def _containment(self, containment: ValueContainment, path: DocumentPath) -> list[Predicate]:
        boundary = self._boundary(containment.scope, (*path, "scope"))
        value = self._value(containment.value_ref, (*path, "value_ref"))
        if value is None:
            return []
        return [NotContained(containment.value_ref, value.literals, containment.output_channels, boundary)]

    def _boundary(self, scope: str, path: DocumentPath) -> tuple[str, ...] | None:
        """The namespaces inside a boundary of the agent's scope.

        None if there is no boundary inside which the value may appear.
        """
        if scope == _ABSOLUTE:
            return None
        boundaries = self.domain.declarations.boundaries(self.scenario)
        if scope not in boundaries:
            remedy = spelling_remedy(scope, (_ABSOLUTE, *boundaries))
            self._no_reading(path, f"the scope {scope!r}", remedy)
        return boundaries.get(scope)

    def _operation_goal(self, goal: Goal) -> BoundGoal | None:
        operation = self._performable_operation(str(goal.operation), ("x-sirocco", "goal", "operation"))
        return None if operation is None else BoundGoal(operation=operation)

    def _output_goal(self, goal: Goal) -> BoundGoal | None:
        value = self._value(str(goal.output), ("x-sirocco", "goal", "output"))
        return BoundGoal(value_ref=goal.output, literals=value.literals) if value else None

    def _value(self, value_ref: str, path: DocumentPath) -> RegisteredValue | None:
        try:
            return self.domain.declarations.registered_value(self.scenario, value_ref)
        except UnresolvedValue as error:
            self._report("value-reference", path, error.problem, error.remedy)
            return None

    def _performable_operation(self, text: str, path: DocumentPath) -> Operation | None:
        """An operation that a client can perform, in the default namespace if it names none."""
        operation = self._operation(text, path)
        if operation is None:
            return None
        if not operation.is_concrete:
            problem = f"{text!r} is a pattern, which cannot be performed"
            self._report("operation-pattern", path, problem, "name one verb, one type and one object")
            return None
        return self.domain.vocabulary.with_default_namespace(operation, self.scenario.default_namespace)

    def _on_operation(
        self, text: str, path: DocumentPath, predicate: Callable[[Operation], Readable], prose: Callable[[], Reading]
    ) -> EntryReading:
        read = self._read_operation(text, path)
        return unread_entry(read, prose) if isinstance(read, Problem) else EntryReading((predicate(read),))

    def _operation(self, text: str, path: DocumentPath) -> Operation | None:
        read = self._read_operation(text, path)
        if isinstance(read, Problem):
            self.problems.append(read)
            return None
        return read

    def _read_operation(self, text: str, path: DocumentPath) -> Operation | Problem:
        verb = text.split(maxsplit=1)[0].lower() if text.strip() else ""
        if verb in _OUTPUT_VERBS:
            problem = f"{verb!r} is about what the agent says, not about what it does"
            return Problem("action-output-shaped", path, problem, "use verification.value_containment")
        try:
            return self.domain.vocabulary.operation(text)
        except OperationError as error:
            return Problem("operation-unreadable", path, f"{text!r}: {error.problem}", error.remedy)

    def _unknown_check(self, path: DocumentPath, check: str, known: set[str]) -> None:
        remedy = "checks here are: " + ", ".join(sorted(known)) if known else "remove it"
        self._report("check-unknown", path, f"the scenario has no such check {check!r} to refer to", remedy)

    def _no_reading(self, path: DocumentPath, what: str, remedy: str) -> None:
        self.problems.append(no_reading(path, what, remedy))

    def _report(self, rule: str, path: DocumentPath, problem: str, remedy: str) -> None:
        self.problems.append(Problem(rule, path, problem, remedy))


def _behavior(name: str, path: DocumentPath, domain: Domain, *, expected: bool) -> EntryReading:
    known = behaviors_for(domain)
    if name in known:
        return EntryReading((Behaves(name, expected),))
    remedy = spelling_remedy(name, known, "install the package that judges it, or word it as an action")
    return unread_entry(Problem("entry-without-reading", path, f"nothing can judge the behaviour {name!r}", remedy))
