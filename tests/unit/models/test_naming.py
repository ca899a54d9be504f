"""Models by name: what a user may write after it, and which client reaches whom."""

import asyncio

import pytest

from sirocco.errors import ConfigError
from sirocco.models.chat import Parameters, Reply
from sirocco.models.naming import ModelName, chat_model
from sirocco.models.pacing import PacedModel


def parse(text):
    return ModelName.parse(text, "--agent", "model:PROVIDER:NAME")


def test_a_name_may_hold_colons_and_slashes_and_parameters_follow_it():
    named = parse("ollama:library/qwen3:8b?temperature=0.5&max_tokens=512&seed=3&context=8192&reasoning_effort=low")
    assert (named.provider, named.name, named.context) == ("ollama", "library/qwen3:8b", 8192)
    assert named.parameters == Parameters(temperature=0.5, max_tokens=512, seed=3, reasoning_effort="low")
    assert named.parameters.document() == {
        "temperature": 0.5, "max_tokens": 512, "seed": 3, "reasoning_effort": "low",
    }  # fmt: skip


def test_what_is_asked_of_the_loop_is_not_sent_to_the_model():
    named = parse("llamacpp:m?calls=schema&steps=4&context=4096")
    assert (named.calls, named.steps, named.context) == ("schema", 4, 4096)
    assert named.parameters == Parameters()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gpt", "does not name a model"),
        ("openai:", "does not name a model"),
        ("openai:m?temprature=1", "has no parameter 'temprature'"),
        ("openai:m?temperature=hot", "a number from 0 to 2"),
        ("openai:m?temperature=nan", "a number from 0 to 2"),
        ("openai:m?max_tokens=1.5", "a whole number"),
        ("openai:m?reasoning_effort=much", "none, minimal, low"),
        ("openai:m?calls=xml", "native, schema, text"),
        ("openai:m?steps=0", "a whole number from 1"),
    ],
)
def test_what_is_wrong_with_a_name_is_said(text, said):
    with pytest.raises(ConfigError, match=said):
        parse(text)


def test_a_model_is_asked_no_more_often_than_its_name_says():
    asked = []

    class Model:
        name, parameters = "m", Parameters()

        async def reply(self, messages, *, tools=(), schema=None):
            asked.append(asyncio.get_running_loop().time())
            return Reply("yes")

    async def ask():
        paced = PacedModel(Model(), parse("openai:m?rpm=1200").rpm)
        begun = asyncio.get_running_loop().time()
        await asyncio.gather(*(paced.reply([]) for _ in range(4)))
        return begun

    begun = asyncio.run(ask())
    # None comes before its turn; on a busy machine it may come after it, and so closer to the next.
    assert len(asked) == 4
    assert all(when - begun > turn * 0.05 - 0.01 for turn, when in enumerate(asked))


def test_an_address_of_its_own_is_always_spoken_to_directly():
    model = chat_model(parse("anthropic:m"), "http://127.0.0.1:1/v1", {})
    assert (type(model).__name__, model.name) == ("OpenAiModel", "m")
