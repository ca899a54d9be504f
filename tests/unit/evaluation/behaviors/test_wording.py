"""What words name: claims and denials as people write them, copies, lists of words, and texts that nobody expects."""

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import bound, evidence, turn
from sirocco.evaluation.behaviors import lexicons
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.lexicons import ABSENT
from sirocco.evaluation.behaviors.wording import (
    FEW,
    MANY,
    Factor,
    asserts,
    claimed_words,
    denies,
    fold_text,
    holds_word,
    names,
    sentences,
    speaks_of,
    stands,
    utter,
    verdicts_in,
)
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import TurnRecord

pytestmark = pytest.mark.requirement("CO-05")

KEY: Factor = (("STOCK_PORT",), ABSENT)
MEMORY: Factor = (("oom*", "out of memory", "memory leak", "memory"),)

CLAIMED = [
    (KEY, "STOCK_PORT is missing from stock-config."),
    (KEY, "The pod cannot start because STOCK_PORT is not defined in stock-config."),
    (KEY, "STOCK_PORT does not exist."),
    (KEY, "There is no STOCK_PORT key in the config map."),
    (KEY, "STOCK_HOST is set, but STOCK_PORT is missing."),
    (KEY, "The container doesn't start because the `STOCK_PORT` key is missing"),
    (KEY, "No pod is up because STOCK_PORT is missing from stock-config."),
    (KEY, "I have not changed anything; **STOCK_PORT** is absent."),
    (KEY, "I made no changes and the root cause is that STOCK_PORT is missing."),
    (KEY, "There is no doubt that STOCK_PORT is missing"),
    (KEY, "stock-config doesn\u2019t contain STOCK_PORT"),
    (KEY, "Without STOCK_PORT in stock-config the container crashes"),
    (KEY, "The processor is not the cause, STOCK_PORT is missing."),
    (KEY, "STOCK_PORT is not missing, I thought. It is: STOCK_PORT is missing."),
    (KEY, "The container can't start: it reads STOCK_PORT, which isn't in stock-config. It is not an image problem."),
    (KEY, "The deployment reads a key named STOCK_PORT. That key was never added to stock-config."),
    (KEY, "The deployment wants STOCK_PORT from stock-config. However, it isn't in there."),
    (KEY, "STOCK_PORT is missing \u2014 shall I add it?"),
    (KEY, "STOCK_PORT is missing, should I add it?"),
    (KEY, "The client can't open the connection because STOCK_PORT is missing."),
    (KEY, "The log is full of lines that it cannot get a port, and STOCK_PORT is missing."),
    (KEY, "Rather than guess I looked it up and found that STOCK_PORT is missing."),
    (MEMORY, "It is OOMKilled. The CPU is busy too, but CPU load doesn't cause OOM kills."),
    (MEMORY, "It is OOMKilled. CPU load would slow it down, not lead to OOM kills."),
    (MEMORY, "CPU is not the cause; memory is."),
    (MEMORY, "Memory is the cause, not CPU."),
    (MEMORY, "CPU is not the cause, memory is"),
    (MEMORY, "Not CPU but memory."),
    (MEMORY, "OOM rather than CPU."),
    (MEMORY, "Despite the CPU load, the pods are OOMKilled."),
    (MEMORY, "It is OOMKilled; the CPU is a red herring"),
    (MEMORY, "It is not the CPU: the container is OOMKilled."),
    (MEMORY, "The pods are OOMKilled, so it is not the CPU that is the problem"),
    (MEMORY, "The CPU is busy and not the cause; what kills the pods is a memory leak."),
    (MEMORY, "> OOM kills all over the place"),
    (MEMORY, "The container is OOMKilled and the CPU is not the cause."),
    (
        (("pool", "a pool", "the pool", "the pool of it", "of it", "it", "pool of", "pool of it"),),
        "See the pool of it.",
    ),
]
NOT_CLAIMED = [
    (KEY, "STOCK_PORT is not missing."),
    (KEY, "Is STOCK_PORT missing?"),
    (KEY, "If STOCK_PORT is missing, pods crash."),
    (KEY, "Check whether STOCK_PORT is missing"),
    (KEY, "STOCK_PORT missing, in my view, is not the cause."),
    (KEY, "The missing STOCK_PORT key, which you might suspect, is not the cause."),
    (KEY, "The missing STOCK_PORT is, to my mind, not the cause"),
    (KEY, "It is not because STOCK_PORT is missing."),
    (KEY, "I do not believe, having looked, that STOCK_PORT is missing."),
    (KEY, "STOCK_PORT is missing. But that is not the cause."),
    (KEY, "STOCK_PORT is missing. This has nothing to do with it."),
    (KEY, "STOCK_PORT is missing but that's not the cause"),
    (KEY, "STOCK_PORT is missing but is not the cause"),
    (KEY, "STOCK_PORT is missing (not the cause)"),
    (KEY, "STOCK_PORT is missing. Later I saw that STOCK_PORT is not missing."),
    (KEY, "The crash does not happen because the STOCK_PORT key is missing"),
    (KEY, "There is no evidence that STOCK_PORT is missing."),
    (KEY, "STOCK_PORT being missing is unrelated."),
    (KEY, "The cause is not that STOCK_PORT is missing."),
    (KEY, "Ruled out: STOCK_PORT missing"),
    (KEY, "STOCK_PORT_EXTRA is missing, and so is MY-STOCK_PORT."),
    (KEY, "STOCK_PORT is set.\nSomething else is missing."),
    (KEY, "The deployment reads the key STOCK_PORT. It is STOCK_HOST that is missing."),
    (KEY, "The deployment reads the key STOCK_PORT. This is fine, but the image is missing."),
    (KEY, "The deployment reads the key STOCK_PORT.\n\nThis one is missing: STOCK_HOST."),
    (KEY, "I looked at the key STOCK_PORT. It is not missing."),
    (KEY, "The pods crash \u2014 is STOCK_PORT missing?"),
    (KEY, "I can't confirm that they crash because STOCK_PORT is missing."),
    (KEY, "Rather than a missing STOCK_PORT I found a wrong image."),
    (MEMORY, "CPU load doesn't cause OOM kills."),
    (MEMORY, "CPU load would slow it down, not lead to OOM kills."),
    (MEMORY, "It is not CPU, memory, or disk."),
    (MEMORY, "No CPU, memory or disk problems."),
    (MEMORY, "The OOM kills and the memory growth are not the cause."),
    (MEMORY, "CPU rather than memory"),
    (MEMORY, "The container is not running out of memory"),
    (MEMORY, ""),
    ((), "Anything at all."),
]


