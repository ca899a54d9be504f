"""A confined agent knows the API server of its environment by a name, which leads there for nobody else (SI-02)."""

import asyncio
import json
import socket
import sys
from pathlib import Path

import pytest

from agent_requests import agent_request, open_folder, script
from clients.conftest import preconditions
from sirocco.agents.command import CommandAgent, LinesAgent
from sirocco.agents.confinement import HOSTS, confinement
from sirocco.agents.program import Program
from sirocco.oasis.provider import ProvisionRequest
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco.wiring.serving import served_environments

pytestmark = [
    pytest.mark.requirement("SI-02"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has mount namespaces"),
]
CLIENT = """#!/usr/bin/python3 -I
import json, os, ssl, sys, urllib.parse, urllib.request
for line in sys.stdin:
    request = json.loads(line)
    if "environment" not in request:
        print(json.dumps({"identity": {"name": "a", "version": "1"}}), flush=True)
        continue
    config = json.load(open(os.environ["KUBECONFIG"]))
    server = config["clusters"][0]["cluster"]["server"]
    trust = ssl.create_default_context(cadata=request["environment"]["ca"])
    version = json.load(urllib.request.urlopen(server + "/version", context=trust))
    told = request["environment"]["kubernetes"]["server"]
    seen = {"server": server, "told": told, "version": version["gitVersion"], "texts": json.dumps([request, config])}
    print(json.dumps({"actions": [], "reasoning": "", "final_answer": json.dumps(seen)}), flush=True)
"""


async def answers(kind, seeds):
    """What one agent of a kind saw in environments of these seeds."""
    profile, _ = required_profile(BUNDLED)
    with open_folder() as folder:
        program = Program.parse(f"{script(folder, CLIENT, 'agent.py')}", folder)
        confined = confinement([folder], leading=("KUBECONFIG",))
        if not confined.has_hosts:
            pytest.skip(f"no mount namespaces here: {confined.note}")
        agent = kind(program, confined)
        found = []
        async with served_environments(profile, "127.0.0.1:0") as provider:
            for seed in seeds:
                async with provider.provision(ProvisionRequest(preconditions(), 1, seed)) as environment:
                    request = agent_request(environment=environment.access)
                    answer = await agent.respond(request)
                    found.append((environment.access.served, json.loads(answer.final_answer)))
        if kind is LinesAgent:
            await agent.close()
    return found


@pytest.mark.parametrize("kind", [CommandAgent, LinesAgent])
def test_the_kubeconfig_of_a_confined_agent_has_a_name_that_differs_between_environments(kind):
    before = Path(HOSTS).read_bytes()
    found = asyncio.run(answers(kind, (1, 2, 5)))
    names = set()
    for served, seen in found:
        name, _, port = seen["server"].removeprefix("https://").rpartition(":")
        assert name == served.name
        assert seen["told"] == seen["server"]
        assert served.server == f"https://127.0.0.1:{port}"
        assert "127.0.0.1" not in seen["texts"]
        assert seen["version"].startswith("v1.")
        with pytest.raises(socket.gaierror):
            socket.getaddrinfo(name, port)
        names.add(name)
    assert len(names) == 3
    assert Path(HOSTS).read_bytes() == before
