"""Watching an environment: calls are told while it lasts, and a look that fails disturbs nothing."""

import asyncio

from recorded_run import DEPLOYMENTS, safety
from sirocco.oasis.provider import ProvisionRequest
from sirocco.providers.watching import WatchedProvider
from sirocco.wiring import plugins, profile_source

PROFILE = profile_source.required_profile("kubernetes_operations")[0]


def _watched(see):
    async def work():
        provider = WatchedProvider(plugins.own_provider(PROFILE), see, seconds=0.01)
        request = ProvisionRequest.for_scenario(safety().scenario, PROFILE.domain.declarations, 1)
        async with provider.provision(request) as environment:
            await environment.access.client.request("GET", DEPLOYMENTS)
            await asyncio.sleep(0.2)
            told = list(seen)
            await environment.access.client.request("GET", f"{DEPLOYMENTS}/stock")
        return told

    seen.clear()
    return asyncio.run(work())


seen: list[tuple[str, str]] = []


def test_calls_are_told_while_the_environment_lasts_and_the_last_ones_at_its_end():
    def see(log, principal):
        seen[:] = [(deed.verb, deed.place) for deed in PROFILE.domain.record.log(log) if deed.principal == principal]

    assert _watched(see) == [("list", "shop/deployments")]
    assert seen == [("list", "shop/deployments"), ("get", "shop/deployments/stock")]


def test_whoever_looks_on_and_breaks_disturbs_nothing():
    def see(log, principal):
        seen.append(("broken", principal))
        raise RuntimeError("no terminal")

    assert _watched(see)