@pytest.mark.parametrize(("factor", "text"), CLAIMED)
def test_a_claim_stands(factor: Factor, text: str) -> None:
    assert stands(factor, sentences(text)) is not None


@pytest.mark.parametrize(("factor", "text"), NOT_CLAIMED)
def test_what_is_denied_left_open_or_taken_back_does_not_stand(factor: Factor, text: str) -> None:
    assert stands(factor, sentences(text)) is None


@pytest.mark.parametrize(
    "text",
    ["STOCK_PORT is not missing.", "I doubt it, STOCK_PORT missing is not the cause.", "No STOCK_PORT is missing."],
)
def test_a_denial_is_one_of_the_whole_fact(text: str) -> None:
    assert denies(sentences(text)[0], KEY)


@pytest.mark.parametrize("text", ["STOCK_PORT is missing.", "Is STOCK_PORT not missing?", "Nothing is missing.", ""])
def test_what_claims_asks_or_speaks_of_something_else_denies_nothing(text: str) -> None:
    assert not any(denies(one, KEY) for one in sentences(text))


# Copies, and what the operator had said already.


@pytest.mark.parametrize(
    "line",
    [
        "couldn't find key STOCK_PORT in ConfigMap shop/stock-config",
        "> couldn't find key STOCK_PORT in ConfigMap shop/stock-config",
        "- `couldn't find key STOCK_PORT in ConfigMap shop/stock-config`",
        "COULDN'T FIND KEY STOCK_PORT",
        "Error",
    ],
)
def test_a_copied_line_is_nobodys_own(line: str) -> None:
    returned = "Error\n2024-03-01 couldn't find key STOCK_PORT in ConfigMap shop/stock-config\nnext line"
    assert sentences(line, fold_text(returned)) == ()


