"""Rewriting: applies one change to every name and text of a scenario, wherever it occurs.

Structure is parsed, not guessed at. Keys and values of the vocabulary stay as they are.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sirocco.oasis.mutation import Language, Rewrite
from sirocco.oasis.operation import ANY
from sirocco.oasis.scenario import Goal
from sirocco.oasis.scenario_draft import (
    AssertionDraft,
    AssertionsDraft,
    AuditRuleDraft,
    ContainmentDraft,
    Declared,
    Document,
    ExtensionDraft,
    PreconditionsDraft,
    Reading,
    ScenarioDraft,
    StimulusDraft,
    VerificationDraft,
)
from sirocco.oasis.vocabulary import read_operation

_TEMPLATE = "archetype_template"
_VOCABULARY = frozenset({_TEMPLATE, "channels", "deviation_type", "id", "condition"})
"""Keys of injections and of template scoring whose values are words of the standard, or of the scenario's own."""
_BOUNDARIES = frozenset({"absolute", "namespaces", "zones"})
"""The words for boundaries that a value must stay in; any other is a name."""


def rewrite_scenario(language: Language, draft: ScenarioDraft, rewrite: Rewrite) -> ScenarioDraft:
    """The scenario with `rewrite` applied to every name and text in it."""
    return _Rewriting(language, rewrite).scenario(draft)


def texts(language: Language, draft: ScenarioDraft) -> tuple[str, ...]:
    """Every name and text that `rewrite_scenario` would visit."""
    found: list[str] = []

    def record(text: str) -> str:
        found.append(text)
        return text

    rewrite_scenario(language, draft, record)
    return tuple(found)


