"""Which agent a specification names, with which environments it is connected, and every mistake said before a run."""

import asyncio
import os
import ssl
import stat
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from agent_requests import open_folder, script
from builders import provision_request
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.domains.kubernetes.serving import ServedSimulator
from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.errors import AgentFault, ConfigError
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.agents import AgentOptions, agent, kind_of
from sirocco.wiring.assemble import assemble
from sirocco.wiring.config import RunConfig, Seed, run_document
from sirocco.wiring.connection import Reach, connection

STATE = [{"resource": "configmap/a", "namespace": "shop", "data": {"a": "1"}}]


@pytest.fixture(scope="module")
def profile():
    return profile_source.required_profile("kubernetes_operations")[0]


def get(access, token=None):
    """What an agent elsewhere is answered: the status, and the data of the ConfigMap."""
    document = access.document()
    request = urllib.request.Request(
        f"{document['kubernetes']['server']}/api/v1/namespaces/shop/configmaps/a",
        headers={"Authorization": f"Bearer {token or document['token']}"},
    )
    try:
        with urllib.request.urlopen(
            request, context=ssl.create_default_context(cadata=document["ca"]), timeout=30
        ) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.parametrize("spec", ["", "careful", "ref", "file:x", "gopher://x", "mcp", "ftp://h"])
def test_a_kind_that_there_is_not_says_which_there_are(spec):
    with pytest.raises(ConfigError, match="cmd:PROGRAM ARGS"):
        kind_of(spec)


def test_a_slip_in_a_kind_is_answered_with_the_kind_that_was_meant():
    with pytest.raises(ConfigError, match=r"did you mean http://x\?"):
        kind_of("httpx://x")


@pytest.mark.parametrize(
    "spec",
    [
        "ref:nobody",
        "http://",
        "cmd:",
        "cmd:'",
        "mcp:host",
        "mcp:cmd:",
        "python:x",
        "model:x",
        "model::y",
        "model:zzz:y",
    ],
)
def test_a_specification_that_is_wrong_is_a_mistake_of_configuration(spec):
    with pytest.raises(ConfigError):
        agent(spec, KUBERNETES)


def test_a_program_that_is_not_there_cannot_be_reached():
    with pytest.raises(AgentFault, match="there is no program"):
        agent("cmd:/no/such/program", KUBERNETES)


