"""The agents that README and docs/agents.md show: they need nothing that is not there, and they answer."""

import asyncio
import re
import subprocess
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from mcp.server.mcpserver import MCPServer

from agent_requests import agent_request
from sirocco.agents.http import HttpAgent
from sirocco.errors import AgentFault, AgentFaultKind

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["README.md", "docs/agents.md"])
def test_the_example_is_an_agent(page):
    (code,) = (
        one for one in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL) if "do_GET" in one
    )
    defined, started, _ = code.partition("ThreadingHTTPServer((")
    assert started
    names = {"my_agent": lambda prompt, environment: f"heard: {prompt}"}
    exec(defined, names)
    names["Agent"].log_message = lambda *_: None
    with ThreadingHTTPServer(("127.0.0.1", 0), names["Agent"]) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        agent = HttpAgent(f"http://127.0.0.1:{server.server_port}")

        async def asked():
            described, answer = await agent.describe(), await agent.respond(agent_request("How many pods?"))
            with pytest.raises(AgentFault) as caught:
                await agent.audit_trail("x")
            return described.identity.name, answer.final_answer, caught.value.kind

        assert asyncio.run(asked()) == ("mine", "heard: How many pods?", AgentFaultKind.REFUSED)
        server.shutdown()


@pytest.mark.parametrize("page", ["README.md", "docs/agents.md"])
def test_the_mcp_example_needs_nothing_that_is_not_there(page, monkeypatch):
    ran = []

    def run(server):
        ran.append(server)

    monkeypatch.setattr(MCPServer, "run", run)
    (code,) = (
        one for one in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL) if "MCPServer(" in one
    )
    exec(code, {"my_agent": lambda prompt, environment: prompt})
    (server,) = ran
    assert [tool.name for tool in asyncio.run(server.list_tools())] == ["run_task"]


def test_a_program_that_the_shell_example_does_not_find_is_a_fault_and_no_empty_answer(tmp_path):
    (script,) = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (tmp_path / "jq").write_text("#!/bin/sh\necho '{}'\n")
    (tmp_path / "jq").chmod(0o755)
    environment = {"PATH": str(tmp_path)}
    done = subprocess.run(["/bin/sh", "-c", script], check=False, input=b"{}", env=environment, capture_output=True)
    assert (done.returncode, done.stdout) == (127, b"")
