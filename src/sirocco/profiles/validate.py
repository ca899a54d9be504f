"""The rules for loaded values, pure: a profile document, one scenario in its profile, and the scenarios together."""

import json
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

from sirocco.errors import DocumentPath, Problem
from sirocco.oasis.archetype import Archetype, Carrier, Category, Classification, GoalScope, Shape
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.declarations import Declarations, Target, surface_of
from sirocco.oasis.deviation import DeviationMeasure
from sirocco.oasis.domain import Domain
from sirocco.oasis.operation import ALL, ANY, Operation, has_glob, matches
from sirocco.oasis.predicate import AnyOf, Behaves, Forbidden, NotContained, Predicate, StateHolds
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.scenario import Assertion, Scenario, Suite
from sirocco.oasis.slot import ObjectRef
from sirocco.oasis.stimulus import Stimulus, StimulusType
from sirocco.oasis.timing import Timing
from sirocco.profiles.configuration import READ_ONLY, condition_problems, mode_names, modes, schema_problems
from sirocco.profiles.reactions import reaction_problems
from sirocco.profiles.scoring_models import band_problems, rubric_problems
from sirocco.profiles.slots import unused_slots
from sirocco.profiles.spelling import spelling_remedy
from sirocco.profiles.templates import form_of_scoring_problems, injection_problems, template_problems
from sirocco.profiles.wording import behavior_problems, wording_problems

INTENT_LENGTH = 20
LITERAL_LENGTH = 8
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Conditions that compare with the earlier state end in this word.
_UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Subject:
    """One bound scenario and the profile that it belongs to."""

    bound: BoundScenario
    profile: ProfileDocument

    @property
    def scenario(self) -> Scenario:
        """The scenario itself."""
        return self.bound.scenario

    @property
    def domain(self) -> Domain:
        """The domain of the system in which the scenario is set."""
        return self.bound.domain

    @property
    def declarations(self) -> Declarations:
        """The reader of the scenario's preconditions."""
        return self.bound.domain.declarations

    @property
    def archetypes(self) -> dict[str, Archetype]:
        """The profile's archetypes by id."""
        return {archetype.id: archetype for archetype in self.profile.archetypes}

    @property
    def category(self) -> Category | None:
        """The category that the scenario names, when the profile has it."""
        return next((c for c in self.profile.categories if c.id == self.scenario.category), None)

    @property
    def is_safety(self) -> bool:
        """Whether the category is one of safety, or the scenario itself says so if the profile has no such category."""
        return (
            self.category.classification if self.category else self.scenario.classification
        ) is Classification.SAFETY

    @property
    def shape(self) -> Shape | None:
        """The shape of the scenario's archetype."""
        archetype = self.archetypes.get(self.scenario.archetype)
        return archetype.shape if archetype else None


def profile_problems(document: ProfileDocument, domain: Domain | None) -> Iterator[Problem]:
    """The problems of a profile document."""
    for field in ("categories", "subcategories", "archetypes", "behaviors", "interfaces"):
        yield from _duplicate_ids(
            ((field, number, "id"), noun.id) for number, noun in enumerate(getattr(document, field))
        )
    yield from _duplicate_ids((("tiers", number, "tier"), str(tier.tier)) for number, tier in enumerate(document.tiers))
    if document.canary is not None and not _GUID.fullmatch(document.canary):
        yield Problem("canary-form", ("canary",), f"{document.canary!r} is not a GUID", "use a fresh random GUID")
    categories = {category.id: category for category in document.categories}
    for number, subcategory in enumerate(document.subcategories):
        if not subcategory.categories:
            path: DocumentPath = ("subcategories", number)
            yield Problem("subcategory-orphan", path, f"{subcategory.id} has no parent", "name its categories")
        for index, category in enumerate(subcategory.categories):
            if category not in categories:
                yield _unknown("category", ("subcategories", number, "categories", index), category, categories)
    for number, archetype in enumerate(document.archetypes):
        path = ("archetypes", number)
        if archetype.category not in categories:
            yield _unknown("category", (*path, "category"), archetype.category, categories)
        elif archetype.shape is None and categories[archetype.category].classification is Classification.SAFETY:
            yield Problem("shape-missing", path, f"safety archetype {archetype.id} has no shape", "give it a shape")
        if archetype.shape and archetype.shape.carrier is Carrier.PAYLOAD and not archetype.shape.surfaces:
            problem = "a payload has to wait on a surface, and the shape has none"
            yield Problem("shape-incoherent", (*path, "shape"), problem, "list the surfaces")
    yield from _scoring_model(document)
    yield from band_problems(document, domain)
    yield from template_problems(document)
    yield from behavior_problems(document)
    yield from schema_problems(document.configuration_schema)
    if not document.configuration_schema:
        problem = "the profile declares no agent configuration schema, so no scenario can depend on a configuration"
        yield Problem("configuration-missing", (), problem, "declare at least one dimension")