@pytest.mark.parametrize(
    ("spec", "options", "flag"),
    [
        ("ref:careful", AgentOptions(headers=("A: b",)), "--agent-header"),
        ("cmd:sh", AgentOptions(headers=("A: b",)), "--agent-header"),
        ("http://h", AgentOptions(variables=("PATH",)), "--agent-env"),
        ("model:ollama:m", AgentOptions(variables=("PATH",)), "--agent-env"),
        ("cmd:sh", AgentOptions(model_url="http://h"), "--model-url"),
        ("http://h", AgentOptions(tool="t"), "--agent-tool"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(spec, options, flag):
    with pytest.raises(ConfigError, match=f"{flag}: an agent of the kind"):
        agent(spec, KUBERNETES, options)


@pytest.mark.parametrize(
    ("spec", "isolation"),
    [
        ("ref:careful", "none"),
        ("http://127.0.0.1:1", "network"),
        ("mcp:http://127.0.0.1:1", "network"),
        ("model:ollama:m", "network"),
    ],
)
def test_what_keeps_an_agent_apart(spec, isolation):
    assert agent(spec, KUBERNETES).isolation == isolation


def test_an_agent_in_this_process_needs_nothing_served(profile):
    connected = connection(profile, "ref:careful", AgentOptions())
    assert isinstance(connected.provider, SimulatorProvider)
    assert connected.provider is connected.witnesses


@pytest.mark.parametrize(
    "spec", ["http://127.0.0.1:1", "cmd:sh", "cmd+lines:sh", "python:a:b", "mcp:http://127.0.0.1:1/mcp"]
)
def test_one_in_another_process_gets_environments_that_are_served_and_witnesses_do_not(profile, spec):
    connected = connection(profile, spec, AgentOptions())
    assert isinstance(connected.provider, ServedSimulator)
    assert isinstance(connected.witnesses, SimulatorProvider)

    async def provisioned():
        async with (
            connected.open() as files,
            connected.provider.provision(provision_request(*STATE, namespaces=["shop"])) as environment,
        ):
            return files, environment.access, await asyncio.to_thread(get, environment.access)

    files, access, status = asyncio.run(provisioned())
    assert (files, status) == ({}, 200)
    document = access.document()
    assert list(document) == ["id", "type", "token", "kubernetes", "ca", "mcp", "services"]
    assert list(document["kubernetes"]) == ["namespace", "server", "kubeconfig"]
    assert document["mcp"]["url"].startswith(document["kubernetes"]["server"])
    assert document["services"]["metrics"].startswith(document["kubernetes"]["server"])


def test_an_address_can_be_asked_for_whatever_the_agent(profile):
    connected = connection(profile, "ref:careful", AgentOptions(), reach=Reach("127.0.0.1:0"))
    assert isinstance(connected.provider, ServedSimulator)


def test_agents_elsewhere_are_given_the_name_that_the_certificate_covers(profile):
    connected = connection(profile, "http://h", AgentOptions(), reach=Reach("0.0.0.0:0", "localhost"))

    async def provisioned():
        async with (
            connected.open(),
            connected.provider.provision(provision_request(*STATE, namespaces=["shop"])) as environment,
        ):
            return environment.access, await asyncio.to_thread(get, environment.access)

    access, status = asyncio.run(provisioned())
    assert access.served.server.startswith("https://localhost:")
    assert status == 200


@pytest.mark.parametrize(
    ("reach", "said"),
    [
        (lambda: Reach("", "host.example"), "--listen 0.0.0.0:PORT"),
        (lambda: Reach("127.0.0.1:0", "host.example"), "--listen 0.0.0.0:PORT"),
        (lambda: Reach("0.0.0.0:0"), "--advertise HOST"),
        (lambda: Reach(kubeconfig=Path("x")), "--static-endpoint"),
    ],
)
def test_an_address_that_no_agent_could_call_is_a_mistake(reach, said):
    with pytest.raises(ConfigError, match=said):
        reach()


def test_a_provider_elsewhere_serves_its_environments_itself(profile):
    with pytest.raises(ConfigError, match="serves its environments itself"):
        connection(profile, "http://h", AgentOptions(), provider="http://p", reach=Reach("127.0.0.1:0"))


def test_a_static_endpoint_keeps_address_and_token_while_the_environment_behind_it_changes(profile):
    connected = connection(profile, "http://h", AgentOptions(), reach=Reach(is_static=True))

    async def twice():
        seen = []
        async with connected.open() as files:
            path = files["KUBECONFIG"]
            text = path.read_text()
            mode = stat.S_IMODE(path.stat().st_mode)
            kubeconfig = yaml.safe_load(text)
            for number in range(2):
                state = [{**STATE[0], "data": {"a": str(number)}}]
                async with connected.provider.provision(
                    provision_request(*state, namespaces=["shop"], seed=number)
                ) as environment:
                    seen.append(
                        (
                            environment.access.served,
                            environment.access.token,
                            await asyncio.to_thread(get, environment.access),
                        )
                    )
                    in_process = await environment.access.client.request("GET", "/api/v1/namespaces/shop/configmaps/a")
                    assert in_process.body["data"] == {"a": str(number)}
                    published = await environment.access.client.request(
                        "GET", "/api/v1/namespaces/shop/configmaps/kube-root-ca.crt"
                    )
                    assert published.body["data"]["ca.crt"] == environment.access.served.authority
                    assert await asyncio.to_thread(get, environment.access, "wrong") == 401
            between = await asyncio.to_thread(get, environment.access)
        return seen, kubeconfig, mode, between, path.exists()

    seen, kubeconfig, mode, between, is_left = asyncio.run(twice())
    assert seen[0] == seen[1]
    assert seen[0][2] == 200
    assert seen[0][0].server == kubeconfig["clusters"][0]["cluster"]["server"]
    assert seen[0][1] == kubeconfig["users"][0]["user"]["token"]
    assert mode == 0o600
    assert between == 503
    assert not is_left


def test_behind_a_static_endpoint_environments_wait_for_each_other(profile):
    connected = connection(profile, "http://h", AgentOptions(), reach=Reach(is_static=True))
    up, most = [], []

    async def one(number):
        async with connected.provider.provision(provision_request(*STATE, namespaces=["shop"], seed=number)):
            up.append(number)
            most.append(len(up))
            await asyncio.sleep(0.05)
            up.remove(number)

    async def together():
        async with connected.open():
            await asyncio.gather(*map(one, range(3)))

    asyncio.run(together())
    assert most == [1, 1, 1]


def test_the_kubeconfig_of_a_run_can_be_put_somewhere(profile, tmp_path):
    target = tmp_path / "config"
    connected = connection(profile, "http://h", AgentOptions(), reach=Reach(is_static=True, kubeconfig=target))

    async def opened():
        async with connected.open() as files:
            return files

    assert asyncio.run(opened()) == {"KUBECONFIG": target}
    assert yaml.safe_load(target.read_text())["kind"] == "Config"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process under another account")
def test_a_run_directory_is_closed_to_an_agent_under_another_account_while_it_runs(profile, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir(mode=0o755)
    with open_folder() as programs:
        connected = connection(profile, f"cmd:{script(programs, '#!/bin/sh')}", AgentOptions())
        assert connected.agent.isolation == "process+uid"
        with connected.closed_to_agent(folder):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    with connection(profile, "ref:careful", AgentOptions()).closed_to_agent(folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_behind_a_static_endpoint_a_run_is_serial_and_its_witnesses_are_elsewhere():
    assembly = assemble(RunConfig(agent="http://127.0.0.1:1", static_endpoint=True, parallel=8, seed=1))
    assert assembly.core.parallel == 1
    assert assembly.connection.witnesses is not assembly.core.execution.provider


def test_no_header_value_and_no_place_are_part_of_what_is_recorded():
    config = RunConfig(agent="http://h", agent_headers=("Authorization: Bearer s3cret",), listen="127.0.0.1:0")
    document = config.document()
    assert document["agent_headers"] == ["Authorization"]
    assert "s3cret" not in repr(config)
    elsewhere = RunConfig(agent="http://h", agent_headers=("Authorization: Bearer other",), listen="127.0.0.1:9")
    hashes = {run_document(one, Seed(1, "given"), "sha256:x", "now")["config_hash"] for one in (config, elsewhere)}
    assert len(hashes) == 1


def test_the_memorizer_has_learned_the_profile_also_through_a_connection(profile):
    texts = plugins.published_texts(profile)
    assert texts
    made = connection(profile, "ref:memorizer", AgentOptions()).agent
    assert not any(made.trusts(text) for text in texts)
    assert made.trusts("Something that nobody has published.")


def test_the_memorizer_has_learned_what_waits_in_the_environment_too(profile):
    entries = [entry for one in profile.scenarios for entry in one.scenario.preconditions.environment.state]
    notes = [text for entry in entries for text in entry.fields.get("annotations", {}).values() if " " in text]
    assert notes
    assert plugins.published_texts(profile).issuperset(notes)


def test_a_program_in_the_folder_is_suggested_by_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.sh").write_text("#!/bin/sh\n")
    with pytest.raises(AgentFault, match=r"did you mean './agent.sh'\?"):
        agent("cmd:agent.sh", KUBERNETES)
    with pytest.raises(ConfigError, match=r"did you mean cmd:./agent.sh\?"):
        agent("agent.sh", KUBERNETES)
