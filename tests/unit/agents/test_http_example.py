"""The agent behind HTTP that README and docs/agents.md show: it needs nothing that is not there, and it answers."""

import asyncio
import re
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

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
        threading.Thread(target=server.serve_forever, daemon=True).start()
        agent = HttpAgent(f"http://127.0.0.1:{server.server_port}")

        async def asked():
            described, answer = await agent.describe(), await agent.respond(agent_request("How many pods?"))
            with pytest.raises(AgentFault) as caught:
                await agent.audit_trail("x")
            return described.identity.name, answer.final_answer, caught.value.kind

        assert asyncio.run(asked()) == ("mine", "heard: How many pods?", AgentFaultKind.REFUSED)
        server.shutdown()
