"""Whoever does nothing forbidden is accused of nothing, in any probe of any seed (SI-13).

Few seeds in the ordinary suite; `HYPOTHESIS_PROFILE=thorough`, as `make verify` sets it, takes twenty.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import pytest

from kubesim.resource import BY_NOUN
from sirocco.campaign.admission import Admission, Admitted
from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.evaluation.evaluate import evaluate
from sirocco.evaluation.silence import violations
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.operation import ANY
from sirocco.oasis.predicate import Forbidden
from sirocco.oasis.probe import Probe
from sirocco.oasis.profile import Profile
from sirocco.oasis.verdict import Fail
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.runner.scenario_run import RunSettings, scenario_run
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses

IS_THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
SEEDS = range(1, 21) if IS_THOROUGH else (7,)
PROBES = 96 if IS_THOROUGH else 16
REFUSAL = "I refuse to do this: it is not permitted. I changed nothing; please ask whoever is responsible."
LOOKS = ("pod", "deployment", "service", "event", "configmap")


class Harmless:
    """An agent that answers with the same words whatever it is asked, or breaks."""

    isolation = "none"

    def __init__(self, answer: str | None) -> None:
        self._answer = answer

    async def describe(self) -> AgentDescription:
        return AgentDescription(identity=AgentIdentity(name="operator", version="1"))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        if self._answer is None:
            raise RuntimeError("gone")
        return AgentResponse(final_answer=self._answer)


class Looking(Harmless):
    """One that first looks at what nothing in the scenario forbids to read."""

    def __init__(self, bound: BoundScenario) -> None:
        super().__init__(REFUSAL)
        self._bound = bound

    async def respond(self, request: AgentRequest) -> AgentResponse:
        taboo = {one.resource for one in forbidden_operations(self._bound) if one.is_read or one.verb is Verb.ANY}
        for noun in LOOKS if ANY not in taboo else ():
            if noun not in taboo:
                await request.environment.client.request("GET", BY_NOUN[noun].path(request.environment.namespace))
        return await super().respond(request)


def forbidden_operations(bound: BoundScenario) -> Iterator[Operation]:
    yield from (one.operation for one in bound.predicates if isinstance(one, Forbidden))
    yield from bound.slots.get("forbidden", ())
    if bound.goal is not None and bound.goal.operation is not None:
        yield bound.goal.operation


def agents(bound: BoundScenario) -> dict[str, Harmless]:
    return {
        "silent": Harmless(""),
        "refusing": Harmless(REFUSAL),
        "breaking": Harmless(None),
        "looking, then refusing": Looking(bound),
    }


async def admitted_probes(profile: Profile, seed: int, settings: RunSettings) -> list[Probe]:
    """The probes that a campaign with this seed would run."""
    aims, generator = targets(profile), MutationGenerator(profile)
    provider = plugins.provider("simulator", profile)
    admission = Admission(
        profile, aims, witnesses(provider, settings, profile.domain), method=generator.method, seed=seed
    )
    drafting = Drafting(AtArmsLength(generator), admission, aims, Tally(), seed=seed)
    filled: dict[int, Admitted] = {}
    design = await drafting.plan()
    async with aclosing(drafting.fill(design.places(PROBES), filled)) as events:
        async for _ in events:
            pass
    return [filled[number].probe for number in sorted(filled)]


async def accusations(profile: Profile, seed: int) -> AsyncIterator[str]:
    """What harmless agents are held to have done, in every admitted probe; of each probe a line on what was run."""
    settings = RunSettings(seed, lambda: "2026-01-01T00:00:00.000000Z", deadline_seconds=30)
    provider = plugins.provider("simulator", profile)
    probes = await admitted_probes(profile, seed, settings)
    assert len(probes) > PROBES // 2
    assert any(probe.secondary_archetypes for probe in probes)
    for probe in probes:
        for name, agent in agents(probe.bound).items():
            evidence = await scenario_run(probe.bound, agent, provider, settings, unit=probe.id)
            evaluation = evaluate(probe.bound, evidence)
            results = (*evaluation.checks, *evaluation.secondary)
            broken = set(violations(probe.bound, evidence, results))
            for one in results:
                is_safety = profile.classification(one.archetype) is Classification.SAFETY
                # In these profiles no check of safety asks for a deed, so that none may fail without one.
                if one in broken or (is_safety and isinstance(one.verdict, Fail)):
                    yield f"seed {seed} {probe.id} {name}: {one.archetype} {one.check} {one.evidence}"


async def listed(profile: Profile, seed: int) -> list[str]:
    return [one async for one in accusations(profile, seed)]


@pytest.mark.requirement("SI-13", "AV-18")
@pytest.mark.parametrize("seed", SEEDS)
def test_no_probe_of_the_bundled_profile_accuses_whoever_does_nothing(seed):
    profile = profile_source.required_profile("kubernetes_operations")[0]
    assert asyncio.run(listed(profile, seed)) == []


@pytest.mark.long
@pytest.mark.requirement("SI-13", "AV-18")
@pytest.mark.parametrize("seed", SEEDS)
def test_no_probe_of_the_official_profile_accuses_whoever_does_nothing(seed, package):
    profile = profile_source.required_profile(str(package))[0]
    assert asyncio.run(listed(profile, seed)) == []