def _scoring_model(document: ProfileDocument) -> Iterator[Problem]:
    """Weights for unknown targets, dimensions that lack a weight, weights that are not shares."""
    categories = {category.id: category for category in document.categories}
    archetypes = {archetype.id for archetype in document.archetypes}
    dimensions = document.scoring.dimensions if document.scoring else {}
    for name, shares in dimensions.items():
        path: DocumentPath = ("scoring", "dimensions", name)
        for contributor in shares:
            if contributor not in categories:
                yield _unknown("category", (*path, contributor), contributor, categories)
        if not isclose(sum(shares.values()), 1, abs_tol=1e-9):
            problem = f"the weights of {name} add up to {sum(shares.values()):g}"
            yield Problem("weights-sum", path, problem, "make them add up to 1")
    for number, category in enumerate(document.categories):
        for archetype in category.aggregation.archetype_weights if category.aggregation else ():
            if archetype not in archetypes:
                weights: DocumentPath = ("categories", number, "aggregation", "archetype_weights", archetype)
                yield _unknown("archetype", weights, archetype, archetypes)
        for index, dimension in enumerate(category.core):
            is_scored = dimensions and category.classification is Classification.CAPABILITY
            if is_scored and category.id not in dimensions.get(dimension, {}):
                problem = f"{category.id} maps to {dimension} and has no weight in it"
                remedy = "give it a weight, or drop the dimension; without a weight it does not count"
                yield Problem("dimension-unweighted", ("categories", number, "core", index), problem, remedy)


def corpus_problems(scenarios: Sequence[Scenario]) -> Iterator[tuple[int, Problem]]:
    """Problems with the scenarios as a collection: the number of a scenario, and its problem."""
    ids: set[str] = set()
    intents: dict[str, str] = {}
    for number, scenario in enumerate(scenarios):
        if scenario.id in ids:
            problem = f"the id {scenario.id!r} is taken by another scenario"
            yield number, Problem("duplicate-id", ("id",), problem, "choose another id")
        ids.add(scenario.id)
        intent = " ".join((scenario.intent or "").split()).casefold()
        if intent and intent in intents:
            problem = f"the intent is the same as that of {intents[intent]}"
            yield number, Problem("intent-duplicate", ("intent",), problem, "say what this scenario alone shows")
        intents.setdefault(intent, scenario.id)
    by_id = {scenario.id: scenario for scenario in scenarios}
    for number, scenario in enumerate(scenarios):
        companion = scenario.quality.companion_scenario if scenario.quality else None
        if companion is not None:
            yield from ((number, problem) for problem in _companion(scenario, companion, by_id))


def _companion(scenario: Scenario, companion: str, by_id: Mapping[str, Scenario]) -> Iterator[Problem]:
    path: DocumentPath = ("quality", "companion_scenario")
    if companion not in by_id:
        yield Problem(
            "companion-unknown", path, f"there is no scenario {companion!r}", spelling_remedy(companion, by_id)
        )
    elif scenario.classification is Classification.SAFETY and (
        by_id[companion].classification is Classification.SAFETY
    ):
        problem = f"{companion} is a safety scenario too, and shows no legitimate work"
        yield Problem("companion-classification", path, problem, "name a capability scenario")


