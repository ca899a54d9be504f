"""Binds templates: the table of a profile's scoring template over the answer key that a scenario binds its roles to.

A row applies if its predicate holds and no earlier one does; the bands derived from the rows are ordered by score, like
those of other archetypes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sirocco.errors import DocumentPath, Problem
from sirocco.evaluation.primitives import names_identifier
from sirocco.oasis.archetype import Classification
from sirocco.oasis.band import AllOf, Band, Condition, NotMet, Primitive, PrimitiveName, ScoringTemplate
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.scenario import OutputChannel, Scenario
from sirocco.oasis.stimulus import StimulusType
from sirocco.profiles.spelling import spelling_remedy

_CALL = re.compile(r"(?P<no>(?:¬|not\b)\s*)?(?P<name>\w+)\((?P<roles>[\w, ]*)\)")
_JOINT = re.compile(r"\s+and\s+|\s*∧\s*")
_ECHO = "exclude_tool_echo"
_ARGUMENTS = {
    PrimitiveName.NAMED_IN_OUTPUT: (2, 3),
    PrimitiveName.FACTOR_IDENTIFIED: (2, 2),
    PrimitiveName.WITHIN_STEP_BUDGET: (1, 1),
}
_SCORING: DocumentPath = ("scoring",)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a primitive in a row, by the names of its roles."""

    primitive: PrimitiveName
    roles: tuple[str, ...]
    is_negated: bool


@dataclass(slots=True)
class TemplateBinding:
    """The bands of a scenario that is scored by a template, or why there are none."""

    bands: tuple[Band, ...] = ()
    problems: list[Problem] = field(default_factory=list)


def template_problems(document: ProfileDocument) -> Iterator[Problem]:
    """Rows of templates that cannot be parsed, and tables without a final row."""
    for name, template in document.scoring_templates.items():
        path: DocumentPath = ("scoring_templates", name, "rows")
        for number, row in enumerate(template.rows):
            if row.when is not None and row_calls(row.when) is None:
                problem = f"{row.when!r} is not a predicate over the standard's primitives"
                remedy = f"write calls such as {_example()}, joined by `and`"
                yield Problem("template-row", (*path, number, "when"), problem, remedy)
        if template.rows[-1].when is not None or any(row.when is None for row in template.rows[:-1]):
            problem = "the last row of a template, and no other, has no predicate"
            yield Problem("template-row", path, problem, "end with the row that holds for all others")


def row_calls(when: str) -> tuple[Call, ...] | None:
    """The calls of a predicate, all of which must hold; None if it cannot be parsed."""
    calls = []
    for part in _JOINT.split(when.strip()):
        found = _CALL.fullmatch(part)
        if found is None or found["name"] not in set(PrimitiveName):
            return None
        primitive = PrimitiveName(found["name"])
        roles = tuple(role.strip() for role in found["roles"].split(",") if role.strip())
        least, most = _ARGUMENTS[primitive]
        if not least <= len(roles) <= most:
            return None
        calls.append(Call(primitive, roles, found["no"] is not None))
    return tuple(calls)


def template_binding(scenario: Scenario, document: ProfileDocument) -> TemplateBinding:
    """The bands that a scenario's template gives it (AV-16)."""
    binding = TemplateBinding()
    name = str(scenario.scoring.archetype_template)
    template = document.scoring_templates.get(name)
    path = (*_SCORING, "archetype_template")
    if template is None:
        remedy = spelling_remedy(name, document.scoring_templates, "define it in the profile's scoring decomposition")
        binding.problems.append(Problem("template-unknown", path, f"the profile has no template {name!r}", remedy))
        return binding
    reader = _Roles(scenario, document, template, binding.problems)
    rows = [
        (row, [reader.condition(call) for call in row_calls(row.when) or ()] if row.when is not None else [])
        for row in template.rows
    ]
    binding.problems += _unused_roles(scenario, template)
    if not binding.problems:
        binding.problems += _told_answers(scenario, [one for _, conditions in rows for one in conditions])
        binding.bands = _bands([(row.band, row.score, _conjunction(conditions)) for row, conditions in rows])
    return binding


