"""Environments that are requested again with the same seed: established once, and each of them alone (CO-10)."""

import asyncio
from dataclasses import replace
from itertools import count

import pytest

from builders import provision_request
from sirocco.domains.kubernetes.neighbours import neighbours
from sirocco.domains.kubernetes.simulator import provider as simulator
from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.oasis.observation import ObservationType

WEB = {"resource": "deployment/web", "namespace": "shop", "replicas": 2}
SETTINGS = {"resource": "configmap/settings", "namespace": "shop", "data": {"level": "info"}}
DEPLOYMENTS, CONFIG = "/apis/apps/v1/namespaces/shop/deployments", "/api/v1/namespaces/shop/configmaps"
PODS = "/api/v1/namespaces/shop/pods"
STATE, WITHOUT = ObservationType.RESOURCE_STATE, ObservationType.STATE_WITHOUT_AGENT


def request(*, seed=5):
    asked = provision_request(WEB, SETTINGS, seed=seed)
    return replace(asked, neighbours=neighbours(asked.preconditions, ()))


@pytest.fixture
def clock():
    """A clock that goes on by a second whenever somebody looks."""
    seconds = count()
    return lambda: f"2026-01-05T09:{(second := next(seconds)) // 60:02}:{second % 60:02}Z"


@pytest.fixture
def established(monkeypatch):
    """The seeds of the environments that were really established."""
    seeds = []
    establish = simulator.establish
    monkeypatch.setattr(
        simulator, "establish", lambda dynamics, *rest: (seeds.append(dynamics), establish(dynamics, *rest))
    )
    return seeds


async def seen(environment):
    """Everything that an agent sees and that is observed."""
    client = environment.access.client
    listed = [(await client.request("GET", path)).body for path in (DEPLOYMENTS, CONFIG, PODS)]
    return environment.access.token, listed, (await environment.observe(STATE)).data


async def destroyed(environment):
    """What deleting everything comes to."""
    client = environment.access.client
    for path in (DEPLOYMENTS, CONFIG, PODS):
        await client.request("DELETE", path)
    await client.request("POST", CONFIG, body={"kind": "ConfigMap", "metadata": {"name": "mine"}})
    return [item["metadata"]["name"] for item in (await client.request("GET", CONFIG)).body["items"]]


def lived(provider, asked, act):
    async def live():
        async with provider.provision(asked) as environment:
            return await act(environment)

    return asyncio.run(live())


@pytest.mark.requirement("CO-10")
def test_what_happens_in_one_environment_does_not_happen_in_another_of_the_same_request(clock, established):
    provider, asked = SimulatorProvider({}, clock), request()
    lived(provider, asked, seen)
    second = lived(provider, asked, seen)
    assert "mine" in lived(provider, asked, destroyed)
    assert lived(provider, asked, seen) == second
    assert "mine" in lived(provider, asked, destroyed)
    assert lived(provider, asked, seen) == second
    assert len(established) == 2, "the first of its kind, and the one that the others begin with"


def test_an_environment_that_was_not_established_anew_is_as_one_that_was(clock):
    asked, start = request(), "2026-01-05T09:00:00Z"
    provider = SimulatorProvider({}, lambda: start)
    first, second, third = (lived(provider, asked, seen) for _ in range(3))
    assert first == second == third == lived(SimulatorProvider({}, lambda: start), asked, seen)


def test_another_seed_is_another_environment(clock):
    provider = SimulatorProvider({}, clock)
    asked, other = request(), request(seed=6)
    assert asked.preconditions is not other.preconditions
    other = replace(other, preconditions=asked.preconditions)
    tokens = [lived(provider, one, seen)[0] for one in (asked, asked, other, other, asked, other)]
    assert tokens[0] == tokens[1] == tokens[4]
    assert tokens[2] == tokens[3] == tokens[5] != tokens[0]


@pytest.mark.requirement("SI-08")
def test_the_comparison_begins_when_the_environment_did(clock):
    provider, asked = SimulatorProvider({}, clock), request()

    async def compared(environment):
        before = (await environment.observe(STATE)).data["objects"]
        await environment.access.client.request("DELETE", f"{CONFIG}/settings")
        without = (await environment.observe(WITHOUT)).data["objects"]
        return before, without, (await environment.observe(STATE)).data["objects"]

    for _ in range(4):
        before, without, after = lived(provider, asked, compared)
        assert without == before != after


def test_only_the_last_few_are_kept(clock, established):
    provider = SimulatorProvider({}, clock)
    requests = [request(seed=seed) for seed in range(10)]
    for asked in requests:
        lived(provider, asked, seen)
        lived(provider, asked, seen)
    assert len(established) == 20
    lived(provider, requests[-1], seen)
    assert len(established) == 20
    lived(provider, requests[0], seen)
    assert len(established) == 21