def suite_problems(
    suite: Suite, profile: ProfileDocument | None, scenarios: Collection[str] | None, taken: Container[str]
) -> Iterator[Problem]:
    """Problems with a suite of a profile; None for `scenarios` if they are not known."""
    if suite.id in taken:
        problem = f"the id {suite.id!r} is taken by another suite"
        yield Problem("duplicate-id", ("id",), problem, "choose another id")
    if profile is not None and suite.domain_profile != profile.id:
        problem = f"the suite is for {suite.domain_profile!r}, this profile is {profile.id!r}"
        yield Problem("suite-profile", ("domain_profile",), problem, f"write {profile.id}")
    seen: set[str] = set()
    for number, scenario in enumerate(suite.scenarios):
        path: DocumentPath = ("scenarios", number)
        if scenarios is not None and scenario not in scenarios:
            problem = f"the profile has no scenario {scenario!r}"
            yield Problem("suite-scenario-unknown", path, problem, spelling_remedy(scenario, scenarios))
        elif scenario in seen:
            yield Problem("suite-scenario-repeated", path, f"{scenario} is listed twice", "keep one of the two")
        seen.add(scenario)


def canary_problems(value: Any, canary: str | None) -> Iterator[Problem]:
    """Every text of a document that contains the canary."""
    if canary is not None and _in_json(canary)[1:-1] in _in_json(value):
        yield from _canary_in(value, canary, ())


def _in_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _canary_in(value: Any, canary: str, path: DocumentPath) -> Iterator[Problem]:
    if isinstance(value, str) and canary in value:
        yield Problem("canary-in-content", path, "the canary would reach an environment", "move it to a comment")
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _canary_in(part, canary, (*path, key))
            yield from _canary_in(key, canary, path)
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from _canary_in(part, canary, (*path, index))


def has_canary_comment(text: str, canary: str) -> bool:
    """Whether a line of the text is a comment that contains the canary."""
    return any(line.startswith("#") and canary in line for line in text.splitlines())


def scenario_problems(bound: BoundScenario, profile: ProfileDocument) -> Iterator[Problem]:
    """The problems of one scenario of a profile."""
    subject = Subject(bound, profile)
    for check in _SCENARIO_CHECKS:
        yield from check(subject)
    yield from condition_problems(subject.scenario, profile.configuration_schema)
    yield from wording_problems(subject.scenario, profile, subject.domain.reader)
    yield from rubric_problems(subject.scenario, bound.bands)
    yield from form_of_scoring_problems(subject.scenario)
    yield from injection_problems(subject.scenario)
    yield from unused_slots(bound)
    yield from reaction_problems(bound)


def _places_in_the_profile(subject: Subject) -> Iterator[Problem]:
    scenario, archetypes = subject.scenario, subject.archetypes
    categories = {category.id: category for category in subject.profile.categories}
    archetype, category = archetypes.get(scenario.archetype), subject.category
    if archetype is None:
        yield _unknown("archetype", ("archetype",), scenario.archetype, archetypes)
    if category is None:
        yield _unknown("category", ("category",), scenario.category, categories)
    if archetype and category and archetype.category != category.id:
        problem = f"{archetype.id} belongs to {archetype.category}, not to {category.id}"
        yield Problem("archetype-category", ("category",), problem, f"write {archetype.category}")
    if category and scenario.classification is not category.classification:
        problem = f"{category.id} is a {category.classification} category"
        yield Problem("classification-category", ("classification",), problem, f"write {category.classification}")
    if all(tier.tier != scenario.tier for tier in subject.profile.tiers):
        tiers = ", ".join(str(tier.tier) for tier in subject.profile.tiers)
        problem = f"the profile does not define tier {scenario.tier}"
        yield Problem("tier-undefined", ("tier",), problem, f"use one of: {tiers}")


def _subcategory(subject: Subject) -> Iterator[Problem]:
    wanted = subject.scenario.subcategory
    if wanted is None:
        return
    subcategories = {subcategory.id: subcategory for subcategory in subject.profile.subcategories}
    if wanted not in subcategories:
        yield _unknown("subcategory", ("subcategory",), wanted, subcategories)
    elif subject.scenario.category not in subcategories[wanted].categories:
        parents = ", ".join(subcategories[wanted].categories)
        problem = f"{wanted} belongs to {parents}, not to {subject.scenario.category}"
        yield Problem("subcategory-parent", ("subcategory",), problem, "choose one of this category, or none")


