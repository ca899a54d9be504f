"""The client for models, against a real endpoint in another process: what is sent, read, tried again, and refused."""

import asyncio
import time

import pytest

from agent_requests import free_port, http_server, scripted_model
from sirocco.errors import ConfigError, ModelFault
from sirocco.models.chat import Finish, Message, Parameters, ToolCall, Usage
from sirocco.models.endpoints import Endpoint, endpoint
from sirocco.models.openai import OpenAiModel
from sirocco.oasis.tools import Tool

TOOL = Tool("look", "Look around.", {"type": "object", "properties": {"where": {"type": "string"}}})
HELLO = [Message("user", "Hello")]


def reply(url, messages=HELLO, *, key="", pause=0.01, **options):
    return asyncio.run(OpenAiModel(Endpoint(url, key), "m-1", pause=pause).reply(messages, **options))


def fault(*arguments, **options):
    with pytest.raises(ModelFault) as raised:
        reply(*arguments, **options)
    return raised.value


def test_a_conversation_with_tools_is_sent_as_the_protocol_has_it():
    call = ToolCall("c1", "look", '{"where": "here"}')
    messages = [
        Message("system", "S"),
        Message("user", "U"),
        Message("assistant", "", (call,)),
        Message("tool", "R", answers="c1"),
    ]
    with scripted_model("Done.") as endpoint:
        said = reply(endpoint.url, messages, key="k1", tools=[TOOL])
        (sent,) = endpoint.requests()
    assert (said.content, said.calls, said.model, said.usage) == ("Done.", (), "scripted-1", Usage(10, 5))
    assert (sent["path"], sent["authorization"]) == ("/v1/chat/completions", "Bearer k1")
    assert sent["body"]["model"] == "m-1"
    assert sent["body"]["messages"] == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "U"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"where": "here"}'}}
            ],
        },
        {"role": "tool", "content": "R", "tool_call_id": "c1"},
    ]
    assert sent["body"]["tools"] == [
        {"type": "function", "function": {"name": "look", "description": "Look around.", "parameters": TOOL.parameters}}
    ]


def test_without_tools_or_schema_neither_is_sent_and_without_a_key_none_is():
    with scripted_model("Done.") as endpoint:
        reply(endpoint.url)
        (sent,) = endpoint.requests()
    assert set(sent["body"]) == {"model", "messages"}
    assert sent["authorization"] is None


def test_calls_are_read():
    with scripted_model({"calls": [["look", {"where": "a"}], ["look", "not json"]], "content": "First"}) as endpoint:
        said = reply(endpoint.url, tools=[TOOL])
    assert said.content == "First"
    assert [(call.name, call.arguments) for call in said.calls] == [("look", '{"where": "a"}'), ("look", "not json")]


def test_a_schema_is_sent_as_a_response_format():
    with scripted_model("{}") as endpoint:
        reply(endpoint.url, schema={"type": "object"})
        (sent,) = endpoint.requests()
    assert sent["body"]["response_format"]["json_schema"]["schema"] == {"type": "object"}


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_or_broken_endpoint_is_asked_again(status):
    with scripted_model({"status": status}, {"status": status}, "Done.") as endpoint:
        assert reply(endpoint.url).content == "Done."
        assert len(endpoint.requests()) == 3


def test_it_waits_as_long_as_the_endpoint_says():
    with scripted_model({"status": 429, "headers": {"Retry-After": "1"}}, "Done.") as endpoint:
        began = time.monotonic()
        reply(endpoint.url)
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize(("status", "tries"), [(503, 8), (429, 8), (500, 4)])
def test_one_that_stays_busy_is_asked_more_often_than_one_that_stays_broken(status, tries):
    with scripted_model({"status": status, "error": "overloaded"}) as endpoint:
        found = fault(endpoint.url)
        assert len(endpoint.requests()) == tries
    assert (found.status, "overloaded" in found.problem) == (status, True)


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (400, "This model's maximum context length is 4096 tokens.", "context_length_exceeded"),
        (400, "the request exceeds the available context size (2048 tokens)", None),
        (500, "prompt is too long: 9000 tokens > 8000 maximum", None),
        (413, "", "exceed_context_size_error"),
    ],
)
def test_a_conversation_that_does_not_fit_is_told_apart_and_not_sent_again(status, error, code):
    with scripted_model({"status": status, "error": error, "code": code}) as endpoint:
        found = fault(endpoint.url)
        assert len(endpoint.requests()) == 1
    assert found.is_overflow


