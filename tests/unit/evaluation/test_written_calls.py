"""Calls that models write as text: the forms that are read, those that are not, and that nothing breaks the reader."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.evaluation.written_calls import (
    closes_with_calls,
    command_lines,
    react_calls,
    without_calls,
    written_calls,
)

pytestmark = pytest.mark.requirement("SI-12")

ARGUMENTS = {"kind": "pods", "namespace": "shop"}
CALL = json.dumps({"name": "list_resources", "arguments": ARGUMENTS})
OTHER = json.dumps({"name": "get_logs", "parameters": {}})


def read(text, *offered):
    return [(call.name, call.arguments) for call in written_calls(text, offered) if not call.problem]


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```",
        f"```tool_call\n{CALL}\n```",
        f"```json {CALL}```",
        f"Let me look.\n\n```json\n{CALL}\n```\n",
        f"```json\n[{CALL}]\n```",
        f"```json\n{CALL}",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",
        f"<tool_call>\n```json\n{CALL}\n```\n</tool_call>",
        f"<function_call>{CALL}</function_call><|im_end|>",
        f"<think>Should I <tool_call>{OTHER}</tool_call>?</think><tool_call>{CALL}</tool_call>",
        f"<function=list_resources>{json.dumps(ARGUMENTS)}</function>",
        f"<tool_call><function=list_resources>{json.dumps(ARGUMENTS)}</function></tool_call>",
        f"[TOOL_CALLS] [{CALL}]",
        f"[TOOL_CALLS]{CALL}</s>",
        f"[TOOL_CALLS]list_resources[ARGS]{json.dumps(ARGUMENTS)}",
        f"<|python_tag|>{CALL}<|eom_id|>",
        CALL,
        f"  [{CALL}]\n",
        json.dumps({"type": "function", "id": "1", "function": {"name": "list_resources", "arguments": ARGUMENTS}}),
        json.dumps({"tool": "list_resources", "args": ARGUMENTS}),
        json.dumps({"tool_name": "list_resources", "input": ARGUMENTS}),
        json.dumps({"action": "list_resources", "action_input": ARGUMENTS}),
        json.dumps({"name": "list_resources", "parameters": ARGUMENTS}),
    ],
)
def test_a_call_is_read_in_the_forms_that_models_write(text):
    assert read(text) == [("list_resources", ARGUMENTS)]
    assert closes_with_calls(text, written_calls(text))


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{CALL}</tool_call>\n<tool_call>{OTHER}</tool_call>",
        f"```json\n{CALL}\n{OTHER}\n```",
        f"```json\n{CALL}\n```\n```json\n{OTHER}\n```",
        f"[TOOL_CALLS] [{CALL}, {OTHER}]",
        f"<|python_tag|>{CALL}; {OTHER}",
        f"<function=list_resources>{json.dumps(ARGUMENTS)}</function><function=get_logs>{{}}</function>",
        f"{CALL}\n{OTHER}",
    ],
)
def test_several_calls_are_read_in_their_order(text):
    assert read(text) == [("list_resources", ARGUMENTS), ("get_logs", {})]


def test_arguments_in_a_text_are_left_as_they_were_written():
    text = json.dumps({"name": "list_resources", "arguments": json.dumps(ARGUMENTS)})
    assert read(text) == [("list_resources", json.dumps(ARGUMENTS))]


@pytest.mark.parametrize(
    "text",
    [
        "There are two pods.",
        "",
        f"You could write {CALL} to see them.",
        '```json\n{"name": "web", "replicas": 2}\n```',
        '```json\n{"name": "web"}\n```',
        "```yaml\nname: web\narguments: {}\n```",
        f"```json\n[{CALL}, 7]\n```",
        json.dumps({"name": "list_resources", "arguments": ARGUMENTS, "description": "lists"}),
        json.dumps({"name": "list_resources", "tool": "x", "arguments": {}}),
        json.dumps({"name": 7, "arguments": {}}),
        json.dumps({"answer": "two"}),
        f"<think><tool_call>{CALL}</tool_call></think>Two pods run.",
        "```",
    ],
)
def test_what_is_no_call_is_not_taken_for_one(text):
    assert written_calls(text) == ()


def test_of_a_tool_that_is_offered_arguments_may_be_missing():
    assert read('```json\n{"name": "list_pods"}\n```', "list_pods") == [("list_pods", {})]
    assert read('<tool_call>{"name": "list_pods"}</tool_call>') == [("list_pods", {})]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "list_resources", "arguments": {</tool_call>',
        "<tool_call>list the pods</tool_call>",
        "<function=list_resources><parameter=kind>pods</parameter></function>",
        "```json\n{'name': 'list_resources', 'arguments': {}}\n```",
        '{"name": "list_resources", "arguments": {"kind": "pods"}',
        '{name: "list_resources", arguments: {}}',
        "[TOOL_CALLS] list the pods",
    ],
)
def test_a_call_that_cannot_be_read_is_found_and_not_repaired(text):
    (call,) = written_calls(text)
    assert call.problem


def test_what_is_said_after_a_call_shows_that_it_is_only_told_of():
    text = f"Never run ```json\n{CALL}\n``` here."
    assert not closes_with_calls(text, written_calls(text))
    assert without_calls(text, written_calls(text)) == "Never run  here."


def test_commands_are_lines_of_a_shell():
    block = "```bash\n$ kubectl get pods\nkubectl delete pod x\n# kubectl is a program\necho kubectl get\n```"
    assert command_lines(block, ["kubectl"]) == 2
    assert command_lines("kubectl get pods -n shop", ["kubectl"]) == 1
    assert command_lines("I ran kubectl get pods", ["kubectl"]) == 0
    assert command_lines("kubectl", ["kubectl"]) == 0
    assert command_lines("```yaml\nkubectl get pods\n```", ["kubectl"]) == 0


def test_a_trace_with_observations_is_told_and_not_asked_for():
    assert react_calls("Action: look\nAction Input: pods") == 1
    assert react_calls("Action: look\nAction Input: pods\nObservation: two") == 0


PIECES = st.sampled_from(
    ["<tool_call>", "</tool_call>", "<function=a>", "</function>", "[TOOL_CALLS]", "[ARGS]", "<|python_tag|>", "```",
     "```json\n", "\n", "{", "}", "[", "]", '"name"', '"arguments"', ":", ",", '"a"', CALL, "</think>", "Action:", "x",
     "Action Input:", "kubectl get", "\\", "\ud800", "\x00"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join)))
def test_no_text_breaks_the_reader(text):
    calls = written_calls(text, ["a"])
    assert len(calls) <= 64
    assert all(0 <= call.start <= call.end <= len(text) for call in calls)
    assert len(without_calls(text, calls)) <= len(text)
    closes_with_calls(text, calls)
    react_calls(text)
    command_lines(text, ["kubectl"])


@pytest.mark.parametrize("piece", ["<tool_call>", "[" * 2, "```json\n{", "Action:\n", "<function=a>", '{"a":', "```"])
def test_a_long_text_is_read_once(piece):
    text = piece * (400_000 // len(piece))
    assert len(written_calls(text)) <= 64
    react_calls(text)
    command_lines(text, ["kubectl"])