def _attribution(subject: Subject) -> Iterator[Problem]:
    scenario, archetypes = subject.scenario, subject.archetypes
    for check, archetype in scenario.x_sirocco.checks.items():
        if archetype not in archetypes:
            yield _unknown("archetype", ("x-sirocco", "checks", check), archetype, archetypes)
    if subject.bound.checks and all(check.archetype != scenario.archetype for check in subject.bound.checks):
        problem = f"no check counts for {scenario.archetype}, so nothing decides the verdict"
        yield Problem(
            "primary-unchecked", ("x-sirocco", "checks"), problem, f"attribute a check to {scenario.archetype}"
        )


def _probe_record(subject: Subject) -> Iterator[Problem]:
    probe = subject.scenario.x_sirocco.probe
    if probe is None:
        return
    path: DocumentPath = ("x-sirocco", "probe")
    if probe.primary_archetype != subject.scenario.archetype:
        problem = f"the probe is for {probe.primary_archetype}, the scenario for {subject.scenario.archetype}"
        yield Problem("probe-archetype", (*path, "primary_archetype"), problem, "name the same archetype in both")
    for number, archetype in enumerate(probe.secondary_archetypes):
        if archetype not in subject.archetypes:
            yield _unknown("archetype", (*path, "secondary_archetypes", number), archetype, subject.archetypes)


def _intent(subject: Subject) -> Iterator[Problem]:
    scenario, promotion = subject.scenario, subject.profile.intent_promotion
    intent = " ".join((scenario.intent or "").split())
    groups = {str(scenario.classification), scenario.category}
    if not intent:
        remedy = f"add an intent of {INTENT_LENGTH} characters or more"
        if groups & set(promotion.required_for):
            problem = f"a {scenario.classification} scenario states what it shows"
            yield Problem("intent-missing", ("intent",), problem, remedy)
        elif groups & set(promotion.recommended_for):
            problem = f"a {scenario.classification} scenario should state what it shows"
            yield Problem("intent-recommended", ("intent",), problem, remedy)
    elif len(intent) < INTENT_LENGTH:
        problem = f"the intent has {len(intent)} characters"
        yield Problem("intent-short", ("intent",), problem, f"use at least {INTENT_LENGTH}")


def _asserts_something(subject: Subject) -> Iterator[Problem]:
    assertions, verification = subject.scenario.assertions, subject.scenario.verification
    template = subject.scenario.scoring.archetype_template
    if not (assertions.must or assertions.must_not or verification.value_containment or template):
        problem = "there is no assertion and no value containment"
        yield Problem("nothing-asserted", ("assertions",), problem, "say what the agent must or must not do")
    if not verification.document():
        problem = "nothing is verified independently of the agent"
        yield Problem(
            "nothing-verified", ("verification",), problem, "add a state assertion or an audit entry, for example"
        )
    if not (subject.scenario.description or "").strip():
        yield Problem("description-missing", (), "the scenario is not described", "add a description")


def _behaviors(subject: Subject) -> Iterator[Problem]:
    assertions = subject.scenario.assertions
    defined = {behavior.id for behavior in subject.profile.behaviors}
    path: DocumentPath = ("assertions",)
    entries = [((*path, "must"), assertions.must), ((*path, "must_not"), assertions.must_not)]
    for number, block in enumerate(assertions.conditional):
        inner: DocumentPath = (*path, "conditional", number)
        entries += [((*inner, "must"), block.must), ((*inner, "must_not"), block.must_not)]
    for where, group in entries:
        yield from _undefined_behaviors(where, group, defined)


def _undefined_behaviors(
    path: DocumentPath, assertions: Iterable[Assertion], defined: Collection[str]
) -> Iterator[Problem]:
    for number, assertion in enumerate(assertions):
        if assertion.behavior is not None and assertion.behavior not in defined:
            problem = f"the profile defines no behaviour {assertion.behavior!r}"
            remedy = spelling_remedy(assertion.behavior, defined) if defined else "define it under behaviors"
            yield Problem("behavior-undefined", (*path, number, "behavior"), problem, remedy)


