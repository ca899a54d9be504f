"""Models behind the library, with a provider's own protocol spoken by a real endpoint."""

import asyncio
import json

import pytest

from agent_requests import http_server
from optional import needs
from sirocco.errors import ConfigError, ModelFault
from sirocco.models.chat import Finish, Message, ToolCall, Usage
from sirocco.models.naming import ModelName, chat_model
from sirocco.oasis.tools import Tool

pytestmark = needs("pydantic_ai", "anthropic")

HELLO = (Message("user", "Hello"),)
TOOL = Tool("look", "Look around.", {"type": "object", "properties": {"where": {"type": "string"}}})


@pytest.fixture
def replied(monkeypatch):
    """What the model says to a conversation, and what the endpoint was sent; the reply is in Anthropic's form."""

    def work(content, stop="end_turn", status=200, messages=HELLO, query="", **options):
        body = {"error": {"type": "invalid_request_error", "message": content}}
        if status == 200:
            usage = {"input_tokens": 11, "output_tokens": 3}
            body = {
                "id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": content,
                "stop_reason": stop, "stop_sequence": None, "usage": usage,
            }  # fmt: skip
        with http_server(
            lambda *_: (status, json.dumps(body).encode(), {"Content-Type": "application/json"})
        ) as server:
            monkeypatch.setenv("ANTHROPIC_API_KEY", "k1")
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            named = ModelName.parse(f"anthropic:claude-x{query}", "--agent", "")
            reply = asyncio.run(chat_model(named, "", {}, 20).reply(messages, **options))
            return reply, json.loads(server.seen[-1].body)

    return work


def test_a_conversation_with_tools_goes_there_and_back(replied):
    messages = [
        Message("system", "S"),
        Message("user", "U"),
        Message("assistant", "Let me look.", (ToolCall("c1", "look", '{"where": "here"}'),)),
        Message("tool", "R", answers="c1"),
    ]
    content = [
        {"type": "text", "text": "Again."},
        {"type": "tool_use", "id": "c2", "name": "look", "input": {"where": "b"}},
    ]
    reply, sent = replied(content, "tool_use", messages=messages, tools=[TOOL], query="?temperature=0.5&max_tokens=99")
    assert (reply.content, reply.model, reply.usage, reply.finish) == ("Again.", "claude-x", Usage(11, 3), Finish.WHOLE)
    assert [(call.id, call.name, json.loads(call.arguments)) for call in reply.calls] == [
        ("c2", "look", {"where": "b"})
    ]
    assert (sent["temperature"], sent["max_tokens"], sent["tools"][0]["name"]) == (0.5, 99, "look")
    assert [one["role"] for one in sent["messages"]] == ["user", "assistant", "user"]
    assert sent["messages"][1]["content"][-1]["input"] == {"where": "here"}
    assert sent["messages"][2]["content"][0]["tool_use_id"] == "c1"


@pytest.mark.parametrize(("stop", "finish"), [("max_tokens", Finish.LENGTH), ("refusal", Finish.CONTENT_FILTER)])
def test_why_a_reply_ended_is_read(replied, stop, finish):
    assert replied([{"type": "text", "text": "It is"}], stop)[0].finish is finish


@pytest.mark.parametrize(
    ("said", "is_overflow"), [("prompt is too long: 210000 tokens > 200000 maximum", True), ("bad thing", False)]
)
def test_a_refusal_is_a_fault_in_the_endpoints_words(replied, said, is_overflow):
    with pytest.raises(ModelFault) as raised:
        replied(said, status=400)
    assert (raised.value.status, raised.value.is_overflow, said in raised.value.problem) == (400, is_overflow, True)


def test_a_missing_key_is_said_before_anything_runs(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        chat_model(ModelName.parse("anthropic:claude-x", "--agent", ""), "", {})