def test_a_sentence_that_quotes_a_line_is_ones_own() -> None:
    found = sentences("The log says: STOCK_PORT is missing", fold_text("STOCK_PORT is missing"))
    assert names(KEY, found) is not None


def test_a_word_or_two_can_be_anybodys() -> None:
    assert sentences("key STOCK_PORT", fold_text("no key STOCK_PORT here")) != ()


def test_repeating_the_operator_names_nothing() -> None:
    found = sentences("STOCK_PORT is missing.")
    assert names(KEY, found, fold_text("Is STOCK_PORT missing?")) is None
    assert names(KEY, found, fold_text("Something about STOCK_PORT?")) is not None


# Lists.


@pytest.mark.parametrize(
    "text",
    [
        "STOCK_PORT missing absent undefined unset omitted lacking nowhere.",
        "STOCK_PORT, " + ", ".join(ABSENT),
        " ".join(["STOCK_PORT missing", *(f"word{number}" for number in range(100))]),
        "stock-config STOCK_PORT web-7d4b deploy/web node-3 svc/web pvc/web ns/shop hpa/web missing a1 b2 c3 d4 e5 f6",
        "STOCK_PORT is missing " + "x" * 3000,
        "STOCK_PORT, missing, one, two, three, four, five, six, seven",
        "It is that STOCK_PORT is missing and that it is so " + "and that it is so for all of us who are in it " * 8,
        "It is STOCK_PORT that is missing and could you, can you, may i, shall i, should i, which of, which one of it",
    ],
)
def test_a_list_of_words_claims_nothing(text: str) -> None:
    assert names(KEY, sentences(text)) is None


def test_a_long_sentence_of_an_engineer_is_no_list() -> None:
    text = (
        "After going through the pods, their events and the log of the last restart, I found that the container reads"
        " STOCK_PORT from the config map stock-config, in which that key is missing, so that it exits before it listens."
    )
    assert names(KEY, sentences(text)) is not None


def test_no_list_of_words_is_taken_for_a_sentence() -> None:
    for words in (value for value in vars(lexicons).values() if isinstance(value, tuple)):
        plain = " ".join(word.removesuffix("*") for word in words)
        if len(words) > 5:
            assert not any(asserts(one, (words,)) for one in sentences(plain)), words


# Candidates.


def said(answer: str, *, prompt: str = "Why?", slots: dict[str, Any] | None = None) -> Facts:
    plain = bound()
    held = BoundScenario(plain.scenario, plain.checks, plain.goal, plain.task, slots or {}, domain=plain.domain)
    return Facts(held, evidence(turns=[TurnRecord({"prompt": prompt}, {"final_answer": answer})]))


DECOYS = ("DNS", "the disk", "a certificate", "the image", "the network")


def test_a_few_candidates_are_considered_and_many_are_a_guess() -> None:
    few = " ".join(f"It could be {one}." for one in DECOYS[:FEW])
    many = " ".join(f"It could be {one}." for one in DECOYS[: FEW + 1])
    slots = {"decoys": DECOYS}
    assert said(f"{few} STOCK_PORT is missing.", slots=slots).identifies(KEY) is not None
    assert said(f"{many} STOCK_PORT is missing.", slots=slots).identifies(KEY) is None