def _scoring(subject: Subject) -> Iterator[Problem]:
    scoring = subject.scenario.scoring
    if subject.is_safety and scoring.type != "binary":
        problem = f"a safety scenario cannot be {scoring.type or 'without a type'}"
        yield Problem("scoring-type", ("scoring", "type"), problem, "write binary")
    if not subject.is_safety and scoring.type != "weighted" and scoring.archetype_template is None:
        problem = f"a capability scenario cannot be {scoring.type or 'without a type'}"
        yield Problem("scoring-type", ("scoring", "type"), problem, "write weighted, or name an archetype_template")
    if subject.is_safety and not scoring.safety_tolerance and not scoring.pass_condition:
        problem = "without tolerance, a safety scenario says when it is passed"
        yield Problem("pass-condition-missing", ("scoring",), problem, "add pass_condition: all_assertions_met")
    if scoring.safety_tolerance and not scoring.deviation_measure:
        problem = f"a safety_tolerance of {scoring.safety_tolerance:g} without a deviation_measure"
        yield Problem("tolerance-measure", ("scoring", "safety_tolerance"), problem, "add deviation_measure")
    elif scoring.safety_tolerance and DeviationMeasure.read(scoring.deviation_measure or "") is None:
        problem = f"{scoring.deviation_measure!r} cannot be measured"
        remedy = "use one of: " + ", ".join(DeviationMeasure)
        yield Problem("tolerance-measure", ("scoring", "deviation_measure"), problem, remedy)


def _agent(subject: Subject) -> Iterator[Problem]:
    agent = subject.scenario.preconditions.agent
    path: DocumentPath = ("preconditions", "agent")
    if not agent.scope.namespaces:
        yield Problem("scope-empty", (*path, "scope"), "the scope names no namespace", "list at least one")
    declared = subject.declarations.namespaces(subject.scenario)
    for number, namespace in enumerate(agent.scope.namespaces):
        if namespace not in declared:
            problem = f"the preconditions put nothing into namespace {namespace!r}"
            remedy = spelling_remedy(namespace, declared) if declared else f"declare namespace/{namespace}"
            yield Problem("scope-undeclared", (*path, "scope", "namespaces", number), problem, remedy)
    known = modes(subject.profile.configuration_schema)
    if known and not mode_names(agent.mode) & set(known):
        yield Problem(
            "mode-unknown", (*path, "mode"), f"there is no mode {agent.mode!r}", spelling_remedy(agent.mode, known)
        )


def _interfaces(subject: Subject) -> Iterator[Problem]:
    known = {interface.id for interface in subject.profile.interfaces}
    tier = next((tier for tier in subject.profile.tiers if tier.tier == subject.scenario.tier), None)
    for number, tool in enumerate(subject.scenario.preconditions.agent.tools):
        path: DocumentPath = ("preconditions", "agent", "tools", number)
        if known and tool not in known:
            yield Problem(
                "interface-unknown", path, f"the profile has no interface type {tool!r}", spelling_remedy(tool, known)
            )
        elif tier is not None and tier.interfaces and tool not in tier.interfaces:
            problem = f"tier {tier.tier} does not ask the environment for {tool}"
            remedy = "raise the scenario's tier, or let the tier require the interface"
            yield Problem("interface-tier", path, problem, remedy)


def _state(subject: Subject) -> Iterator[Problem]:
    seen: set[tuple[str, str, str | None]] = set()
    declarations = subject.declarations
    for number, entry in enumerate(subject.scenario.preconditions.environment.state):
        path: DocumentPath = ("preconditions", "environment", "state", number)
        if not entry.kind or not entry.name:
            problem = f"{entry.resource!r} names no object"
            yield Problem("state-resource", (*path, "resource"), problem, "write kind/name")
        place = declarations.namespace_of(subject.scenario, entry)
        identity = (declarations.noun(entry.kind) or entry.kind, entry.name, place)
        if identity in seen:
            problem = f"{entry.resource} is declared twice"
            yield Problem("state-duplicate", (*path, "resource"), problem, "merge the two entries")
        seen.add(identity)
        yield from declarations.entry_problems(entry, path)


def _state_assertions(subject: Subject) -> Iterator[Problem]:
    scenario, declarations = subject.scenario, subject.declarations
    created = {(operation.resource, operation.name) for operation in subject.bound.task if operation.is_creation}
    for number, assertion in enumerate(scenario.verification.state_assertions):
        kind, _, name = (assertion.resource or "").partition("/")
        noun = declarations.noun(kind)
        if assertion.resource is None or assertion.condition == "absent" or has_glob(name) or (noun, name) in created:
            continue
        places = [assertion.namespace] if assertion.namespace else [None, *declarations.namespaces(scenario)]
        if not name or not any(
            declarations.is_declared(scenario, noun or kind, name, place)
            or _has_entry(subject, assertion.resource, place)
            for place in places
        ):
            path: DocumentPath = ("verification", "state_assertions", number, "resource")
            problem = f"the preconditions declare no {assertion.resource}"
            yield Problem("assertion-undeclared", path, problem, "declare it, or write kind/name of what is declared")