class _Rewriting:
    """One change to names and texts, wherever a scenario contains them."""

    def __init__(self, language: Language, rewrite: Rewrite) -> None:
        self._naming = language.naming
        self._vocabulary = language.vocabulary
        self._rewrite = rewrite

    def scenario(self, draft: ScenarioDraft) -> ScenarioDraft:
        """The scenario with all of its parts rewritten."""
        return replace(
            draft,
            name=self._rewrite(draft.name),
            intent=self._text(draft.intent),
            description=self._text(draft.description),
            preconditions=self._preconditions(draft.preconditions),
            stimuli=tuple(map(self._stimulus, draft.stimuli)),
            assertions=self._assertions(draft.assertions),
            verification=self._verification(draft.verification),
            extension=self._extension(draft.extension),
            rest={key: self._rewrite_rest(key, value) for key, value in draft.rest.items()},
        )

    def _rewrite_rest(self, key: str, value: Any) -> Any:
        """Parts that no operator edits but that mention the scenario's objects: injected fault and answer key."""
        if key == "injection" and isinstance(value, Mapping):
            return {part: self._rewrite_injected(held) for part, held in value.items()}
        if key == "scoring" and isinstance(value, Mapping) and _TEMPLATE in value:
            return {role: held if role in _VOCABULARY else self._value(held) for role, held in value.items()}
        return value

    def _rewrite_injected(self, held: Any) -> Any:
        """A part of an injection: objects, deviations, a symptom, or words."""
        if isinstance(held, Mapping):
            state = self._state({key: value for key, value in held.items() if key not in _VOCABULARY})
            return {key: state.get(key, value) for key, value in held.items()}
        return [self._rewrite_injected(one) for one in held] if isinstance(held, list | tuple) else self._value(held)

    def _text(self, text: str | None) -> str | None:
        return None if text is None else self._rewrite(text)

    def _preconditions(self, preconditions: PreconditionsDraft) -> PreconditionsDraft:
        environment, agent = preconditions.environment, preconditions.agent
        state, scope = tuple(map(self._rewrite_declared, environment.state or ())), agent.scope
        scope = replace(
            scope,
            namespaces=self._names(scope.namespaces),
            zones=self._names(scope.zones),
            rest={key: self._value(value) for key, value in scope.rest.items()},
        )
        return replace(preconditions, environment=replace(environment, state=state), agent=replace(agent, scope=scope))

    def _names(self, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if names is None else tuple(map(self._rewrite, names))

    def _rewrite_declared(self, entry: Declared) -> Declared:
        return Declared(self._state(entry.fields))

    def _state(self, fields: Mapping[str, Any]) -> Document:
        """The keys of a declared object, or of a condition on one."""
        kind = str(fields.get("resource") or "").partition("/")[0]
        result: Document = {}
        for key, value in fields.items():
            if key == "resource":
                result[key] = self._resource(value)
            elif self._naming.holds_secrets(kind, key):
                result[key] = {self._key(key, name): secret for name, secret in value.items()}
            elif self._naming.has_fixed_value(key):
                result[key] = value
            else:
                has_chosen_keys = self._naming.has_chosen_keys(key)
                result[key] = self._rewrite_mapping(value, within=key) if has_chosen_keys else self._value(value)
        return result

    def _stimulus(self, stimulus: StimulusDraft) -> StimulusDraft:
        target = stimulus.target
        return replace(
            stimulus,
            value=self._text(stimulus.value),
            description=self._text(stimulus.description),
            namespace=self._text(stimulus.namespace),
            timing=self._text(stimulus.timing),
            target=None if target is None else self._naming.rewritten_target(target, self._rewrite),
        )

    def _assertions(self, assertions: AssertionsDraft) -> AssertionsDraft:
        must, must_not, conditional = assertions.must, assertions.must_not, assertions.conditional
        return replace(
            assertions,
            must=None if must is None else tuple(map(self._assertion, must)),
            must_not=None if must_not is None else tuple(map(self._assertion, must_not)),
            conditional=None if conditional is None else tuple(map(self._assertions, conditional)),
        )

    def _assertion(self, item: AssertionDraft) -> AssertionDraft:
        action = None if item.action is None else self._operation(item.action)
        return replace(item, action=action, tool_hint=self._text(item.tool_hint))

    def _verification(self, verification: VerificationDraft) -> VerificationDraft:
        state, audit = verification.state_assertions, verification.api_audit
        prose, contained = verification.negative_verification, verification.value_containment
        return replace(
            verification,
            state_assertions=None if state is None else tuple(map(self._rewrite_declared, state)),
            api_audit=None if audit is None else tuple(map(self._audit_rule, audit)),
            negative_verification=None if prose is None else tuple(map(self._value, prose)),
            rest={key: self._value(value) for key, value in verification.rest.items()},
            value_containment=None if contained is None else tuple(map(self._rewrite_containment, contained)),
        )

    def _rewrite_containment(self, item: ContainmentDraft) -> ContainmentDraft:
        scope = item.scope if item.scope is None or item.scope in _BOUNDARIES else self._rewrite(item.scope)
        return replace(item, value_ref=self._rewrite(item.value_ref), scope=scope)

    def _audit_rule(self, rule: AuditRuleDraft) -> AuditRuleDraft:
        return replace(
            rule,
            forbidden=self._operation_or_other(rule.forbidden),
            required=self._operation_or_other(rule.required),
            rest={key: self._operation_or_other(value) for key, value in rule.rest.items()},
            description=self._text(rule.description),
        )

    def _extension(self, extension: ExtensionDraft) -> ExtensionDraft:
        goal, task, predicates = extension.goal, extension.task, extension.predicates
        slots, reactions = extension.slots, extension.reactions
        return replace(
            extension,
            goal=None if goal is None else self._goal(goal),
            task=None if task is None else tuple(map(self._operation, task)),
            predicates=None
            if predicates is None
            else {check: tuple(map(self._reading, readings)) for check, readings in predicates.items()},
            slots=None if slots is None else {name: self._slot(value) for name, value in slots.items()},
            reactions=None if reactions is None else tuple(map(self._value, reactions)),
        )

    def _goal(self, goal: Goal) -> Goal:
        if goal.operation is not None:
            return Goal(operation=self._operation(goal.operation))
        return Goal(output=self._rewrite(goal.output or ""))

    def _slot(self, value: Any) -> Any:
        """The value of a slot; one that is a mapping has the names of things as keys."""
        if not isinstance(value, Mapping):
            return self._value(value)
        return {self._rewrite(name): self._value(words) for name, words in value.items()}

    def _reading(self, reading: Reading) -> Reading:
        """A predicate: any text in it that is not a behaviour's id is an operation."""
        if "behavior" in reading:
            return reading
        if "any_of" in reading:
            return {"any_of": [[self._reading(part) for part in branch] for branch in reading["any_of"]]}
        return {
            key: self._state(value) if key == "state" else self._operation_or_other(value)
            for key, value in reading.items()
        }

    def _operation_or_other(self, value: Any) -> Any:
        """An operation with its names rewritten; counts and lists of vocabulary words are not operations."""
        return self._operation(value) if isinstance(value, str) else value

    def _value(self, value: Any) -> Any:
        """A value of free structure: texts and the author's keys are rewritten, the vocabulary's words are not."""
        if isinstance(value, str):
            return self._rewrite(value)
        if isinstance(value, Mapping):
            return self._rewrite_mapping(value)
        if isinstance(value, Iterable):
            return [self._value(item) for item in value]
        return value

    def _rewrite_mapping(self, value: Any, within: str = "") -> Any:
        """A mapping with its texts rewritten, and its keys too if they are the author's."""
        if not isinstance(value, Mapping):
            return self._value(value)
        result = {}
        for key, item in value.items():
            name = self._key(within, key) if within else key
            if not within and self._naming.has_fixed_value(key) and isinstance(item, str):
                result[name] = item
            else:
                has_chosen_keys = not within and self._naming.has_chosen_keys(key)
                result[name] = self._rewrite_mapping(item, within=key if has_chosen_keys else "")
        return result

    def _key(self, within: str, key: str) -> str:
        return self._naming.rewritten_key(within, key, self._rewrite)

    def _operation(self, text: str) -> str:
        operation = read_operation(self._vocabulary, text)
        if operation is None:
            return self._rewrite(text)
        return str(self._naming.rewritten_operation(operation, self._rewrite))

    def _resource(self, text: str) -> str:
        kind, _, name = text.partition("/")
        return f"{kind}/{name if name == ANY else self._rewrite(name)}" if name else kind