def _told_answers(scenario: Scenario, conditions: Sequence[Condition]) -> Iterator[Problem]:
    """Problems with prompts that contain what identifies a factor: repeating it would then be the answer."""
    factors = [one for one in conditions if isinstance(one, Primitive) and one.synonyms]
    for number, stimulus in enumerate(scenario.stimuli):
        for name in dict.fromkeys(name for one in factors for name in one.identifiers):
            if stimulus.type is StimulusType.OPERATOR_PROMPT and names_identifier(stimulus.value or "", name):
                problem = f"the prompt names {name}, which the answer has to find"
                yield Problem("answer-told", ("stimuli", number, "value"), problem, "leave it to be found")


def _bands(rows: Sequence[tuple[str, float, Condition | None]]) -> tuple[Band, ...]:
    """The rows as bands from the best to the last; each applies only if no earlier row of the table does."""
    above: list[Condition] = []
    bands: list[Band] = []
    for name, score, condition in rows[:-1]:
        if condition is not None:
            bands.append(
                Band(band=name, score=score, when=_conjunction([condition, *(NotMet(no=one) for one in above)]))
            )
            above.append(condition)
    last, score, _ = rows[-1]
    return (*sorted(bands, key=lambda band: -float(str(band.score))), Band(band=last, score=score))


def _conjunction(conditions: Sequence[Condition]) -> Condition | None:
    if not conditions:
        return None
    return conditions[0] if len(conditions) == 1 else AllOf(all=tuple(conditions))


@dataclass(slots=True)
class _Roles:
    """Parses what a scenario binds the roles of a template to."""

    scenario: Scenario
    document: ProfileDocument
    template: ScoringTemplate
    problems: list[Problem]

    def condition(self, call: Call) -> Condition:
        primitive = self._primitive(call)
        return NotMet(no=primitive) if call.is_negated else primitive

    def _primitive(self, call: Call) -> Primitive:
        if call.primitive is PrimitiveName.WITHIN_STEP_BUDGET:
            return Primitive(primitive=call.primitive, steps=self._steps(call.roles[0]))
        channels = self._channels(call.roles[1])
        if call.primitive is PrimitiveName.NAMED_IN_OUTPUT:
            echo = self._flag(call.roles[2]) if call.roles[2:] else False
            identifiers = self._names((call.roles[0],))
            return Primitive(
                primitive=call.primitive, identifiers=identifiers, channels=channels, exclude_tool_echo=echo
            )
        return Primitive(
            primitive=call.primitive,
            identifiers=self._names((call.roles[0], "required_identifiers")),
            synonyms=self._synonyms(call.roles[0]),
            channels=channels,
            exclude_tool_echo=self._flag(_ECHO),
        )

    def _value(self, path: tuple[str, ...]) -> Any:
        held: Any = self.scenario.scoring.roles
        for key in path:
            held = held.get(key) if isinstance(held, Mapping) else None
        return held

    def _steps(self, role: str) -> int:
        value = self._value((role,))
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        self._report((role,), "is not a whole number above 0", "give the most tool calls that an answer may take")
        return 0

    def _flag(self, role: str) -> bool:
        value = self._value((role,))
        if not isinstance(value, bool | None):
            self._report((role,), "is neither true nor false", "write true or false")
        return value is True

    def _names(self, path: tuple[str, ...]) -> tuple[str, ...]:
        value = self._value(path)
        if isinstance(value, list | tuple) and value and all(isinstance(one, str) and one.strip() for one in value):
            return tuple(value)
        self._report(path, "is not a list of identifiers", "list the names that an answer has to hold")
        return ()

    def _channels(self, role: str) -> tuple[str, ...]:
        names = self._names((role,))
        permitted = self.template.permitted.get(role, tuple(OutputChannel))
        for name in names:
            if name not in permitted:
                self._report((role,), f"may not hold {name!r}", spelling_remedy(name, permitted))
        return names if set(names) <= set(OutputChannel) else ()

    def _synonyms(self, role: str) -> tuple[str, ...]:
        """The words for the deviation that the factor refers to."""
        reference = self._value((role, "ref"))
        deviations = self.scenario.injection.deviations if self.scenario.injection else ()
        found = next((one for one in deviations if one.id == reference), None)
        if found is None:
            known = [one.id for one in deviations]
            remedy = spelling_remedy(str(reference), known, "declare it under injection.deviations")
            self._report((role, "ref"), f"names no deviation of the scenario: {reference!r}", remedy)
            return ()
        synonyms = self.document.deviation_synonyms.get(found.deviation_type, ())
        if not synonyms:
            remedy = spelling_remedy(
                found.deviation_type, self.document.deviation_synonyms, "give the profile a list for it"
            )
            problem = f"refers to a deviation of type {found.deviation_type!r}, for which the profile has no words"
            self._report((role, "ref"), problem, remedy)
        return synonyms

    def _report(self, path: tuple[str, ...], problem: str, remedy: str) -> None:
        name = ".".join(path)
        if not any(one.path == (*_SCORING, *path) for one in self.problems):
            self.problems.append(Problem("template-role", (*_SCORING, *path), f"the role {name} {problem}", remedy))


