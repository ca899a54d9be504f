"""Calls that models write as text: the forms that are read, those that are not, and that nothing breaks the reader."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.evaluation.written_calls import (
    CallForm,
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


XML = {
    "qwen": "<tool_call>\n<function=list_resources>\n<parameter=kind>\npods\n</parameter>\n"
    "<parameter=namespace>\nshop\n</parameter>\n</function>\n</tool_call>",
    "named": "<function=list_resources><parameter=kind>pods</parameter><parameter=namespace>shop</parameter></function>",
    "invoke": '<function_calls>\n<invoke name="list_resources">\n<parameter name="kind">pods</parameter>\n'
    '<parameter name="namespace">shop</parameter>\n</invoke>\n</function_calls>',
    "bare invoke": '<invoke name="list_resources"><parameter name="kind">pods</parameter>'
    '<parameter name="namespace">shop</parameter></invoke>',
    "keys": "<tool_call>list_resources\n<arg_key>kind</arg_key>\n<arg_value>pods</arg_value>\n"
    "<arg_key>namespace</arg_key>\n<arg_value>shop</arg_value>\n</tool_call>",
}


@pytest.mark.parametrize("text", XML.values(), ids=XML)
def test_a_call_in_xml_is_read_with_its_values_as_texts(text):
    assert [(call.name, call.arguments, call.form, call.problem) for call in written_calls(text)] == [
        ("list_resources", ARGUMENTS, CallForm.XML, "")
    ]
    assert closes_with_calls(text, written_calls(text))
    assert not closes_with_calls(f"{text}\nThat is how.", written_calls(f"{text}\nThat is how."))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (f"```json\n{CALL}\n```", CallForm.FENCE),
        (CALL, CallForm.BARE),
        (f"<tool_call>{CALL}</tool_call>", CallForm.TAG),
        (f"<function=list_resources>{json.dumps(ARGUMENTS)}</function>", CallForm.FUNCTION_TAG),
        (f"[TOOL_CALLS] [{CALL}]", CallForm.MISTRAL),
        (f"<|python_tag|>{CALL}", CallForm.LLAMA),
    ],
)
def test_the_form_of_a_call_is_told(text, form):
    assert [call.form for call in written_calls(text)] == [form]


def test_openings_without_an_end_take_no_longer_than_other_text():
    began = time.process_time()
    for opening in ("<parameter=a>", '<invoke name="a">', "<arg_key>a</arg_key><arg_value>", "<function=a>"):
        written_calls("<tool_call>a" + opening * 15_000)
        written_calls(opening * 15_000)
    assert time.process_time() - began < 2


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
        "<function=list_resources><parameter=kind>pods</function>",
        '<invoke name="list_resources"><parameter name="kind">pods</parameter> please</invoke>',
        '<invoke name="list_resources"><parameter name="kind">pods</parameter>',
        "<tool_call>list_resources\n<arg_key>kind</arg_key>\n<arg_value>pods</tool_call>",
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
