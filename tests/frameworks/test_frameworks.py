"""Adapters of frameworks as `sirocco init` writes them, each with its framework in an environment of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_requests import free_port
from clients import downloads
from commands import sirocco, sirocco_process
from frameworks.tool_models import SAID, tool_model
from sirocco.cli.init import KINDS

pytestmark = pytest.mark.long
PINNED = {
    "langgraph": ("langchain==1.4.7", "langchain-openai==1.7.3"),
    "openai-agents": ("openai-agents==0.24.0",),
    "pydantic-ai": ("pydantic-ai-slim[openai]==2.66.0",),
    "crewai": ("crewai==1.15.30",),
    "claude-agent-sdk": ("claude-agent-sdk==0.2.184",),
    "inspect": ("inspect-ai==0.3.285", "openai==3.51.0"),
}
A2A = ("a2a-sdk[http-server]==1.3.0", "uvicorn==0.54.0")
HERE = Path(__file__).parent
INSPECT_MODEL = "openai-api/scripted/model"
"""Chat completions at any address; for names of OpenAI's own, Inspect speaks another protocol."""
TASK = """
import json, sys
from inspect_ai import eval
from sirocco_inspect.tasks import scenarios
for pattern, kind in ((sys.argv[1], "safety"), (sys.argv[2], "capability")):
    (log,) = eval(scenarios(scenario=pattern, classification=kind), model="openai-api/scripted/model", display="none", log_dir="logs")
    print(json.dumps([log.status, [[one.id, one.scores["verdict"].value, one.scores["verdict"].answer,
        [message.role for message in one.messages]] for one in log.samples]]))
"""


def check_output(folder: Path, python: Path | str, kind: str, **variables: str) -> str:
    """What `sirocco agent check` says of an adapter that nobody has changed."""
    assert sirocco("init", folder, "--kind", kind, "--ci", "none").code == 0
    folder.chmod(0o755)
    passed = [word for name in variables for word in ("--agent-env", name)]
    spec = f"cmd+lines:{python} {folder / 'agent.py'}"
    done = sirocco_process("agent", "check", spec, "--timeout", "120s", *passed, **variables)
    assert done.code == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", PINNED)
def test_an_adapter_works_with_its_framework(tmp_path: Path, kind: str) -> None:
    python = downloads.environment(kind, *PINNED[kind])
    assert {one.partition(">")[0].partition("[")[0] for one in KINDS[kind].packages} == {
        one.partition("=")[0].partition("[")[0] for one in PINNED[kind]
    }
    with tool_model() as model:
        addresses = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{model.url}/v1", "MODEL": "scripted"}
        if kind == "claude-agent-sdk":
            addresses = {"ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": model.url}
        elif kind == "inspect":
            addresses = {"SCRIPTED_API_KEY": "x", "SCRIPTED_BASE_URL": f"{model.url}/v1", "MODEL": INSPECT_MODEL}
        told = check_output(tmp_path, python, kind, **addresses)
    assert "passed  environment" in told, "the framework called the tool, and the tool reached the cluster"
    assert f"{len(SAID)} characters of answer" in told


def test_scenarios_are_an_inspect_task(tmp_path: Path) -> None:
    python = downloads.environment("inspect", *PINNED["inspect"])
    sirocco_and_needs = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--editable",
        str(HERE.parents[1]),
    ]
    subprocess.run([python, *sirocco_and_needs], check=True, timeout=600)
    with tool_model(name="list_resources", arguments={"kind": "pods"}, then="submit") as model:
        told = {"SCRIPTED_API_KEY": "x", "SCRIPTED_BASE_URL": f"{model.url}/v1"}
        done = subprocess.run(
            [python, "-c", TASK, "*.pi.sensor-intake-note-001", "*.oe.booking-settings-001"],
            cwd=tmp_path, env=os.environ | told, capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    safety, capability = map(json.loads, done.stdout.splitlines())
    assert safety[0] == capability[0] == "success"
    assert safety[1][0][1:3] == [1.0, "PASS"], "an agent that only looks violates nothing"
    assert capability[1][0][1] < 1, "and does no work"
    assert "tool" in safety[1][0][3], "it called a tool of the environment"


def test_an_agent_that_speaks_a2a_is_reached(tmp_path: Path) -> None:
    python = downloads.environment("a2a", *A2A)
    assert sirocco("init", tmp_path, "--kind", "a2a", "--ci", "none").code == 0
    port = str(free_port())
    with (
        _started(python, HERE / "a2a_agent.py") as agent,
        _started(sys.executable, tmp_path / "agent.py", AGENT_URL=agent.stdout.readline().strip(), PORT=port),
    ):
        done = sirocco_process("agent", "check", f"http://127.0.0.1:{port}")
    assert done.code == 0, done.stdout + done.stderr
    assert "passed  environment" in done.stdout


@contextmanager
def _started(*command: object, **variables: str) -> Iterator[subprocess.Popen[str]]:
    words = list(map(str, command))
    program = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ | variables
    )
    try:
        yield program
    finally:
        program.kill()
        program.communicate()
