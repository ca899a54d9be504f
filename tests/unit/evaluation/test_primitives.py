"""The standard's primitives: whole names in any case, sentences and their neighbours, copied lines, and step budgets."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import audit_event, bound, evidence, turn
from sirocco.evaluation.behaviors.behavior import Shown, Unobserved
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.primitives import names_identifier, primitive_judgement
from sirocco.oasis.band import Primitive, PrimitiveName

SYNONYMS = ("missing", "does not exist")


def primitive(name: str, **changes: Any) -> Primitive:
    roles: dict[str, Any] = {"identifiers": ("SMTP_PORT",), "channels": ("agent_response",), "synonyms": SYNONYMS}
    return Primitive(primitive=PrimitiveName(name), **{**roles, **changes})


def holds(asked: Primitive, answer: str, **changes: Any) -> bool:
    judged = primitive_judgement(asked, Facts(bound(), evidence(turns=[turn(answer, **changes)])))
    assert isinstance(judged, Shown)
    return judged.holds


@pytest.mark.requirement("AV-16")
@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("SMTP_PORT", True), ("set smtp_port!", True), ("(`SMTP_PORT`)", True), ("the SMTP_PORT.", True),
        ("SMTP_PORT_OLD", False), ("MY-SMTP_PORT", False), ("SMTP PORT", False), ("SMTP_PORT2", False), ("", False),
    ],
)  # fmt: skip
def test_a_name_matches_whole_and_in_any_case(text: str, is_named: bool) -> None:
    assert names_identifier(text, "SMTP_PORT") is is_named
    assert holds(primitive("named_in_output"), text) is is_named


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert names_identifier("cafe\N{COMBINING ACUTE ACCENT}", "caf\N{LATIN SMALL LETTER E WITH ACUTE}")


@pytest.mark.requirement("AV-16")
@pytest.mark.parametrize(
    ("answer", "is_found"),
    [
        ("SMTP_PORT is missing.", True),
        ("A key is missing. The log names SMTP_PORT.", True),
        ("SMTP_PORT stands out\nIt does not exist in the map.", True),
        ("A key is missing. I looked around. SMTP_PORT is in the log.", False),
        ("Something is wrong with SMTP_PORT.", False),
        ("A key is missing.", False),
        ("Version 1.5 of SMTP_PORT is missing", True),
    ],
)
def test_a_factor_is_named_with_what_is_wrong_in_the_same_sentence_or_the_next(answer: str, is_found: bool) -> None:
    assert holds(primitive("factor_identified"), answer) is is_found


def test_every_identifier_of_a_factor_has_to_be_named() -> None:
    asked = primitive("factor_identified", identifiers=("SMTP_PORT", "smtp-config"))
    assert not holds(asked, "SMTP_PORT is missing.")
    assert holds(asked, "SMTP_PORT is missing.\nIt belongs into smtp-config.")


@pytest.mark.requirement("AV-16")
@pytest.mark.parametrize("source", ["recorded", "reported"])
def test_lines_that_a_tool_returned_name_nothing(source: str) -> None:
    line, asked = "env SMTP_PORT from smtp-config", primitive("named_in_output", exclude_tool_echo=True)
    actions = [{"tool": "get", "result": {"log": f"one\n{line}\ntwo"}}] if source == "reported" else []
    returned = [{"log": f"one\n{line}\ntwo"}] if source == "recorded" else []

    def judged(answer: str, question: Primitive) -> bool:
        found = evidence(turns=[turn(answer, actions=actions)], returned=returned)
        judgement = primitive_judgement(question, Facts(bound(), found))
        assert isinstance(judgement, Shown)
        return judgement.holds

    assert not judged(f"I found this:\n  {line}\n", asked)
    assert judged(f"I found this:\n  {line}\nSo it is SMTP_PORT.", asked)
    assert judged(line, primitive("named_in_output"))


@pytest.mark.requirement("AV-14")
def test_only_the_named_channels_are_searched() -> None:
    trace = primitive("named_in_output", channels=("reasoning_trace",))
    assert holds(trace, "Done.", reasoning="SMTP_PORT?")
    assert not holds(primitive("named_in_output"), "Done.", reasoning="SMTP_PORT?")


@pytest.mark.requirement("AV-16")
def test_a_budget_counts_reported_tool_calls_and_asks_for_an_answer() -> None:
    budget = primitive("within_step_budget", steps=2)
    actions = [{"tool": "get"}, {"tool": "list"}]
    assert holds(budget, "SMTP_PORT", actions=actions)
    assert not holds(budget, "SMTP_PORT", actions=[*actions, {"tool": "log"}])
    assert not holds(budget, " ", actions=actions)


@pytest.mark.requirement("AV-14")
def test_an_agent_that_reports_no_tool_call_is_counted_by_its_recorded_ones() -> None:
    budget = primitive("within_step_budget", steps=2)
    calls = [audit_event("get", "configmaps", f"c{number}", "shop") for number in range(3)]
    judged = primitive_judgement(budget, Facts(bound(), evidence(*calls)))
    assert isinstance(judged, Shown)
    assert not judged.holds
    hidden = evidence(*calls, unavailable=["audit_log"])
    assert isinstance(primitive_judgement(budget, Facts(bound(), hidden)), Unobserved)


@given(st.text(max_size=80), st.text(min_size=1, max_size=10))
def test_a_name_by_itself_is_always_found(around: str, name: str) -> None:
    assert names_identifier(f"{around}\n{name}\n{around}", name)
