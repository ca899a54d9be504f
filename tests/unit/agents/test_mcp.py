"""Agents that are MCP servers, over pipes and over HTTP, with the official package on their side."""

import asyncio
import json
import sys

import pytest

from agent_requests import ANSWER, agent_request, free_port, http_server, open_folder, process
from sirocco.agents.confinement import confinement
from sirocco.agents.mcp import mcp_at_url, mcp_command
from sirocco.agents.program import Program
from sirocco.errors import AgentFault, AgentFaultKind

SERVER = """
import json, os, sys, time
from mcp.server.mcpserver import MCPServer
server = MCPServer("toy", version="2.0")
%s
if len(sys.argv) > 1:
    import uvicorn
    print("ready", flush=True)
    uvicorn.run(server.streamable_http_app(), port=int(sys.argv[1]), log_level="critical")
else:
    server.run(transport="stdio")
"""
STRUCTURED = f"""
@server.tool()
def run_task(prompt: str, scope: dict) -> dict:
    answer = {ANSWER!r}
    return {{**answer, "reasoning": json.dumps([prompt, scope, os.environ.get("KUBECONFIG") and open(os.environ["KUBECONFIG"]).read()]) if len(sys.argv) < 2 else "I looked."}}
"""
TEXT = """
@server.tool()
def ask(prompt: str) -> str:
    return "You said " + prompt

@server.tool()
def identity_and_configuration() -> dict:
    return {"identity": {"name": "named", "version": "7"}, "configuration": {"interfaces": ["api"]}}
"""
WHOLE = """
@server.tool()
def task(request: dict) -> str:
    return json.dumps({"final_answer": ",".join(sorted(request))})

@server.tool()
def other(x: int) -> int:
    return x
"""
BAD = """
@server.tool()
def task(prompt: str) -> str:
    if prompt == "raise":
        raise ValueError("no key")
    if prompt == "exit":
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(3)
    if prompt == "sleep":
        time.sleep(60)
    return '{"final_answer": 3}'
"""
UNCLEAR = """
@server.tool()
def one(x: int) -> int:
    return x

@server.tool()
def two(x: int) -> int:
    return x
"""


@pytest.fixture
def folder():
    with open_folder() as path:
        yield path


def piped(folder, text, tool=""):
    (folder / "server.py").write_text(SERVER % text)
    program = Program.parse(f"{sys.executable} server.py", folder)
    return mcp_command(program, confinement(program.files, leading=("KUBECONFIG",)), tool)


def fault(agent, request=None, call="respond"):
    with pytest.raises(AgentFault) as raised:
        asyncio.run(agent.describe() if call == "describe" else agent.respond(request or agent_request()))
    return raised.value


def test_a_turn_over_pipes_is_a_call_of_its_tool_with_what_the_tool_takes(folder):
    agent = piped(folder, STRUCTURED)
    response = asyncio.run(agent.respond(agent_request("How many?", kubeconfig="of the turn")))
    assert response.final_answer == "Two."
    assert len(response.actions) == 1
    assert json.loads(response.reasoning) == ["How many?", {"namespaces": ["shop"]}, "of the turn"]
    described = asyncio.run(agent.describe())
    assert (described.identity.name, described.identity.version) == ("toy", "2.0")


def test_text_is_an_answer_and_a_tool_may_say_who_it_is(folder):
    agent = piped(folder, TEXT)
    assert asyncio.run(agent.respond(agent_request("hello"))).final_answer == "You said hello"
    described = asyncio.run(agent.describe())
    assert (described.identity.name, dict(described.configuration)) == ("named", {"interfaces": ["api"]})


def test_a_tool_for_the_whole_request_is_found_among_others(folder):
    said = asyncio.run(piped(folder, WHOLE).respond(agent_request())).final_answer
    assert said == "conversation,deadline_seconds,environment,mode,prompt,run_id,scope,tools"


@pytest.mark.parametrize(
    ("prompt", "kind", "said"),
    [
        ("raise", AgentFaultKind.REFUSED, "task"),
        ("exit", AgentFaultKind.EXITED, "ended without an answer: out of memory"),
        ("other", AgentFaultKind.WRONG_TYPE, "final_answer is a number"),
    ],
)
def test_what_is_no_answer_is_a_typed_fault(folder, prompt, kind, said):
    found = fault(piped(folder, BAD), agent_request(prompt))
    assert (found.kind, said in found.problem) == (kind, True), found


def test_one_that_takes_too_long_is_ended(folder):
    assert fault(piped(folder, BAD), agent_request("sleep", deadline=2)).kind is AgentFaultKind.TIMEOUT


def test_which_tool_is_meant_must_be_plain_or_said(folder):
    found = fault(piped(folder, UNCLEAR), call="describe")
    assert "one, two" in found.problem
    assert "--agent-tool" in found.remedy
    assert "it has no tool 'three'" in fault(piped(folder, UNCLEAR, tool="three")).problem
    assert "takes x, but neither prompt nor request" in fault(piped(folder, UNCLEAR, tool="two")).problem


def test_a_program_that_speaks_no_mcp_is_a_fault(folder):
    program = Program.parse("sh -c 'echo hello; exit 1'", folder)
    assert fault(mcp_command(program, confinement(program.files))).kind is AgentFaultKind.EXITED


def test_a_server_at_a_url(folder):
    (folder / "server.py").write_text(SERVER % STRUCTURED)
    port = free_port()
    with process(sys.executable, folder / "server.py", port) as running:
        assert running.line == "ready"
        agent = mcp_at_url(f"http://127.0.0.1:{port}/mcp", {"X-Team": "blue"})
        described = asyncio.run(_patiently(agent.describe))
        assert described.identity.name == "toy"
        assert asyncio.run(agent.respond(agent_request())).document() == ANSWER
    assert agent.isolation == "network"
    assert fault(agent).kind is AgentFaultKind.UNREACHABLE


async def _patiently(describe):
    """The line comes before the socket."""
    for _ in range(50):
        try:
            return await describe()
        except AgentFault:
            await asyncio.sleep(0.1)
    return await describe()


def test_a_url_where_something_else_answers_is_a_fault():
    with http_server(lambda *_: (200, b"<html>")) as server:
        found = fault(mcp_at_url(f"{server.url}/mcp", {}))
    assert found.problem


@pytest.mark.requirement("SI-02")
def test_nothing_sent_to_a_server_names_the_evaluation():
    with http_server(lambda *_: (404, b"")) as server:
        fault(mcp_at_url(f"{server.url}/mcp", {}))
    said = json.dumps([[seen.headers, seen.body.decode()] for seen in server.seen]).lower()
    assert said
    assert not any(word in said for word in ("sirocco", "oasis", "probe", "scenario", "witness"))
