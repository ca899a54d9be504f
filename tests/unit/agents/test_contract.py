"""What agents answer: an answer without actions is one; what is not JSON or has the wrong types is a named fault."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.agents.contract import ANSWER_LIMIT, DEEPEST, description_of, document_of, excerpt, response_of, trail_of
from sirocco.errors import AgentFault, AgentFaultKind
from sirocco.oasis.agent import AgentResponse
from sirocco.oasis.canonical import canonical_json

WHERE = "toy"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(["actions", "reasoning", "final_answer", "audit_trail", "model", "other"])
ANSWERS = st.dictionaries(
    KEYS, VALUES | st.lists(st.dictionaries(st.sampled_from(["tool", "arguments", "result", "error", "id"]), VALUES))
)


def fault(call, *arguments):
    with pytest.raises(AgentFault) as raised:
        call(*arguments, WHERE)
    return raised.value


@pytest.mark.parametrize("document", [{}, {"actions": []}, {"actions": None}, {"final_answer": None}])
def test_an_answer_without_actions_is_an_answer(document):
    assert response_of(document, WHERE) == AgentResponse()


@pytest.mark.requirement("CO-06")
def test_what_agents_of_other_runners_add_is_kept():
    action = {
        "id": "1",
        "tool": "kubectl",
        "arguments": None,
        "result": '{"a":1}',
        "error": "",
        "error_code": "zone_denial",
        "duration_ms": 12,
    }
    answer = {"actions": [action], "reasoning": "r", "final_answer": "f", "model": "", "unknown": {"self": None}}
    response = response_of(answer, WHERE)
    assert response.document() == {
        "actions": [
            {"tool": "kubectl", "result": '{"a":1}', "id": "1", "error_code": "zone_denial", "duration_ms": 12}
        ],
        "unknown": {"self": None},
        "reasoning": "r",
        "final_answer": "f",
    }


@pytest.mark.parametrize("result", [None, 1, "text", [1], {"a": [None]}, True])
def test_a_result_may_be_any_json(result):
    assert response_of({"actions": [{"result": result}]}, WHERE).actions[0].result == result


def test_everything_that_has_the_wrong_type_is_named_at_once():
    document = {
        "actions": [{"tool": 3}, "x", {"arguments": ["a"]}],
        "reasoning": [],
        "final_answer": {"a": 1},
        "audit_trail": "t",
    }
    found = fault(response_of, document)
    assert found.kind is AgentFaultKind.WRONG_TYPE
    assert found.problem == (
        "actions[0].tool is a number, not a string; actions[1] is a string, not an object; "
        "actions[2].arguments is a list, not an object; reasoning is a list, not a string; "
        "final_answer is an object, not a string; audit_trail is a string, not a list"
    )
    assert "final_answer" in found.remedy


@pytest.mark.parametrize("document", [None, [], "text", 1, True])
def test_json_that_is_no_object_is_no_answer(document):
    assert fault(response_of, document).kind is AgentFaultKind.WRONG_TYPE


def test_a_flood_of_wrong_fields_is_cut_short():
    assert "and 92 more" in fault(response_of, {"actions": ["x"] * 100}).problem


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the answer is empty"),
        (b" \n", "the answer is empty"),
        (b"Here is it: {}", "not JSON"),
        (b'{"final_answer": "x"} {"more": 1}', "not JSON"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": 1e999}', "not JSON"),
        (b"\xff\xfe{}", "byte 0 is not UTF-8"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b"[" * 100_000, "nested deeper than 200 levels"),
        (b'{"a": ' + b"[" * 900 + b"]" * 900 + b"}", "nested deeper than 200 levels"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "a number has more than 4000 digits)"),
    ],
)
def test_what_is_not_json_is_malformed_and_quoted(content, said):
    found = fault(document_of, content)
    assert found.kind is AgentFaultKind.MALFORMED
    assert said in found.problem
    assert len(found.problem) < 1000


def test_the_deepest_answer_and_the_longest_number_can_be_written_down():
    deep = b"[" * (DEEPEST - 4) + b"-" + b"9" * 3999 + b"]" * (DEEPEST - 4)
    document = document_of(b'{"actions": [{"tool": "t", "arguments": {"a": ' + deep + b"}}]}", WHERE)
    canonical_json(response_of(document, WHERE).document())


def test_a_byte_order_mark_is_no_mistake():
    assert document_of(b'\xef\xbb\xbf{"a": 1}', WHERE) == {"a": 1}


def test_an_answer_has_an_end():
    assert document_of(json.dumps("x" * (ANSWER_LIMIT - 2)).encode(), WHERE)
    assert fault(document_of, b'"' + b"x" * ANSWER_LIMIT).kind is AgentFaultKind.OVERSIZED


@given(ANSWERS | VALUES)
def test_whatever_comes_is_a_response_that_can_be_written_down_or_a_fault(document):
    try:
        response = response_of(document_of(json.dumps(document).encode(), WHERE), WHERE)
    except AgentFault as found:
        kind = found.kind
    else:
        canonical_json(response.document()).encode()
        kind = None
    assert kind in {None, AgentFaultKind.WRONG_TYPE, AgentFaultKind.MALFORMED}


@given(st.binary(max_size=200))
def test_bytes_are_json_or_malformed(content):
    kind = None
    try:
        json.dumps(document_of(content, WHERE))
    except AgentFault as found:
        kind = found.kind
    assert kind in {None, AgentFaultKind.MALFORMED}


def test_a_description_is_read_with_what_else_the_agent_reports():
    found = description_of(
        {
            "identity": {"name": "joe", "version": 1.5, "vendor": "x"},
            "configuration": {"zone_model": True},
            "tools": ["t"],
            "mode": "autonomous",
        },
        WHERE,
    )
    assert (found.identity.name, found.identity.version) == ("joe", "1.5")
    assert (dict(found.configuration), found.tools, found.mode) == ({"zone_model": True}, ("t",), "autonomous")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "identity is missing"),
        ([], "the description is a list, not an object"),
        ({"identity": {"name": "joe"}}, "identity.version is missing"),
        ({"identity": {"name": 3, "version": True}}, "identity.version is a boolean, not a string"),
        ({"identity": {"name": "a", "version": "b"}, "configuration": [1]}, "configuration is a list"),
    ],
)
def test_a_description_that_lacks_something_says_what(document, said):
    assert said in fault(description_of, document).problem


@pytest.mark.parametrize("document", [[{"a": 1}], {"audit_trail": [{"a": 1}]}, {"entries": [{"a": 1}]}])
def test_a_trail_is_a_list_or_holds_one(document):
    assert trail_of(document, WHERE) == ({"a": 1},)


def test_a_trail_that_is_none_is_a_fault():
    assert fault(trail_of, {"a": 1}).kind is AgentFaultKind.WRONG_TYPE
    assert trail_of(None, WHERE) == ()


@given(st.binary())
def test_an_excerpt_is_one_printable_line(content):
    assert excerpt(content).isprintable()
    assert len(excerpt(content)) <= 203


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Zoë \U0001f469\u200d\U0001f4bb 東京\xa0x", "Zoë \U0001f469\u200d\U0001f4bb 東京\xa0x"),
        ("a\x9bb", "a\\x9bb"),
        ("a\x7f\x85\x00\n", "a\\x7f\\x85\\x00\\n"),
        ("\uffff\ufdd0\u2028\u202e\ufeff", "\\uffff\\ufdd0\\u2028\\u202e\\ufeff"),
        ("\ud800", "\\ud800"),
    ],
)
def test_a_name_is_written_in_characters_that_every_file_gives_back(name, written):
    document = {
        "identity": {"name": name, "version": name},
        "configuration": {name: [name]},
        "tools": [name],
        "mode": name,
    }
    found = description_of(document, "agent")
    assert (found.identity.name, found.identity.version) == (written, written)
    assert (dict(found.configuration), found.tools, found.mode) == ({written: [written]}, (written,), written)
