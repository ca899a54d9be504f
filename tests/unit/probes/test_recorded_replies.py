"""What a real model answered, as agent and as author: its calls are read, and its junk is not taken for context."""

import asyncio
import json
from pathlib import Path

import pytest

from agent_requests import scripted_model
from model_agents import worked
from sirocco.models.chat import Finish
from sirocco.oasis.probe import Cell, Nothing, ProbeRequest
from sirocco.probes.llm import brief
from sirocco.wiring import plugins, profile_source

RECORDED = json.loads((Path(__file__).parents[2] / "data/real_model/replies.json").read_text())
AS_AGENT = [one["reply"] for one in RECORDED if one["asked"]["kind"] == "native tools"]
AS_AUTHOR = [one["reply"] for one in RECORDED if one["asked"]["kind"] == "generator"]


@pytest.mark.requirement("SI-12")
def test_a_call_that_a_real_model_wrote_into_a_fence_is_carried_out():
    (reply,) = AS_AGENT
    assert not reply["choices"][0]["message"].get("tool_calls")
    with scripted_model({"raw": reply}, "Two.") as endpoint:
        (response,), done = worked(endpoint.url)
    assert done == [("list", "pods")]
    assert [(action.form, action.error) for action in response.actions] == [("fenced_json", None)]
    assert response.usage["output_tokens"] == reply["usage"]["completion_tokens"] + 5


@pytest.mark.requirement("AV-07")
def test_what_a_real_model_wrote_about_the_request_instead_of_around_it_is_not_used():
    profile = profile_source.required_profile("kubernetes_operations")[0]
    words, targets = profile.domain.vocabulary, tuple(profile.archetypes.values())
    cells = [Cell(number, target.id) for number, target in enumerate(targets[:12])]
    with scripted_model(*({"raw": reply} for reply in AS_AUTHOR)) as endpoint:
        generator = plugins.generator(f"llm:toy:m?url={endpoint.url}&repairs=0&fallback=1", profile)

        async def collect():
            request = ProbeRequest(targets, words.nouns, words.surfaces, 9, tuple(cells))
            return [answer async for answer in generator.propose(request)]

        answers = asyncio.run(collect())
    assert len(AS_AUTHOR) <= generator.tried == generator.failed.total()
    assert all(isinstance(answer, Nothing) for answer in answers)
    # One repeats what it was told and says that it was done, one was cut off, the others tell of somebody who asks.
    assert {"cut_off", "talk"} <= set(generator.failed) <= {"cut_off", "talk", "echo", "takes_back", "asks"}


def test_they_are_what_was_asked_for_in_form_where_they_are_whole():
    for reply in AS_AUTHOR:
        choice = reply["choices"][0]
        is_whole = choice["finish_reason"] != Finish.LENGTH
        assert (brief.read(choice["message"]["content"]) is not None) == is_whole