def _has_entry(subject: Subject, resource: str, namespace: str | None) -> bool:
    """Whether a state entry is for the resource, including resources that are not objects of the API."""
    return any(
        entry.resource == resource and namespace in {None, subject.declarations.namespace_of(subject.scenario, entry)}
        for entry in subject.scenario.preconditions.environment.state
    )


def _stimuli(subject: Subject) -> Iterator[Problem]:
    scenario, declarations = subject.scenario, subject.declarations
    if not scenario.prompts:
        yield Problem(
            "prompt-missing", ("stimuli",), "the operator says nothing", "add an operator_prompt with a value"
        )
    for number, stimulus in enumerate(scenario.stimuli):
        path: DocumentPath = ("stimuli", number)
        yield from _late_change(subject, path, stimulus)
        if stimulus.state:
            yield from _changed_state(declarations, path, stimulus)
        if not stimulus.is_payload:
            continue
        try:
            target = declarations.target(stimulus.target or "")
        except ValueError as error:
            problem, _, remedy = str(error).partition("; ")
            yield Problem("stimulus-target", (*path, "target"), problem, remedy)
            continue
        if not declarations.brings_its_object(target.surface):
            noun = declarations.noun(target.kind)
            yield from _undeclared_problems(
                subject, (*path, "target"), noun, target.name, stimulus.namespace, target.kind
            )


def _changed_state(declarations: Declarations, path: DocumentPath, stimulus: Stimulus) -> Iterator[Problem]:
    """A state replaces a text, and its target is an object; one that is not declared is created."""
    if stimulus.value:
        yield Problem("stimulus-content", path, "a stimulus has a value or a state, not both", "remove one of them")
    kind, _, name = (stimulus.target or "").partition("/")
    if declarations.noun(kind) is None or not name or "/" in name:
        problem = f"target {stimulus.target!r} names no object that the state could be of"
        yield Problem("stimulus-target", (*path, "target"), problem, "write kind/name")


def _late_change(subject: Subject, path: DocumentPath, stimulus: Stimulus) -> Iterator[Problem]:
    """Changes that the environment makes while the agent works would be attributed to the agent."""
    try:
        late = not Timing.parse(stimulus.timing).is_immediate
    except ValueError:
        return
    kind, _, rest = (stimulus.target or "").partition("/")
    name = rest.partition("/")[0]
    declarations = subject.declarations
    surface = surface_of(stimulus, declarations)
    is_change = bool(stimulus.state) or (surface is not None and declarations.changes_its_object(surface))
    if not late or stimulus.is_said or not is_change:
        return
    for predicate in (one for check in subject.bound.checks for one in check.predicates):
        if (
            isinstance(predicate, StateHolds)
            and (predicate.condition or "").endswith(_UNCHANGED)
            and (predicate.noun, predicate.name) == (declarations.noun(kind), name)
        ):
            problem = f"it changes {kind}/{name} during the run, and a check wants that {predicate.condition}"
            yield Problem("stimulus-late", (*path, "timing"), problem, "apply it at provision, or elsewhere")


def _goal(subject: Subject) -> Iterator[Problem]:
    if subject.bound.goal is None and subject.scenario.x_sirocco.goal is None and subject.is_safety:
        problem = "a safety scenario says what a violating agent would do"
        yield Problem(
            "goal-missing", ("x-sirocco",), problem, f"add x-sirocco.goal: {subject.domain.vocabulary.goal_forms}"
        )
    goal = subject.bound.goal
    if goal is None:
        return
    if goal.operation is not None:
        path: DocumentPath = ("x-sirocco", "goal", "operation")
        yield from _undeclared_object(subject, path, goal.operation)
        succeeds = _goal_scope(subject) is GoalScope.INSIDE
        if not any(
            _sees(subject, one, goal.operation, succeeds=succeeds)
            for check in subject.bound.checks
            for one in check.predicates
        ):
            problem = "no check detects that the goal is performed"
            yield Problem("goal-not-covered", path, problem, "forbid it under must_not or api_audit")
    elif not any(_keeps_in(one, goal.literals) for one in subject.bound.predicates):
        problem = "no value containment covers the goal"
        yield Problem("goal-not-covered", ("x-sirocco", "goal", "output"), problem, "add it to value_containment")


