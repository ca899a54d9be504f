"""What is served: environments of the domain that the profile names, and mistakes of the user as such."""

import asyncio
import json
import stat
from pathlib import Path

import pytest

from sirocco.domains.kubernetes.agent_access import HttpAgentClient, agent_access
from sirocco.errors import ConfigError
from sirocco.profiles.load import load_profile
from sirocco.providers.http.control import ControlPlane
from sirocco.testing.sqlite_domain.domain import SQLITE
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco.wiring.serving import served_bare, served_environments, served_provider

LOCAL = "127.0.0.1:0"


@pytest.fixture(scope="module")
def clusters():
    return required_profile(BUNDLED)[0]


@pytest.fixture(scope="module")
def databases():
    loaded = load_profile(Path(next(iter(SQLITE.profiles.values()))), lambda _: SQLITE).profile
    assert loaded is not None
    return loaded


def entered(block):
    async def enter():
        async with block as found:
            return found

    return asyncio.run(enter())


def service(*profiles, agent=LOCAL, control=LOCAL):
    return served_provider(profiles, agent, control, needs_token=True, idle_seconds=60)


def test_a_domain_that_cannot_be_served_says_so(databases):
    for block in (served_environments(databases, LOCAL), service(databases)):
        with pytest.raises(ConfigError, match="in this process only"):
            entered(block)


def test_one_service_is_for_one_domain(clusters, databases):
    with pytest.raises(ConfigError, match="record-keeping is not of the same domain"):
        entered(service(clusters, databases))


@pytest.mark.parametrize("address", ["127.0.0.1", "nowhere.invalid:0", "127.0.0.1:x"])
def test_an_address_that_is_none_is_the_users_mistake(clusters, address):
    blocks = (
        served_environments(clusters, address),
        service(clusters, agent=address),
        service(clusters, control=address),
    )
    for block in blocks:
        with pytest.raises(ConfigError) as error:
            entered(block)
        assert error.value.where == address


def test_so_is_a_users_file_that_is_none(tmp_path):
    users = tmp_path / "users.json"
    users.write_text("[]")
    with pytest.raises(ConfigError, match="not a users file"):
        entered(served_bare(users, LOCAL, tmp_path / "audit"))


def asked_for(namespace):
    return {
        "scenario_id": "one",
        "environment": {
            "type": "kubernetes-cluster",
            "state": [{"resource": "configmap/settings", "data": {"in": namespace}}],
        },
        "agent": {"mode": "autonomous", "tools": [], "scope": {"namespaces": [namespace]}},
        "tier": 1,
    }


async def declared_there(text):
    """What somebody with the kubeconfig alone finds in its namespace; the status when that is nothing."""
    found = agent_access({"agent_credentials": {"kubeconfig": text}})
    agent = HttpAgentClient(found)
    reply = await agent.request("GET", f"/api/v1/namespaces/{found.namespace}/configmaps/settings")
    agent.close()
    return reply.body["data"]["in"] if reply.succeeded else reply.status


@pytest.mark.requirement("CO-01", "CO-10")
def test_a_file_leads_to_the_environment_that_is_up_one_at_a_time(clusters, tmp_path):
    file = tmp_path / "kubeconfig"
    block = served_provider([clusters], LOCAL, LOCAL, needs_token=False, idle_seconds=60, credentials=file)

    async def used():
        async with block as where:
            control = ControlPlane(where.control)
            at_first, mode = file.read_text(), stat.S_IMODE(file.stat().st_mode)
            seen = [(at_first, await declared_there(at_first))]
            for namespace in ("shop", "vault"):
                made = await control.call("provision", asked_for(namespace))
                seen.append((file.read_text(), await declared_there(file.read_text())))
                assert made["agent_credentials"]["kubeconfig"] == file.read_text()
                refused = await control.attempt("provision", asked_for("third"))
                assert refused.status == 409
                assert "tear it down first" in refused.body["message"]
                assert await declared_there(file.read_text()) == namespace, "who is refused disturbs nobody"
                await control.call("teardown", {"environment_id": made["environment_id"]})
                assert await declared_there(file.read_text()) == 503
            return seen, mode

    seen, mode = asyncio.run(used())
    assert mode == 0o600
    assert [found for _, found in seen] == [503, "shop", "vault"]
    documents = [json.loads(text) for text, _ in seen]
    assert len({one["clusters"][0]["cluster"]["server"] for one in documents}) == 1, "a client that keeps it goes on"
    assert len({one["users"][0]["user"]["token"] for one in documents}) == 1
    assert [one["contexts"][0]["context"]["namespace"] for one in documents] == ["default", "shop", "vault"]


@pytest.mark.requirement("CO-10")
def test_an_environment_that_cannot_be_set_up_does_not_block_the_next(clusters, tmp_path):
    file = tmp_path / "kubeconfig"
    block = served_provider([clusters], LOCAL, LOCAL, needs_token=False, idle_seconds=60, credentials=file)
    bad = asked_for("shop")
    bad["environment"]["state"] = [{"resource": "unheard-of/thing"}]

    async def used():
        async with block as where:
            control = ControlPlane(where.control)
            first = await control.attempt("provision", bad)
            second = await control.attempt("provision", asked_for("shop"))
            return first.status, second.status

    assert asyncio.run(used()) == (422, 200)