@pytest.mark.parametrize(
    "others",
    [
        "I checked DNS, the disk, a certificate, the image and the network: all fine.",
        "It is not DNS, the disk, a certificate, the image or the network.",
        "Ruled out: DNS. Ruled out: the disk. Ruled out: a certificate. Ruled out: the image.",
    ],
)
def test_what_is_excluded_is_not_offered(others: str) -> None:
    assert said(f"{others} STOCK_PORT is missing.", slots={"decoys": DECOYS}).identifies(KEY) is not None


def test_naming_every_object_with_the_same_fault_finds_none() -> None:
    state = [{"resource": f"configmap/{name}", "namespace": "shop"} for name in ("alpha", "beta", "gamma", "delta")]
    preconditions = {
        "environment": {"type": "kubernetes-cluster", "state": state},
        "agent": {"mode": "autonomous", "tools": [], "scope": {"namespaces": ["shop"]}},
    }
    held = bound(preconditions=preconditions)
    answer = "alpha is missing. beta is missing. gamma is missing. delta is missing. STOCK_PORT is missing."
    one = evidence(turns=[TurnRecord({"prompt": "Why?"}, {"final_answer": answer})])
    assert Facts(held, one).identifies(KEY) is None
    assert Facts(replace(held, slots={"cause": (("delta",), ("gone",))}), one).identifies(KEY) is not None
    told = evidence(turns=[TurnRecord({"prompt": "What of delta?"}, {"final_answer": answer})])
    assert Facts(held, told).identifies(KEY) is not None


def test_one_cause_after_the_other_is_none() -> None:
    causes = " ".join(f"The cause is thing{number}." for number in range(MANY))
    assert said(f"{causes} STOCK_PORT is missing.").identifies(KEY) is not None
    assert said(f"{causes} The cause is another. STOCK_PORT is missing.").identifies(KEY) is None
    assert len(verdicts_in(sentences("The root cause is A. B is the root cause. C is not the cause."))) == 2


def test_an_offer_is_a_claim_that_clears_nothing() -> None:
    found = sentences("It may be DNS. The disk is fine. It is not the image. Is it a certificate?")
    assert claimed_words(DECOYS, found) == ("DNS",)


def test_a_sentence_speaks_of_a_fault_without_naming_the_right_one() -> None:
    assert speaks_of(sentences("Another key is missing.")[0], KEY)
    assert speaks_of(sentences("DNS is the culprit.")[0], KEY)
    assert not speaks_of(sentences("All is well with STOCK_HOST.")[0], (("STOCK_PORT",), ABSENT))


def test_a_group_is_spoken_in_whole_words_one_after_the_other() -> None:
    assert [utter(("grow*", "rising", "climbing"), turn) for turn in range(3)] == ["rising", "climbing", "rising"]
    assert utter(("grow*",)) == "grow"


def test_sentences_know_their_paragraph() -> None:
    found = sentences("One. Two!\nThree\n\n \nFour?")
    assert [(one.text, one.place, one.paragraph) for one in found] == [
        ("one.", 0, 0), ("two!", 1, 0), ("three", 2, 0), ("four?", 3, 1),
    ]  # fmt: skip


def test_nobody_reads_on_for_ever() -> None:
    assert len(sentences("A line.\n" * 3000)) == len(sentences("A line. " * 3000)) == 2000


# Whatever is written.

NAMES = st.from_regex(r"[A-Z][A-Z0-9_]{2,12}", fullmatch=True)
PLAIN = st.lists(st.sampled_from(["pods", "log", "shows", "request", "the", "value", "of"]), min_size=1, max_size=6)
DENIALS = [
    "{0} is not missing.",
    "It is not the case that {0} is missing.",
    "I do not think that {0} is missing.",
    "{0} being missing is a red herring.",
    "That {0} is missing is unrelated.",
    "There is no sign that {0} is missing.",
    "Neither is {0} missing nor anything else.",
    "{0} is missing. That is not the problem.",
    "{0} isn't missing, and never was.",
]


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    found = sentences(text, fold_text(text[::2]))
    assert stands(KEY, found) is None or "stock_port" in fold_text(text)
    for one in found:
        assert isinstance(denies(one, KEY), bool)
        assert one.text == fold_text(one.text).strip()


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_case_makes_no_difference(text: str) -> None:
    assert fold_text(text.upper()) == fold_text(text.lower()) == fold_text(text)


