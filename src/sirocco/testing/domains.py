"""The contract of domains as a test class to inherit: what the layers above rely on, whatever the system is.

    from sirocco.testing.domains import DomainContract

    class TestOurs(DomainContract):
        def domain(self):
            return OURS

        def denied_deed(self, profile):
            return Denied(id of a scenario of the profile, an operation that its agent's account may not perform)

The tests run in environments of the domain's own provider, on scenarios of a profile that comes with the domain.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from sirocco.evaluation.containment import distinct_strings
from sirocco.oasis.agent import Agent, AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.deed import Deed
from sirocco.oasis.domain import Domain
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import Forbidden, Required
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Provider, ProvisionRequest
from sirocco.oasis.scenario import Goal, Scenario
from sirocco.oasis.scenario_draft import ScenarioDraft, StimulusDraft
from sirocco.oasis.stimulus import StimulusType, Surface
from sirocco.oasis.work import Reply
from sirocco.probes.mutation.rename import rename
from sirocco.profiles.load import load_profile, load_scenario
from sirocco.runner.scenario_run import RunSettings, scenario_run
from sirocco.runner.witnessing import Witnesses, WitnessReport

_SEED = 0x5F3A
_NOW = "2026-01-01T00:00:00Z"
_EVERYTHING = "* *"
_MARK = "the seventh heron sleeps under the copper bell"


@dataclass(frozen=True, slots=True)
class Denied:
    """A scenario in which the environment refuses an operation to the agent."""

    scenario: str
    operation: str


class DomainContract:
    """Inherit this and define `domain` and `denied_deed`; override the rest where a domain differs."""

    wordings = 30
    """How often each goal is put into words: enough for every wording to come up."""

    def domain(self) -> Domain:
        """The domain."""
        raise NotImplementedError

    def denied_deed(self, profile: Profile) -> Denied:
        """An operation that the agent's account may not perform in one of the scenarios."""
        raise NotImplementedError

    def profile(self) -> Profile:
        """The profile to test with: the first that comes with the domain."""
        domain = self.domain()
        loaded = load_profile(Path(next(iter(domain.profiles.values()))), lambda _: domain).profile
        assert loaded is not None, "the domain's own profile does not load"
        return loaded

    def scenarios(self, profile: Profile) -> Sequence[BoundScenario]:
        """The scenarios to run: the first of each archetype."""
        first: dict[str, BoundScenario] = {}
        for bound in profile.scenarios:
            first.setdefault(bound.scenario.archetype, bound)
        return tuple(first.values())

    def is_recognizable(self, operation: Operation) -> bool:  # noqa: ARG002 - unless a domain says otherwise
        """Whether the record can tell the operation from others once performed; a domain must justify false."""
        return True

    def provider(self, profile: Profile) -> Provider:
        """The provider to run the scenarios with: the first of the domain's own."""
        local = next(iter(self.domain().providers.values()))
        return local.in_process_provider({profile.document.id: profile.document.version}, lambda: _NOW)

    # Words

    def test_an_operation_prints_as_it_is_read(self) -> None:
        """An operation and its text convert into each other without loss."""
        vocabulary = self.domain().vocabulary
        found = {str(operation) for bound in self.profile().scenarios for operation in _operations(bound)}
        assert found, "no scenario names an operation"
        assert {text: str(vocabulary.operation(text)) for text in found} == {text: text for text in found}

    def test_an_operation_is_covered_by_itself_and_by_everything(self) -> None:
        """AV-09: what a scenario forbids is matched against goals by form."""
        vocabulary = self.domain().vocabulary
        everything = vocabulary.operation(_EVERYTHING)
        for operation in (one for bound in self.profile().scenarios for one in _operations(bound)):
            assert vocabulary.covers(operation, operation), operation
            assert vocabulary.covers(everything, operation), operation

    def test_types_are_known_by_their_nouns(self) -> None:
        """A state entry may use any noun of the vocabulary for its object, but no unknown word."""
        nouns, declarations = self.domain().vocabulary.nouns, self.domain().declarations
        assert [declarations.noun(noun) for noun in nouns] == list(nouns)
        assert declarations.noun("no-such-type-at-all") is None

    def test_witnesses_can_speak_of_what_rests_on_words_and_of_nothing_else(self) -> None:
        """SI-01: every behaviour that rests on words has phrases, and no other behaviour does."""
        spoken = {name for name, behavior in self.domain().behaviors.items() if behavior.rests_on_words}
        assert self.domain().phrases.keys() == spoken

    # Deeds

    def test_what_is_performed_is_found_in_the_record(self) -> None:
        """SI-01, AV-14: witnesses perform what checks look for."""
        profile = self.profile()
        record = self.domain().record
        for bound in self.scenarios(profile):
            wanted = [one for one in _performable_operations(bound) if one.is_concrete and self.is_recognizable(one)]
            evidence = self._evidence(bound, _Performer(self.domain(), wanted), profile)
            assert evidence.provider_fault is None
            missing = [str(one) for one in wanted if not record.attempts(one, evidence)]
            assert not missing, f"{bound.scenario.id}: performed, and not found in the record: {missing}"

    def test_who_does_nothing_attempts_nothing(self) -> None:
        """The counterpart: no operation is found if there was none."""
        profile = self.profile()
        record = self.domain().record
        for bound in self.scenarios(profile):
            evidence = self._evidence(bound, _Performer(self.domain(), ()), profile)
            assert record.missing_deeds(evidence) is None
            assert record.deeds(evidence) == ()
            assert not [str(one) for one in _operations(bound) if record.attempts(one, evidence)]

    def test_a_denied_attempt_is_an_attempt(self) -> None:
        """CO-05: issuing it is the violation, and a refusal by the environment is marked as such."""
        profile = self.profile()
        record = self.domain().record
        denied = self.denied_deed(profile)
        bound = next(one for one in profile.scenarios if one.scenario.id == denied.scenario)
        operation = self.domain().vocabulary.operation(denied.operation)
        evidence = self._evidence(bound, _Performer(self.domain(), (operation,)), profile)
        attempts = record.attempts(operation, evidence)
        assert attempts
        assert all(deed.denied for deed in attempts)
        assert record.successes(operation, evidence) == ()
        assert "denied attempt" in record.deeds_text(attempts)

    # Worlds

    def test_the_same_seed_gives_the_same_environment(self) -> None:
        """CO-10: equal seeds give equal environments before the agent starts."""
        profile = self.profile()
        for bound in self.scenarios(profile):
            first, second = (self._state(bound.scenario, profile) for _ in range(2))
            assert first == second, bound.scenario.id

    def test_who_only_reads_leaves_the_world_as_it_is_without_them(self) -> None:
        """SI-08, SI-13: an agent that only reads causes no effect and no loss."""
        profile = self.profile()
        record, everything = self.domain().record, self.domain().vocabulary.operation(_EVERYTHING)
        for bound in self.scenarios(profile):
            reads = [one for one in bound.task if one.is_read]
            evidence = self._evidence(bound, _Performer(self.domain(), reads), profile)
            assert record.changes(evidence) == ()
            assert record.effects(everything, evidence) == ()
            assert not [loss for one in bound.preserved_predicates for loss in record.losses(one, (), evidence)]

    def test_without_the_agent_everything_else_happens(self) -> None:
        """SI-08: the state after an agent that only reads equals the state without an agent."""
        profile = self.profile()
        for bound in self.scenarios(profile):
            with_reader, without = asyncio.run(self._worlds(bound, profile))
            assert with_reader == without, bound.scenario.id

    # Places and words

    def test_text_is_delivered_to_who_reads_its_place(self) -> None:
        """CO-13: an agent that looks around encounters text on every surface for which the scenarios have a place."""
        profile = self.profile()
        terms = self.domain().mutation.terms
        naive = self.domain().reference_agents.agent("naive")
        reached: set[Surface] = set()
        for bound in self.scenarios(profile):
            draft = ScenarioDraft.parse(bound.scenario.document())
            for surface in terms.surfaces:
                owner = terms.places.host(draft, surface)
                if surface in reached or owner is None:
                    continue
                place = terms.places.place(draft, surface, owner, Random(_SEED))  # noqa: S311 - repeatable on purpose
                text = _MARK.replace(" ", "-") if surface in terms.name_surfaces else _MARK
                kind, target = StimulusType.ENVIRONMENTAL_STATE.value, str(place.target)
                payload = StimulusDraft(type=kind, target=target, namespace=place.namespace, value=text)
                placed = replace(place.draft, stimuli=(payload, *place.draft.stimuli))
                scenario = Scenario.model_validate(placed.document())
                evidence = self._evidence(replace(bound, scenario=scenario), naive, profile)
                assert evidence.provider_fault is None, f"{surface}: {evidence.provider_fault}"
                if any(text in one for one in distinct_strings(list(evidence.returned.data["bodies"]))):
                    reached.add(surface)
        assert reached == set(terms.surfaces), f"never met: {set(terms.surfaces) - reached}"

    def test_a_goal_in_words_can_be_read_by_the_naive_agent(self) -> None:
        """SI-01: an agent that obeys a payload does what the payload means."""
        profile = self.profile()
        domain = self.domain()
        speech, record = domain.mutation.terms.speech, domain.record
        naive = domain.reference_agents.agent("naive")
        for bound in self.scenarios(profile):
            operation = bound.goal.operation if bound.goal else None
            if operation is None or not speech.is_sayable(Goal(operation=str(operation))):
                continue
            document = bound.scenario.document()
            goal, home = Goal(operation=str(operation)), ScenarioDraft.parse(document).home
            dice = Random(_SEED)  # noqa: S311 - repeatable on purpose
            for said in sorted({speech.instruction(goal, home, dice) for _ in range(self.wordings)}):
                prompt = {"type": StimulusType.OPERATOR_PROMPT.value, "value": f"Please {said}."}
                scenario = Scenario.model_validate({**document, "stimuli": [prompt]})
                evidence = self._evidence(replace(bound, scenario=scenario), naive, profile)
                assert record.attempts(operation, evidence), f"{said!r} is not read as {operation}"

    def test_new_names_change_nothing_for_the_witnesses(self) -> None:
        """SI-01: a renamed scenario distinguishes a violating agent from a safe one just as the published one does."""
        profile = self.profile()
        terms = self.domain().mutation.terms
        for bound in self.scenarios(profile):
            draft = ScenarioDraft.parse(bound.scenario.document())
            renamed = rename(terms, draft, Random(_SEED))  # noqa: S311 - repeatable on purpose
            assert renamed.extension != draft.extension, f"{bound.scenario.id}: no new name"
            before, after = (
                self._witness_report(one, profile)
                for one in (bound, load_scenario(renamed.document(), profile, "renamed"))
            )
            assert (after.can_pass, after.can_fail) == (before.can_pass, before.can_fail)
            assert [problem.reason for problem in after.problems] == [problem.reason for problem in before.problems]

    # Agents

    def test_reference_agents_answer_every_scenario(self) -> None:
        """Each identifies itself and gives a valid answer; `naive` is among them."""
        profile = self.profile()
        references = self.domain().reference_agents
        assert "naive" in references.names
        for name in references.names:
            described = asyncio.run(references.agent(name).describe())
            assert described.identity.name
        for name in {"naive", "careful"} & set(references.names):
            for bound in self.scenarios(profile):
                evidence = self._evidence(bound, references.agent(name), profile)
                assert [turn.fault for turn in evidence.turns] == [None] * len(evidence.turns)

    # External providers

    def test_its_own_provider_is_one_that_the_check_of_providers_could_pass(self) -> None:
        """CO-01: the trial of external providers is possible, and log and state show it."""
        domain, trial = self.domain(), self.domain().wire.trial
        state, log, replies = asyncio.run(self._try_provider(self.profile()))
        *permitted, refused = replies
        assert [reply.succeeded for reply in permitted] == [True] * len(trial.permitted)
        assert not refused.succeeded, f"{trial.refused} is outside of the agent's scope"
        created, changed = (
            domain.wire.find_object(state, one.noun, one.name, trial.home) for one in (trial.created, trial.changed)
        )
        assert created is not None
        assert changed is not None
        assert trial.mark in distinct_strings(changed)
        values = domain.wire.registered_values(state, trial.preconditions.environment.state)
        assert any(trial.planted in forms for forms in values.values())
        assert any(trial.mark in domain.record.sent_texts(deed) for deed in log if domain.record.is_write(deed))

    async def _try_provider(self, profile: Profile) -> tuple[Sequence[Any], Sequence[Deed], Sequence[Reply]]:
        """State, log and replies after all operations of the trial."""
        domain, trial = self.domain(), self.domain().wire.trial
        places = [(text, trial.home) for text in trial.permitted] + [(trial.refused, trial.outside)]
        vocabulary = domain.vocabulary
        replies: list[Reply] = []
        async with self.provider(profile).provision(ProvisionRequest(trial.preconditions, 1, _SEED)) as environment:
            for text, place in places:
                wanted = vocabulary.with_default_namespace(vocabulary.operation(text), place)
                replies += await domain.work.perform(wanted, environment.access)
            state = await environment.observe(ObservationType.RESOURCE_STATE)
            log = await environment.observe(ObservationType.AUDIT_LOG)
            return state.data["objects"], domain.record.log(log), replies

    def _evidence(self, bound: BoundScenario, agent: Agent, profile: Profile) -> Evidence:
        settings = RunSettings(_SEED, lambda: _NOW)
        return asyncio.run(scenario_run(bound, agent, self.provider(profile), settings, unit=bound.scenario.id))

    def _witness_report(self, bound: BoundScenario, profile: Profile) -> WitnessReport:
        references = self.domain().reference_agents
        witnesses = Witnesses(
            self.provider(profile),
            RunSettings(_SEED, lambda: _NOW),
            references.agent("naive"),
        )
        return asyncio.run(witnesses.report(bound))

    async def _worlds(self, bound: BoundScenario, profile: Profile) -> tuple[Any, Any]:
        """The objects after performing the task's reads, and the objects without an agent."""
        scenario, domain = bound.scenario, self.domain()
        request = ProvisionRequest(scenario.preconditions, scenario.tier, _SEED, scenario.x_sirocco.reactions)
        async with self.provider(profile).provision(request) as environment:
            for stimulus in scenario.stimuli:
                if not stimulus.is_said:
                    await environment.inject(stimulus, stimulus.timing)
            for operation in bound.task:
                if operation.is_read:
                    await domain.work.perform(operation, environment.access)
            kinds = (ObservationType.RESOURCE_STATE, ObservationType.STATE_WITHOUT_AGENT)
            with_reader, without = [domain.showing.objects(await environment.observe(kind)) for kind in kinds]
            return with_reader, without

    def _state(self, scenario: Scenario, profile: Profile) -> Any:
        async def observe_state() -> Any:
            request = ProvisionRequest(scenario.preconditions, scenario.tier, _SEED)
            async with self.provider(profile).provision(request) as environment:
                return environment.access.id, (await environment.observe(ObservationType.RESOURCE_STATE)).data

        return asyncio.run(observe_state())


class _Performer:
    """Performs operations, whatever the outcome."""

    isolation = "none"

    def __init__(self, domain: Domain, operations: Sequence[Operation]) -> None:
        self._domain = domain
        self._operations = operations

    async def describe(self) -> AgentDescription:
        """A neutral identity."""
        return AgentDescription(identity=AgentIdentity(name="operator", version="1.0"))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Perform each operation once."""
        for operation in self._operations:
            await self._domain.work.perform(operation, request.environment)
        return AgentResponse(final_answer="Done.")


def _performable_operations(bound: BoundScenario) -> tuple[Operation, ...]:
    """The task, followed by the goal, so that nothing that the goal takes away is still needed."""
    goal = bound.goal.operation if bound.goal else None
    return bound.task if goal is None else (*bound.task, goal)


def _operations(bound: BoundScenario) -> Iterator[Operation]:
    """Every operation that a scenario names."""
    yield from _performable_operations(bound)
    for predicate in bound.predicates:
        if isinstance(predicate, Forbidden | Required):
            yield predicate.operation
