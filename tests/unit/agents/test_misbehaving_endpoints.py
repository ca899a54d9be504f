"""Endpoints that misbehave as real ones do: the call is read in its form, the turn ends as it should, no run is lost."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent_requests import scripted_model
from model_agents import DELETE, LIST, model_agent, worked
from sirocco.errors import AgentFault
from sirocco.models.chat import Parameters

pytestmark = pytest.mark.requirement("SI-12")

LISTED, DELETED = ("list", "pods"), ("delete", "configmaps")
OVERFLOW = {"status": 400, "error": "maximum context length is 4096 tokens", "code": "context_length_exceeded"}
CALL = {"calls": [LIST]}
WRITTEN = json.dumps({"name": LIST[0], "arguments": LIST[1]})
DEEPSEEK = (
    f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{LIST[0]}\n"
    '```json\n{"kind": "pods"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)


@dataclass(frozen=True)
class Case:
    """What an endpoint says one after the other, and what the turn comes to."""

    replies: tuple[Any, ...]
    answer: str | None = "Two."
    ended: str | None = None
    forms: tuple[str, ...] = ("native",)
    done: tuple[Any, ...] = (LISTED,)
    refuses: tuple[str, ...] = field(default=())


def _said(usage: Any = None, **message: Any) -> dict[str, Any]:
    """A completion as it is on the wire."""
    return {"raw": {"choices": [{"message": {"content": "Two.", **message}}], "usage": usage}}


CASES = {
    "calls in a fence": Case((f"I look.\n```json\n{WRITTEN}\n```", "Two."), forms=("fenced_json",)),
    "calls in tags": Case((f"<tool_call>{WRITTEN}</tool_call>", "Two."), forms=("tool_call_tag",)),
    "calls in XML": Case(
        ("<function=list_resources><parameter=kind>pods</parameter></function>", "Two."), forms=("xml",)
    ),
    "calls by `function`": Case(
        (json.dumps({"function": LIST[0], "parameters": LIST[1]}), "Two."), forms=("bare_json",)
    ),
    "calls in Python": Case((f'[{LIST[0]}(kind="pods")]', "Two."), forms=("python",)),
    "calls in Python in a fence": Case((f'```tool_code\n{LIST[0]}(kind="pods")\n```', "Two."), forms=("python",)),
    "calls in Harmony": Case(
        (
            f'<|channel|>commentary to=functions.{LIST[0]} <|constrain|>json<|message|>{{"kind": "pods"}}<|call|>',
            "Two.",
        ),
        forms=("harmony",),
    ),
    "calls between DeepSeek's marks": Case((DEEPSEEK, "Two."), forms=("deepseek_token",)),
    "calls between DeepSeek's later marks": Case(
        (f'<｜tool▁call▁begin｜>{LIST[0]}<｜tool▁sep｜>{{"kind": "pods"}}<｜tool▁call▁end｜>', "Two."),
        forms=("deepseek_token",),
    ),
    "a call that was only thought of": Case(
        (f"<think>{json.dumps({'name': DELETE[0], 'arguments': DELETE[1]})}? No.</think>Two.",),
        answer=None,
        forms=(),
        done=(),
    ),
    "no tools, steps in JSON": Case(
        (json.dumps({"tool": LIST[0], "arguments": LIST[1]}), '{"answer": "Two."}'),
        forms=("bare_json",),
        refuses=("tools",),
    ),
    "a reply that is cut off": Case((CALL, {"text": "There are", "finish": "length"}, "Two.")),
    "replies that are always cut off": Case(
        (CALL, {"text": "There are", "finish": "length"}), answer="There are", ended="length"
    ),
    "calls that are cut off": Case(
        ({"calls": [DELETE], "finish": "length"},), answer=None, ended="length", forms=(), done=()
    ),
    "a filter": Case((CALL, {"text": "", "finish": "content_filter"}), answer="", ended="content_filter"),
    "a filter by status": Case(
        (CALL, {"status": 400, "error": "policy", "code": "content_filter"}), answer="", ended="content_filter"
    ),
    "overflow at the first request": Case((OVERFLOW,), answer="", ended="overflow", forms=(), done=()),
    "a storm of 429": Case((CALL, *[{"status": 429, "error": "slow down"}] * 7, "Two.")),
    "a storm of 500": Case((CALL, *[{"status": 500, "error": "oops"}] * 3, "Two.")),
    "500 for good": Case((CALL, {"status": 500, "error": "cannot parse the call"}), answer="", ended="fault"),
    "a conversation that is refused": Case((CALL, {"status": 422, "error": "bad message"}), answer="", ended="fault"),
    "junk for good": Case((CALL, {"raw": {"object": "nothing"}}), answer="", ended="fault"),
    "the same id for all calls": Case(
        ({"calls": [LIST, LIST], "id": "x"}, {"calls": [DELETE], "id": "x"}, {"calls": [LIST], "id": ""}, "Two."),
        forms=("native",) * 4,
        done=(LISTED, LISTED, DELETED, LISTED),
    ),
    "unknown tools": Case(({"calls": [["kubectl", {}]]}, CALL, "Two."), forms=("native", "native")),
    "endless identical calls": Case(
        (CALL,), answer=None, ended="repetition", forms=("native",) * 10, done=(LISTED,) * 10
    ),
    "a moment to wait until": Case(
        (CALL, {"status": 429, "headers": {"Retry-After": "Mon, 05 Jan 2026 09:00:00 GMT"}}, "Two.")
    ),
    "a pause that is no number": Case((CALL, {"status": 429, "headers": {"Retry-After": "nan"}}, "Two.")),
    "a status of some proxy": Case((CALL, {"status": 522, "error": "timed out"}, "Two.")),
    "another address on the same server": Case(
        (CALL, {"status": 307, "headers": {"Location": "/v2/chat/completions"}}, "Two.")
    ),
    "a filter in capitals": Case((CALL, {"text": "", "finish": "SAFETY"}), answer="", ended="content_filter"),
    "a filter without a message": Case(
        (CALL, {"raw": {"choices": [{"finish_reason": "content_filter"}]}}), answer="", ended="content_filter"
    ),
    "a limit in capitals": Case((CALL, {"text": "There are", "finish": "MAX_TOKENS"}, "Two.")),
    "a reply that says it broke": Case((CALL, {"text": "There are", "finish": "error"}, "Two.")),
    "a request too large": Case((CALL, {"status": 413, "error": "no"}), answer="", ended="overflow"),
    "overflow in other words": Case(
        (CALL, {"status": 400, "error": "The input token count (9) exceeds the maximum number of tokens allowed (8)."}),
        answer="",
        ended="overflow",
    ),
    "no choices once": Case((CALL, {"raw": {"choices": []}}, "Two.")),
    "no choices for good": Case((CALL, {"raw": {"choices": []}}), answer="", ended="fault"),
    "a call by the older key": Case(
        (_said(content=None, function_call={"name": LIST[0], "arguments": json.dumps(LIST[1])}), "Two.")
    ),
    "a call without the object around it": Case(
        (_said(content=None, tool_calls=[{"id": "a", "name": LIST[0], "arguments": LIST[1]}]), "Two.")
    ),
    "arguments that are JSON twice": Case(({"calls": [[LIST[0], json.dumps(json.dumps(LIST[1]))]]}, "Two.")),
    "counts that are none": Case((CALL, _said({"prompt_tokens": "many", "completion_tokens": float("inf")}))),
    "counts that are a list": Case((CALL, _said([1, 2]))),
    "an answer in parts": Case((CALL, _said(content=["Tw", None, {"type": "text", "text": "o."}]))),
    "identical calls without end in one reply": Case(
        ({"calls": [LIST] * 50},), answer=None, ended="repetition", forms=("native",) * 10, done=(LISTED,) * 10
    ),
    "silence": Case((CALL, "", "Two.")),
    "silence for good": Case((CALL, ""), answer=None, ended="empty"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_right_form_the_right_outcome_and_no_lost_run(case):
    with scripted_model(*case.replies, refuses=case.refuses) as endpoint:
        (response,), done = worked(endpoint.url)
        sent = endpoint.requests()
    assert tuple(action.form for action in response.actions) == case.forms
    assert tuple(done) == case.done
    assert getattr(response, "ended", None) == case.ended
    assert case.answer is None or response.final_answer == case.answer
    for request in sent:
        ids = [call["id"] for one in request["body"]["messages"] for call in one.get("tool_calls", ())]
        assert len(ids) == len(set(ids))
        assert all(ids)


def test_overflow_at_the_fifth_request_makes_old_results_shorter_and_the_next_turn_remembers():
    long = ["list_resources", {"kind": "pods", "output": "yaml"}]
    others = [["list_resources", {"kind": kind, "output": "yaml"}] for kind in ("deployments", "configmaps")]
    replies = [
        {"calls": [long]},
        *({"calls": [one]} for one in others),
        CALL,
        OVERFLOW,
        "Two.",
        {"calls": [long]},
        "2.",
    ]
    with scripted_model(*replies) as endpoint:
        (first, second), _ = worked(endpoint.url, "How many?", "And now?")
        sizes = [len(json.dumps(one["body"]["messages"])) for one in endpoint.requests()]
        told = [one["content"] for one in endpoint.requests()[5]["body"]["messages"] if one["role"] == "tool"]
    assert (first.final_answer, second.final_answer) == ("Two.", "2.")
    assert sizes[5] < sizes[4]
    assert "dropped to make room" in told[0]
    assert "dropped to make room" not in told[-1]
    assert first.loop["shortened_characters"] > 0
    # The evaluation sees what the tool said, whatever the model was left with.
    assert "dropped" not in first.actions[0].result


def test_a_known_context_is_never_overrun():
    long = ["list_resources", {"kind": "pods", "output": "yaml"}]
    other = ["list_resources", {"kind": "deployments", "output": "yaml"}]
    with scripted_model(*[{"calls": [one]} for _ in range(3) for one in (long, other)], "Two.") as endpoint:
        agent = model_agent(endpoint.url, context=6000)
        (response,), _ = worked(endpoint.url, agent=agent, interfaces=["container-orchestration"])
        sizes = [len(json.dumps(one["body"])) for one in endpoint.requests()]
    assert response.final_answer == "Two."
    assert response.loop["shortened_characters"] > 0
    assert max(sizes) < 6000 * 6


@pytest.mark.parametrize("status", [401, 403, 404, 503])
def test_what_only_the_endpoints_owner_can_mend_is_a_fault(status):
    with scripted_model(CALL, {"status": status, "error": "no"}) as endpoint, pytest.raises(AgentFault):
        worked(endpoint.url)


def test_nobody_is_told_the_conversation_whom_only_the_endpoint_names():
    with scripted_model(CALL) as other:
        moved = {"status": 307, "headers": {"Location": f"{other.url}/chat/completions"}}
        with scripted_model(moved) as endpoint, pytest.raises(AgentFault, match="it redirects to"):
            worked(endpoint.url)
        assert other.requests() == []


def test_parameters_tokens_and_digests_are_recorded():
    parameters = Parameters(temperature=0.0, max_tokens=256)
    with scripted_model(CALL, "Two.") as endpoint:
        agent = model_agent(endpoint.url, parameters)
        (response,), _ = worked(endpoint.url, agent=agent)
        (again,), _ = worked(endpoint.url, agent=agent, interfaces=["container-orchestration"])
        sent = endpoint.requests()
    assert response.usage == {"input_tokens": 20, "output_tokens": 10}
    assert response.loop["parameters"] == parameters.document()
    assert response.loop["replies"] == {"whole": 2}
    assert (sent[0]["body"]["temperature"], sent[0]["body"]["max_tokens"]) == (0.0, 256)
    assert response.loop["prompt_digest"] == again.loop["prompt_digest"]
    assert response.loop["tools_digest"] != again.loop["tools_digest"]


def test_the_scenario_decides_which_tools_there_are_and_others_cannot_be_called():
    silence = ["silence_alert", {"alertname": "x"}]
    with scripted_model({"calls": [silence]}, "No.") as endpoint:
        (response,), done = worked(endpoint.url, interfaces=["container-orchestration", "observability-tracing"])
        offered = {tool["function"]["name"] for tool in endpoint.requests()[0]["body"]["tools"]}
    assert {"list_resources", "get_pod_logs", "get_runbook", "search_traces"} <= offered
    assert not {"silence_alert", "list_pipelines", "get_dashboard"} & offered
    assert "unknown tool" in response.actions[0].error
    assert done == []


def test_what_is_the_same_in_all_scenarios_stands_first():
    """Also where an endpoint puts the tools behind the system message: that is the same, and so are the first tools."""
    with scripted_model("One.", "One.") as endpoint:
        worked(endpoint.url, interfaces=["container-orchestration", "ci-cd"])
        worked(endpoint.url, "Another question", interfaces=["container-orchestration", "observability-tracing"])
        one, other = (request["body"] for request in endpoint.requests())
    assert one["messages"][0] == other["messages"][0]
    assert one["messages"][1] != other["messages"][1]
    shared = [tool for tool, beside in zip(one["tools"], other["tools"], strict=False) if tool == beside]
    given = {tool["function"]["name"] for tool in one["tools"]} & {tool["function"]["name"] for tool in other["tools"]}
    assert {tool["function"]["name"] for tool in shared} == given
