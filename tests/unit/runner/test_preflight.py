"""Phase 0: what the provider declares, and what its environment shows of the tier."""

import asyncio

import pytest

from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.errors import ConformanceError
from sirocco.oasis.observation import ObservationType
from sirocco.providers import faults
from sirocco.reports.document import verdict_document
from sirocco.runner.execution import Execution
from sirocco.runner.preflight import preflight, verified_tier
from sirocco.runner.run import Core, ExtensionPolicy, run
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source

CLOCK = lambda: "2026-01-01T00:00:00.000000Z"  # noqa: E731


@pytest.fixture(scope="module")
def profile():
    return profile_source.required_profile("kubernetes_operations")[0]


@pytest.fixture
def provider(profile):
    return SimulatorProvider({profile.document.id: profile.document.version}, CLOCK)


def verified(profile, provider, scenarios=None, document=None):
    chosen = [bound.scenario for bound in profile.scenarios] if scenarios is None else scenarios
    return asyncio.run(verified_tier(document or profile.document, profile.domain, provider, 1, chosen, 7))


def demanding(profile, **environment):
    """The profile with a tier that asks for more."""
    tier = profile.document.tiers[0].model_copy(update={"environment": environment})
    return profile.document.model_copy(update={"tiers": (tier, *profile.document.tiers[1:])})


@pytest.mark.requirement("CO-14")
def test_the_largest_environment_of_the_run_is_the_one_that_is_looked_at(profile, provider):
    evidence = verified(profile, provider)
    assert evidence.fault is None
    assert evidence.shortfalls == ()
    assert evidence.measured["nodes"] >= 3
    assert "container-orchestration" in evidence.interfaces
    largest = max(len(bound.scenario.preconditions.environment.state) for bound in profile.scenarios)
    smallest = min(
        (bound.scenario for bound in profile.scenarios), key=lambda one: len(one.preconditions.environment.state)
    )
    assert largest > len(smallest.preconditions.environment.state)
    assert verified(profile, provider, [smallest]).measured["workloads"] <= evidence.measured["workloads"]


@pytest.mark.requirement("CO-14")
@pytest.mark.parametrize("fault", [faults.Failing("provision"), faults.Failing("observe"), faults.Unreachable(ObservationType.RESOURCE_STATE)])  # fmt: skip
def test_an_environment_that_nobody_can_look_at_verifies_nothing(profile, provider, fault):
    evidence = verified(profile, faults.FaultyProvider(provider, fault))
    assert evidence.fault
    assert evidence.shortfalls
    assert evidence.document()["verified"] is False


@pytest.mark.requirement("CO-14")
def test_without_a_scenario_that_can_be_set_up_the_tier_is_not_verified(profile, provider):
    assert verified(profile, provider, []).shortfalls


def _verdict(profile, provider, document=None):
    changed = profile if document is None else type(profile)(document, profile.scenarios, domain=profile.domain)
    execution = Execution(plugins.agent("ref:careful", profile), provider, RunSettings(1, CLOCK))
    core = Core(changed, profile.scenarios[:1], execution, 1, "given", 1, ExtensionPolicy.OFF)

    async def frozen():
        return [event async for event in run(core, [])][-1].core

    return verdict_document(asyncio.run(frozen()), {"safety": "PASS"}, {}, None)["verdict"]["metadata"]


@pytest.mark.requirement("CO-14")
def test_a_run_below_its_tier_is_labelled_incomplete_with_the_evidence(profile, provider):
    metadata = _verdict(profile, provider, demanding(profile, nodes=3, zones=9))
    evidence = metadata["environment"]["tier_evidence"]
    assert {"demand": "at least 9 zones", "found": str(evidence["measured"]["zones"]), "met": False} in evidence[
        "demands"
    ]
    assert evidence["verified"] is False
    mode = metadata["evaluation_mode"]
    assert not mode["complete"]
    assert any("below tier 1: at least 9 zones" in reason for reason in mode["incomplete_because"])


@pytest.mark.requirement("CO-14")
def test_a_run_at_its_tier_says_so(profile, provider):
    metadata = _verdict(profile, provider)
    assert metadata["environment"]["tier_evidence"]["verified"] is True
    assert not any("below tier" in reason for reason in metadata["evaluation_mode"]["incomplete_because"])


@pytest.mark.requirement("CO-01")
def test_wrong_versions_end_the_run_before_it_begins_and_all_gaps_are_named(profile, provider):
    broken = faults.FaultyProvider(provider, faults.WrongVersions())
    with pytest.raises(ConformanceError) as error:
        asyncio.run(preflight(profile.document, broken, 1))
    for words in (
        "profile_version: must be",
        "oasis_core_spec_versions: one must be",
        "oasis_core_spec_version: must be",
    ):
        assert words in error.value.problem