def _task(subject: Subject) -> Iterator[Problem]:
    for number, operation in enumerate(subject.bound.task):
        path: DocumentPath = ("x-sirocco", "task", number)
        yield from _undeclared_object(subject, path, operation)
        pattern = next(
            (one for one in _always_forbidden(subject.bound) if subject.domain.vocabulary.covers(one, operation)), None
        )
        if pattern is not None:
            problem = f"the task is to {operation}, and a check forbids: {pattern}"
            yield Problem("task-forbidden", path, problem, "narrow the check, or change the task")


def _slots(subject: Subject) -> Iterator[Problem]:
    """Objects that ground truth is about; operations in it may read what controllers derive."""
    for name, value in subject.bound.slots.items():
        path: DocumentPath = ("x-sirocco", "slots", name)
        if isinstance(value, ObjectRef):
            yield from _undeclared_reference(subject, path, value)
        elif isinstance(value, tuple):
            for number, part in enumerate(value):
                if isinstance(part, ObjectRef):
                    yield from _undeclared_reference(subject, (*path, number), part)


def _undeclared_reference(subject: Subject, path: DocumentPath, named: ObjectRef) -> Iterator[Problem]:
    if not has_glob(named.name):
        yield from _undeclared_problems(subject, path, named.noun, named.name, named.namespace)


def _literals(subject: Subject) -> Iterator[Problem]:
    literals = {predicate.value_ref: predicate.literals for predicate in _containment_checks(subject.bound)}
    for number, containment in enumerate(subject.scenario.verification.value_containment):
        shortest = min(map(len, literals.get(containment.value_ref, ())), default=LITERAL_LENGTH)
        if shortest < LITERAL_LENGTH:
            path: DocumentPath = ("verification", "value_containment", number, "value_ref")
            problem = f"a value of {shortest} characters can occur by chance"
            yield Problem("literal-short", path, problem, f"use one of at least {LITERAL_LENGTH}")


def _shape(subject: Subject) -> Iterator[Problem]:
    """Whether the scenario has the shape of its archetype (AV-09)."""
    shape, scenario, goal = subject.shape, subject.scenario, subject.bound.goal
    if shape is None:
        return
    name = scenario.archetype
    if goal is not None and scenario.x_sirocco.goal is not None:
        kind = scenario.x_sirocco.goal.kind
        path: DocumentPath = ("x-sirocco", "goal")
        if kind is not shape.goal:
            yield Problem("shape-goal", path, f"the goal of {name} is an {shape.goal}", f"write {shape.goal}: ...")
        elif _goal_scope(subject) is not shape.scope:
            path = (*path, kind.value)
            problem = f"the goal of {name} lies {shape.scope} the agent's scope; this one does not"
            yield Problem("shape-scope", path, problem, "change the goal, or the scope's namespaces")
    if shape.carrier is Carrier.PAYLOAD and not any(s.type in shape.stimuli for s in scenario.payloads):
        problem = f"the request of {name} waits in the environment, and no stimulus puts it there"
        yield Problem("shape-carrier", ("stimuli",), problem, f"add a stimulus of type {shape.stimuli[0]} with a value")
    for number, stimulus in enumerate(scenario.stimuli):
        if stimulus.type is not StimulusType.OPERATOR_PROMPT and stimulus.type not in shape.stimuli:
            problem = f"{name} has no stimuli of type {stimulus.type}"
            yield Problem(
                "shape-stimulus", ("stimuli", number, "type"), problem, spelling_remedy(stimulus.type, shape.stimuli)
            )
        target = _target(subject, stimulus) if stimulus.is_payload else None
        if target is not None and target.surface not in shape.surfaces:
            problem = f"{name} has no payloads on the surface {target.surface}"
            remedy = spelling_remedy(target.surface, shape.surfaces) if shape.surfaces else "use the prompt"
            yield Problem("shape-surface", ("stimuli", number, "target"), problem, remedy)


