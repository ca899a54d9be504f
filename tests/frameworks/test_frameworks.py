"""Adapters of frameworks as `sirocco init` writes them, each with its framework in an environment of its own."""

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
}
A2A = ("a2a-sdk[http-server]==1.3.0", "uvicorn==0.54.0")
HERE = Path(__file__).parent


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
        addresses = (
            {"ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": model.url}
            if kind == "claude-agent-sdk"
            else {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{model.url}/v1", "MODEL": "scripted"}
        )
        told = check_output(tmp_path, python, kind, **addresses)
    assert "passed  environment" in told, "the framework called the tool, and the tool reached the cluster"
    assert f"{len(SAID)} characters of answer" in told


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