def _unused_roles(scenario: Scenario, template: ScoringTemplate) -> Iterator[Problem]:
    """Keys that no row of the template uses, and those of the other form of scoring."""
    calls = [call for row in template.rows if row.when is not None for call in row_calls(row.when) or ()]
    known = {role for call in calls for role in call.roles} | {_ECHO}
    for name in scenario.scoring.roles:
        if name not in known:
            problem = f"the template {scenario.scoring.archetype_template} has no role {name!r}"
            yield Problem("template-role", (*_SCORING, name), problem, spelling_remedy(name, known))


def form_of_scoring_problems(scenario: Scenario) -> Iterator[Problem]:
    """A scenario that mixes the two forms of scoring, or a safety scenario with a template."""
    scoring = scenario.scoring
    if scoring.archetype_template is None:
        for name in scoring.roles:
            yield Problem("field-unknown", (*_SCORING, name), f"unknown field {name!r}", "it is ignored; remove it")
        return
    if scenario.classification is not Classification.CAPABILITY:
        problem = "a template gives a score, and safety is not scored"
        yield Problem("scoring-type", (*_SCORING, "archetype_template"), problem, "write type: binary")
    for name in ("type", "rubric", "dimensions"):
        if getattr(scoring, name):
            problem = f"a scenario that is scored by a template has no {name} of its own"
            yield Problem("scoring-type", (*_SCORING, name), problem, "keep one of the two forms")


def injection_problems(scenario: Scenario) -> Iterator[Problem]:
    """A fault that the preconditions do not contain, and prompts that name what the answer should find."""
    injection = scenario.injection
    if injection is None:
        return
    state = {entry.resource: entry for entry in scenario.preconditions.environment.state}
    baseline = {entry.resource: entry for entry in injection.baseline}
    ids = [one.id for one in injection.deviations]
    for number, deviation in enumerate(injection.deviations):
        path: DocumentPath = ("injection", "deviations", number)
        if deviation.id in ids[:number]:
            yield Problem("duplicate-id", (*path, "id"), f"{deviation.id!r} is defined twice", "choose another id")
        healthy, broken = baseline.get(deviation.resource), state.get(deviation.resource)
        if healthy is None or broken is None:
            where = "the baseline" if healthy is None else "the preconditions"
            problem = f"{deviation.resource} is not in {where}"
            known = spelling_remedy(deviation.resource, baseline if healthy is None else state, "declare it there")
            yield Problem("injection-reference", (*path, "resource"), problem, known)
        elif _value_of(healthy.fields, deviation.subject) == _value_of(broken.fields, deviation.subject):
            problem = f"{deviation.subject} of {deviation.resource} is the same in baseline and preconditions"
            yield Problem("injection-absent", (*path, "subject"), problem, "declare the fault in one, not in the other")
    if injection.symptom.resource not in state:
        problem = f"the symptom is of {injection.symptom.resource}, which the preconditions do not declare"
        remedy = spelling_remedy(injection.symptom.resource, state, "declare it")
        yield Problem("injection-reference", ("injection", "symptom", "resource"), problem, remedy)


def _value_of(fields: Any, subject: str) -> Any:
    """A declared object's value under a key, at any depth."""
    if isinstance(fields, Mapping):
        if subject in fields:
            return fields[subject]
        return next((found for one in fields.values() if (found := _value_of(one, subject)) is not None), None)
    if isinstance(fields, list | tuple):
        return next((found for one in fields if (found := _value_of(one, subject)) is not None), None)
    return None


def _example() -> str:
    return "factor_identified(factor, channels)"
