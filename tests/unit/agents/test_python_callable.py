"""Agents that are Python callables: sync and async, factories and functions, in a process of their own."""

import asyncio
import importlib.resources
import json
import os

import pytest

from agent_requests import DESCRIPTION, agent_request
from sirocco.agents.confinement import confinement
from sirocco.agents.python_callable import PythonAgent
from sirocco.errors import AgentFault, AgentFaultKind, ConfigError

MODULE = '''
"""Agents of all kinds."""
import asyncio, dataclasses, json, os, sys
from described import DESCRIPTION
IDENTITY = DESCRIPTION["identity"]

__version__ = "3.1"

def function(request):
    return {"final_answer": request["prompt"].upper()}

async def coroutine(request):
    await asyncio.sleep(0)
    return {"final_answer": request["prompt"].upper()}

def text(request):
    return "just text"

def nothing(request):
    return None

def factory():
    seen = []
    def agent(request):
        seen.append(request["prompt"])
        return {"final_answer": ", ".join(seen)}
    return agent

async def async_factory():
    return function

class Agent:
    identity = IDENTITY
    configuration = {"interfaces": ["api"]}
    def respond(self, request):
        return {"final_answer": os.environ["HOME"]}

class Described:
    async def describe(self):
        return DESCRIPTION
    async def __call__(self, request):
        return {}

class Inner:
    class Nested(Agent):
        pass

@dataclasses.dataclass
class Answer:
    final_answer: str

def dataclass(request):
    return Answer("of a dataclass")

def noisy(request):
    print("noise on standard output")
    sys.stdout.flush()
    os.write(1, b"raw noise\\n")
    return {"final_answer": repr(sys.stdin.read())}

def raises(request):
    raise ValueError("no such pod")

def leaves(request):
    sys.exit(0)

def dies(request):
    os._exit(7)

def wrong(request):
    return {"final_answer": 3}

def unwritable(request):
    return {"final_answer": object()}

def infinite(request):
    return {"actions": [{"result": float("inf")}]}

def surroundings(request):
    return {"final_answer": json.dumps([dict(os.environ), os.getcwd(), os.listdir(), sys.argv, open(os.environ["KUBECONFIG"]).read()])}

async def sleeps(request):
    await asyncio.sleep(60)

no_callable = 3
def makes_nothing():
    return 3
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "toys.py").write_text(MODULE)
    (tmp_path / "described.py").write_text(f"DESCRIPTION = {DESCRIPTION!r}")
    return tmp_path


def agent(folder, name, **options):
    return PythonAgent(f"toys:{name}", [str(folder)], confinement([folder], leading=("KUBECONFIG",)), **options)


def run(agent, *steps):
    async def all_steps():
        try:
            return [await step(agent) for step in steps]
        finally:
            await agent.close()

    return asyncio.run(all_steps())


def answered(agent, *requests):
    return [
        one.final_answer
        for one in run(agent, *(lambda a, r=r: a.respond(r) for r in requests or [agent_request("hi")]))
    ]


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("function", "HI"),
        ("coroutine", "HI"),
        ("text", "just text"),
        ("nothing", ""),
        ("factory", "hi"),
        ("async_factory", "HI"),
        ("dataclass", "of a dataclass"),
    ],
)
def test_it_may_be_a_function_a_coroutine_or_what_makes_one(folder, name, answer):
    assert answered(agent(folder, name)) == [answer]


def test_it_lives_in_another_process(folder):
    (said,) = answered(agent(folder, "Agent"))
    assert said != os.environ["HOME"]


def test_every_conversation_has_an_agent_that_knows_nothing_yet(folder):
    first = [agent_request("a"), agent_request("b", conversation=[("user", "a"), ("assistant", "x")])]
    again = [agent_request("c")]
    other = [agent_request("d", run_id="b" * 32, conversation=[("user", "earlier")] * 5)]
    assert answered(agent(folder, "factory"), *first, *again, *other) == ["a", "a, b", "c", "d"]


def test_who_it_is(folder):
    def identity(name):
        (described,) = run(agent(folder, name), lambda one: one.describe())
        return described.identity.name, described.identity.version, dict(described.configuration)

    assert identity("function") == ("toys:function", "3.1", {})
    assert identity("Agent") == ("toy", "1.2", {"interfaces": ["api"]})
    assert identity("Described") == ("toy", "1.2", {"interfaces": ["api"]})
    assert identity("Inner.Nested")[0] == "toy"


def test_what_it_prints_is_not_its_answer_and_it_reads_no_request_of_another(folder):
    assert answered(agent(folder, "noisy"), agent_request(), agent_request()) == ["''", "''"]


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("raises", AgentFaultKind.FAILED, "ValueError: no such pod (toys.py:"),
        ("leaves", AgentFaultKind.FAILED, "SystemExit: 0"),
        ("dies", AgentFaultKind.EXITED, "ended without an answer"),
        ("wrong", AgentFaultKind.WRONG_TYPE, "final_answer is a number, not a string"),
        ("unwritable", AgentFaultKind.FAILED, "object cannot be written as JSON"),
        ("infinite", AgentFaultKind.FAILED, "ValueError"),
        ("no_callable", AgentFaultKind.FAILED, "toys:no_callable is int, which cannot be called"),
        ("makes_nothing", AgentFaultKind.FAILED, "toys:makes_nothing() gave int, which is not an agent"),
        ("no_such_name", AgentFaultKind.FAILED, "no attribute 'no_such_name'"),
    ],
)
def test_what_goes_wrong_in_it_is_a_fault_and_the_next_turn_is_not_lost(folder, name, kind, said):
    with pytest.raises(AgentFault) as raised:
        answered(agent(folder, name))
    assert (raised.value.kind, said in raised.value.problem) == (kind, True), raised.value


def test_one_that_takes_too_long_is_ended(folder):
    with pytest.raises(AgentFault) as raised:
        answered(agent(folder, "sleeps"), agent_request(deadline=1))
    assert raised.value.kind is AgentFaultKind.TIMEOUT


@pytest.mark.requirement("SI-02")
def test_it_works_in_an_empty_folder_with_variables_of_its_own(folder, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", "/home/user/.kube/config")
    (said,) = answered(agent(folder, "surroundings"), agent_request(kubeconfig="of the turn"))
    variables, where, files, arguments, kubeconfig = json.loads(said)
    assert files == []
    assert kubeconfig == "of the turn"
    assert variables["HOME"] == where
    assert arguments == ["toys"]
    given = json.dumps([{key: value for key, value in variables.items() if key != "PATH"}, where, arguments]).lower()
    assert not any(word in given for word in ("sirocco", "oasis", "probe", "scenario", "witness"))


def test_the_program_around_it_imports_nothing_of_ours():
    text = importlib.resources.files("sirocco.agents").joinpath("python_host.py").read_text().lower()
    assert not any(word in text for word in ("sirocco", "oasis", "probe", "scenario", "witness"))


@pytest.mark.parametrize("spec", ["", "module", "module:", ":factory", "a.b:c d", "../x:y", "a:b:c", "1a:b"])
def test_what_names_no_callable_is_said_at_once(spec):
    with pytest.raises(ConfigError, match="does not name a callable"):
        PythonAgent(spec, [], confinement([]))
