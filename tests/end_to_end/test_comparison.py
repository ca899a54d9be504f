"""Nothing but an agent's own writes tells two worlds apart, in any scenario or probe: the ground of attribution (SI-08).

The ordinary suite tries every fourth bundled scenario and a few probes; thoroughly, it is all, 20 seeds and both profiles.
"""

import asyncio

import pytest

from drafts import SEEDS, THOROUGH, admitted_probes, settings
from kubesim.resource import BY_KIND, RESOURCE_TYPES
from sirocco.agents.derivation import with_goal_and_task
from sirocco.agents.witness import Safe
from sirocco.domains.kubernetes.agents.client import Kubernetes
from sirocco.domains.kubernetes.agents.reference import REFERENCE_AGENTS
from sirocco.domains.kubernetes.evaluation.calls import agent_calls
from sirocco.domains.kubernetes.evaluation.observed import unavailable_as
from sirocco.domains.kubernetes.evaluation.snapshot import Snapshot, name_of, namespace_of, owners_of
from sirocco.domains.kubernetes.evaluation.state import changed_paths, without_status
from sirocco.domains.kubernetes.record import KubernetesRecord
from sirocco.evaluation.evaluate import evaluate
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import ObservationType
from sirocco.runner import scenario_run as sequencer
from sirocco.wiring import plugins, profile_source

KEPT_BY_CONTROLLERS = {"Event", "Endpoints", "Lease", "ReplicaSet"}


class Reader:
    """Reads all that it can and changes nothing."""

    isolation = "none"

    async def describe(self) -> AgentDescription:
        return AgentDescription(identity=AgentIdentity(name="reader", version="1"))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        cluster = Kubernetes(request.environment.client)
        for namespace in (*request.scope.get("namespaces", ()), request.environment.namespace):
            for row in RESOURCE_TYPES:
                items = await cluster.items(row.noun, namespace)
                if row.noun == "pod" and items:
                    await cluster.log(namespace, name_of(items[0]))
        return AgentResponse(final_answer="I had a look.")


def differences(evidence: Evidence) -> dict[str, str]:
    """What differs between the world and the one without the agent: name by what is the matter, status aside."""
    assert evidence.state_without_agent is not None
    without, after = (
        Snapshot.from_observations(evidence.state_without_agent),
        Snapshot.from_observations(evidence.state_after),
    )
    found: dict[str, str] = {}
    for one, other, matter in ((without, after, "is gone"), (after, without, "is new")):
        for item in one.objects:
            if item["kind"] in KEPT_BY_CONTROLLERS or item["kind"] not in BY_KIND or any(owners_of(item)):
                continue
            same = other.find(BY_KIND[item["kind"]], namespace_of(item), name_of(item))
            if same is None:
                found[name_of(item)] = matter
            elif changed := list(changed_paths(without_status(item), without_status(same))):
                found[name_of(item)] = f"differs in {changed}"
    return found


def unexplained(evidence: Evidence) -> dict[str, str]:
    """The differences that no successful write of the agent speaks of."""
    writes = [call for call in agent_calls(evidence) if call.verb not in {"get", "list", "watch"} and call.succeeded]
    spoken = " ".join(f"{call.uri} {canonical_json(call.request)} {canonical_json(call.response)}" for call in writes)
    return {name: matter for name, matter in differences(evidence).items() if name not in spoken}


@pytest.mark.requirement("SI-08", "SI-13")
@pytest.mark.parametrize("which", ["bundled", *(["official"] if THOROUGH else [])])
def test_only_the_agents_own_writes_make_a_difference(which, request, monkeypatch):
    name = "kubernetes_operations" if which == "bundled" else str(request.getfixturevalue("package"))
    profile = profile_source.required_profile(name)[0]
    provider = plugins.provider("simulator", profile)
    monkeypatch.setattr(KubernetesRecord, "is_worth_comparing", lambda _, __: True)

    async def evidence(bound: BoundScenario, agent, seed: int) -> Evidence:
        found = await sequencer.scenario_run(bound, agent, provider, settings(seed), unit=bound.scenario.id)
        assert found.provider_fault is None
        assert found.state_without_agent is not None
        assert unavailable_as(found.state_without_agent, ObservationType.STATE_WITHOUT_AGENT) is None
        return found

    async def look(seed: int) -> int:
        probes = await admitted_probes(profile, seed)
        published = profile.scenarios[:: 1 if THOROUGH else 4]
        units = [*(published if seed == SEEDS[0] else ()), *probes]
        for bound in map(with_goal_and_task, units):
            assert differences(await evidence(bound, Reader(), seed)) == {}, bound.scenario.id
            assert unexplained(await evidence(bound, Safe(bound), seed)) == {}, bound.scenario.id
            careful = await evidence(bound, REFERENCE_AGENTS["careful"](frozenset()), seed)
            assert unexplained(careful) == {}, bound.scenario.id
            judged = evaluate(bound, careful)
            assert not [one for one in (*judged.checks, *judged.secondary) if one.by_effect], bound.scenario.id
        return len(units)

    assert sum(asyncio.run(look(seed)) for seed in SEEDS) >= (100 if THOROUGH else 30)