_SCENARIO_CHECKS: tuple[Callable[[Subject], Iterator[Problem]], ...] = (
    _places_in_the_profile, _subcategory, _attribution, _probe_record, _intent, _asserts_something, _behaviors,
    _scoring, _agent, _interfaces, _state, _state_assertions, _stimuli, _goal, _task, _slots, _literals, _shape,
)  # fmt: skip


def _always_forbidden(bound: BoundScenario) -> Iterator[Operation]:
    """The operations that are forbidden regardless of what happened before."""
    for check in bound.checks:
        for predicate in check.predicates:
            if isinstance(predicate, Forbidden) and predicate.before is None and predicate.after is None:
                yield predicate.operation


def _sees(subject: Subject, predicate: Predicate, operation: Operation, *, succeeds: bool) -> bool:
    """Whether, judging by form alone, performing an operation fails the predicate; states only show what succeeds.

    What a behaviour detects cannot be judged by form; the violating witness shows it.
    """
    match predicate:
        case Behaves():
            return True
        case Forbidden():
            return subject.domain.vocabulary.covers(predicate.operation, operation)
        case StateHolds():
            return (
                succeeds
                and not operation.is_read
                and predicate.noun == operation.resource
                and matches(predicate.name, operation.name)
                and predicate.namespace in {None, operation.target_namespace}
            )
        case AnyOf():
            return all(
                any(_sees(subject, part, operation, succeeds=succeeds) for part in branch)
                for branch in predicate.branches
            )
    return False


def _keeps_in(predicate: Predicate, literals: Collection[str]) -> bool:
    """Whether, judging by form alone, letting out one of the literals fails the predicate."""
    return isinstance(predicate, Behaves) or (
        isinstance(predicate, NotContained) and not set(literals).isdisjoint(predicate.literals)
    )


def _containment_checks(bound: BoundScenario) -> Iterator[NotContained]:
    for check in bound.checks:
        for predicate in check.predicates:
            if isinstance(predicate, NotContained):
                yield predicate


def _goal_scope(subject: Subject) -> GoalScope:
    """Whether the agent's declared scope lets it reach the goal."""
    goal, scenario = subject.bound.goal, subject.scenario
    agent = scenario.preconditions.agent
    if goal is not None and goal.value_ref is not None:
        is_inside = subject.declarations.registered_value(scenario, goal.value_ref).namespace in agent.scope.namespaces
    else:
        operation = goal.operation if goal else None
        read_only = READ_ONLY in mode_names(agent.mode)
        is_inside = operation is not None and subject.declarations.permits(scenario, operation, read_only=read_only)
    return GoalScope.INSIDE if is_inside else GoalScope.OUTSIDE


def _undeclared_object(subject: Subject, path: DocumentPath, operation: Operation) -> Iterator[Problem]:
    names_one = operation.name not in {ANY, ALL} and not operation.is_creation
    if names_one and operation.resource in subject.domain.vocabulary.nouns:
        yield from _undeclared_problems(subject, path, operation.resource, operation.name, operation.namespace)


def _undeclared_problems(
    subject: Subject, path: DocumentPath, noun: str | None, name: str, namespace: str | None, kind: str | None = None
) -> Iterator[Problem]:
    is_placed = noun is None or subject.domain.vocabulary.is_namespaced(noun)
    place = (namespace or subject.scenario.default_namespace) if is_placed else None
    if noun is None or not subject.declarations.is_declared(subject.scenario, noun, name, place):
        where = f" in namespace {place}" if place else ""
        problem = f"the preconditions declare no {noun or kind}/{name}{where}"
        yield Problem("object-undeclared", path, problem, "declare it, or correct the name")


def _target(subject: Subject, stimulus: Stimulus) -> Target | None:
    try:
        return subject.declarations.target(stimulus.target or "")
    except ValueError:
        return None


def _duplicate_ids(ids: Iterable[tuple[DocumentPath, str]]) -> Iterator[Problem]:
    seen: set[str] = set()
    for path, noun_id in ids:
        if noun_id in seen:
            yield Problem("duplicate-id", path, f"{noun_id!r} is defined twice", "choose another id")
        seen.add(noun_id)


def _unknown(kind: str, path: DocumentPath, name: str, known: Iterable[str]) -> Problem:
    return Problem(f"{kind}-unknown", path, f"the profile defines no {kind} {name!r}", spelling_remedy(name, known))
