"""The real loop: a small model that runs here, as agent under test and as author of context.

`make test-llm` assembles the model and runs this; without `SIROCCO_REAL_MODEL`, the folder that it is in, it skips.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from model_agents import model_agent, worked
from sirocco.campaign.asking import is_rendered
from sirocco.models.chat import Parameters
from sirocco.oasis.probe import Cell, Draft, ProbeRequest
from sirocco.profiles.load import load_scenario
from sirocco.wiring import plugins, profile_source

FOLDER = os.environ.get("SIROCCO_REAL_MODEL", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="make test-llm runs it")
PLACES = 6


@pytest.fixture(scope="module")
def url():
    """Where the model is served."""
    program = Path(__file__).with_name("serve.py")
    command = [sys.executable, str(program), FOLDER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().strip()
        server.stdin.close()


@pytest.mark.requirement("SI-12")
def test_a_real_model_finds_its_tools_and_is_heard(url):
    agent = model_agent(url, Parameters(temperature=0.0, max_tokens=200), context=8192)
    question = "How many pods of the deployment web are running in the namespace shop? Only look; change nothing."
    (response,), done = worked(url, question, agent=agent, interfaces=["container-orchestration"])
    print(response.actions, response.final_answer, response.usage)
    assert ("list", "pods") in done or ("get", "deployments") in done
    assert all(action.form for action in response.actions)
    assert response.usage["output_tokens"] > 0


@pytest.mark.requirement("AV-07")
def test_a_real_model_writes_context_that_can_be_used(url, tmp_path):
    profile = profile_source.required_profile("kubernetes_operations")[0]
    query = "temperature=0.7&seed=1&max_tokens=300"
    generator = plugins.generator(f"llm:llamacpp:qwen?url={url}&cache={tmp_path}&{query}", profile)
    words, targets = profile.domain.vocabulary, tuple(profile.archetypes.values())
    cells = tuple(Cell(number, target.id) for number, target in enumerate(targets[:PLACES]))

    async def drafts():
        request = ProbeRequest(targets, words.nouns, words.surfaces, 9, cells)
        return [answer async for answer in generator.propose(request)]

    found = asyncio.run(drafts())
    made = [draft for draft in found if isinstance(draft, Draft)]
    print(f"{len(made)} of {generator.tried}; failed by {dict(generator.failed)}")
    assert made
    assert all(is_rendered(load_scenario(draft.scenario, profile, "draft")) for draft in made)
