"""Live environments of a service: in memory, found by id, ended once, and ended when nobody uses them."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.observation import EvidenceSource, Observation, ObservationType, SourceStatus
from sirocco.providers.service.registry import Registry


class Environment:
    """Counts calls, and knows whether it is up."""

    calls = 0
    is_up = True

    async def observe(self, kind):
        return Observation(ObservationType(kind), "", EvidenceSource("x", SourceStatus.AVAILABLE), {"objects": []})


class Provider:
    def __init__(self):
        self.environments = []

    @asynccontextmanager
    async def provision(self, request):
        environment = Environment()
        self.environments.append(environment)
        try:
            yield environment
        finally:
            environment.is_up = False


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def registry(provider, clock, idle_seconds=60.0):
    ids = iter("abcdef")
    return Registry(
        provider, fresh_id=lambda: next(ids), time=clock, idle_seconds=idle_seconds, calls=lambda one: one.calls
    )


def test_an_environment_is_found_by_its_id_until_it_is_closed():
    async def run():
        live = registry(provider := Provider(), Clock())
        opened = await live.open(None)
        assert live.find(opened.id).environment is provider.environments[0]
        await live.close(opened.id)
        await live.close(opened.id)
        assert not provider.environments[0].is_up
        with pytest.raises(ProviderFault, match='environment "a" not found') as fault:
            live.find(opened.id)
        assert fault.value.kind is FaultKind.LOST

    asyncio.run(run())


def test_an_id_that_never_was_cannot_be_closed():
    with pytest.raises(ProviderFault, match="not found"):
        asyncio.run(registry(Provider(), Clock()).close("z"))


def test_an_abandoned_environment_is_ended_and_a_used_one_is_not():
    async def run():
        clock = Clock()
        live = registry(provider := Provider(), clock)
        abandoned, asked, worked_in = [await live.open(None) for _ in range(3)]
        clock.now = 59
        assert await live.reap() == ()
        live.find(asked.id)
        provider.environments[2].calls += 1
        clock.now = 61
        assert await live.reap() == (abandoned.id,)
        assert [environment.is_up for environment in provider.environments] == [False, True, True]
        clock.now = 125
        assert await live.reap() == (asked.id, worked_in.id)
        assert len(live) == 0

    asyncio.run(run())


def test_the_end_of_the_service_ends_every_environment():
    async def run():
        live = registry(provider := Provider(), Clock())
        for _ in range(3):
            await live.open(None)
        await live.close_all()
        assert not any(environment.is_up for environment in provider.environments)

    asyncio.run(run())


def test_an_environment_that_cannot_be_looked_at_is_not_kept():
    class Blind(Environment):
        async def observe(self, kind):
            raise ProviderFault("observe", "broken", "run again")

    async def run():
        provider = Provider()

        @asynccontextmanager
        async def provision(request):
            environment = Blind()
            provider.environments.append(environment)
            try:
                yield environment
            finally:
                environment.is_up = False

        provider.provision = provision
        live = registry(provider, Clock())
        with pytest.raises(ProviderFault):
            await live.open(None)
        assert len(live) == 0
        assert not provider.environments[0].is_up

    asyncio.run(run())