@pytest.mark.parametrize(
    ("reply_", "finish"),
    [
        ({"text": "It is", "finish": "length"}, Finish.LENGTH),
        ({"text": "", "finish": "content_filter"}, Finish.CONTENT_FILTER),
        ({"status": 400, "error": "filtered", "code": "content_filter"}, Finish.CONTENT_FILTER),
        ({"text": "Two.", "finish": "stop"}, Finish.WHOLE),
        ({"text": "Two.", "finish": "eos"}, Finish.WHOLE),
        ("Two.", Finish.WHOLE),
    ],
)
def test_why_a_reply_ended_is_read(reply_, finish):
    with scripted_model(reply_) as endpoint:
        assert reply(endpoint.url).finish is finish


def test_parameters_are_sent_and_what_changes_from_request_to_request_stands_last():
    parameters = Parameters(temperature=0.2, max_tokens=64, seed=7)
    with scripted_model("Done.") as endpoint:
        model = OpenAiModel(Endpoint(endpoint.url), "m-1", parameters)
        asyncio.run(model.reply(HELLO, tools=[TOOL]))
        (sent,) = endpoint.requests()
    assert list(sent["body"]) == ["model", "temperature", "max_tokens", "seed", "tools", "messages"]
    assert {key: sent["body"][key] for key in parameters.document()} == parameters.document()


def test_a_reply_that_is_none_is_asked_for_again():
    with scripted_model({"raw": {"error": {"message": "try later"}}}, "Done.") as endpoint:
        assert reply(endpoint.url).content == "Done."


@pytest.mark.parametrize(("status", "remedy"), [(400, "documentation"), (401, "key"), (404, "model's name")])
def test_a_refusal_is_not_asked_again(status, remedy):
    with scripted_model({"status": status, "error": "bad thing"}) as endpoint:
        found = fault(endpoint.url)
        assert len(endpoint.requests()) == 1
    assert (found.status, "bad thing" in found.problem, remedy in found.remedy) == (status, True, True)


def test_nobody_there_is_a_fault():
    assert "cannot be reached" in fault(f"http://127.0.0.1:{free_port()}/v1").problem


@pytest.mark.parametrize(
    "raw",
    [{}, {"choices": []}, [], "x", {"choices": [{"message": {"tool_calls": [{}]}}]}, {"choices": [{"message": 3}]}],
)
def test_what_is_no_completion_is_a_fault(raw):
    with scripted_model({"raw": raw}) as endpoint:
        assert "not a chat completion" in fault(endpoint.url).problem


def test_content_in_parts_is_joined():
    with scripted_model(
        {"raw": {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}]}}
    ) as endpoint:
        assert reply(endpoint.url).content == "ab"


def test_an_endless_reply_is_cut_off():
    with http_server(lambda *_: (200, b"x" * 33 * 1024 * 1024)) as server:
        assert "longer than" in fault(server.url).problem


def test_a_key_is_never_shown():
    assert "k1" not in repr(Endpoint("http://h", "k1"))


def test_known_providers_have_an_address_and_their_key_comes_from_their_variable():
    assert endpoint("openai", "", {"OPENAI_API_KEY": "k"}) == Endpoint("https://api.openai.com/v1", "k")
    assert endpoint("ollama", "", {}) == Endpoint("http://127.0.0.1:11434/v1", "")
    assert endpoint("openai", "http://h/v1/", {}) == Endpoint("http://h/v1", "")
    assert endpoint("my-own", "http://h/v1/chat/completions", {"MY_OWN_API_KEY": "k"}) == Endpoint("http://h/v1", "k")


@pytest.mark.parametrize(
    ("provider", "said"),
    [("openai", "OPENAI_API_KEY is not set"), ("opnai", "did you mean 'openai'"), ("zzz", "--model-url")],
)
def test_a_provider_that_cannot_be_asked_says_what_is_missing(provider, said):
    with pytest.raises(ConfigError, match=said):
        endpoint(provider, "", {})


@pytest.mark.parametrize("url", ["", "localhost:1", "ftp://x", "http://", "http://a b"])
def test_what_is_no_url_is_said_at_once(url):
    with pytest.raises(ConfigError):
        OpenAiModel(Endpoint(url), "m")