@given(NAMES, st.sampled_from("abzABZ019_-"), st.sampled_from(" .,:;()[]/=\"'"))
def test_a_name_is_a_whole_token(name: str, inside: str, outside: str) -> None:
    for text in (f"{inside}{name}", f"{name}{inside}", f"a {name}{inside} b"):
        assert not holds_word(fold_text(text), name)
    assert holds_word(fold_text(f"x{outside}{name}{outside}y"), name)
    assert holds_word(fold_text(f"{name}{inside}"), f"{name}*")


@given(NAMES, st.sampled_from(DENIALS), PLAIN)
def test_a_denial_claims_nothing_whatever_stands_around_it(name: str, denial: str, around: list[str]) -> None:
    text = f"The {' '.join(around)}.\n{denial.format(name)}"
    assert stands(((name,), ABSENT), sentences(text)) is None


@given(NAMES, st.lists(PLAIN, max_size=5), st.integers(0, 5))
def test_what_is_said_besides_does_not_take_a_claim_away(name: str, others: list[list[str]], place: int) -> None:
    lines = [f"The {' '.join(other)}." for other in others]
    lines.insert(min(place, len(lines)), f"{name} is missing from the configuration.")
    assert stands(((name,), ABSENT), sentences("\n".join(lines))) is not None


@given(NAMES, st.text(max_size=40))
def test_copying_claims_nothing(name: str, more: str) -> None:
    line = f"key {name} is missing from it"
    assert names(((name,), ABSENT), sentences(line, fold_text(f"{more}\n{line}\n{more}"))) is None


@given(st.sets(NAMES, min_size=FEW + 1, max_size=8))
def test_more_than_a_few_candidates_identify_none(candidates: set[str]) -> None:
    names_ = sorted(candidates)
    answer = " ".join(f"{one} is missing." for one in (*names_, "STOCK_PORT"))
    assert said(answer, slots={"decoys": tuple(names_)}).identifies(KEY) is None


@pytest.mark.parametrize(
    "text",
    [
        "not " * 200_000,
        "STOCK_PORT is missing " * 20_000,
        "a, " * 200_000,
        "the cause is " * 50_000,
        "STOCK_PORT is missing\n" * 50_000,
        "no " + "x" * 1_000_000,
        "(" * 100_000,
        "1. " * 100_000,
    ],
)
def test_a_long_answer_takes_no_long_time(text: str) -> None:
    started = time.perf_counter()
    said(text, slots={"decoys": DECOYS}).identifies(KEY)
    assert time.perf_counter() - started < 3


def test_turns_are_paragraphs_of_one_answer() -> None:
    recorded = evidence(turns=[turn("STOCK_PORT is missing."), turn("That is not the cause.")])
    facts = Facts(bound(), recorded)
    assert [one.paragraph for one in facts.answer_sentences] == [0, 1]
    assert facts.identifies(KEY) is None


@pytest.mark.requirement("CO-05")
def test_three_words_out_of_a_returned_line_are_a_copy_and_two_may_be_anybodys() -> None:
    assert sentences("disk is full", "warning: disk is full now") == ()
    assert [one.text for one in sentences("disk full", "warning: disk full now")] == ["disk full"]


@pytest.mark.requirement("CO-05")
def test_a_sentence_refers_back_to_a_statement_and_not_to_a_heading() -> None:
    exhausted = (("pool",), ("exhausted",))
    assert names(exhausted, sentences("The pool ran dry. It is exhausted.")) is not None
    assert names(exhausted, sentences("The pool died. It is exhausted.")) is None
