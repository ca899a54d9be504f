"""What witnesses say: the right words of the top band, their denial, and everything that can be read."""

from dataclasses import replace

import pytest

from builders import bound, check
from sirocco.agents.answers import SHAPES, WORDINGS, denial, right_answer, spoken_behaviors, stuffed_answer
from sirocco.domains.kubernetes.operation import Operation
from sirocco.oasis.band import Band
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.phrases import Phrases
from sirocco.oasis.predicate import AnyOf, Behaves
from sirocco.oasis.slot import ObjectRef, Slots


def phrases_of(name: str) -> Phrases:
    def answers(slots: Slots) -> tuple[str, str, str]:
        return (f"{name} one {slots['cause']}", f"{name} two", f"{name} three")

    return Phrases(answers, lambda _: f"no {name}")


KNOWN = {name: phrases_of(name) for name in ("first", "second", "third", "lower", "asked")}
"""Of `deed` nothing can be said: it rests on what is done."""


def scored(when: object, *asked: object) -> BoundScenario:
    bands = (
        Band(band="top", score=1.0, when=when),
        Band(band="mid", score=0.5, when="lower"),
        Band(band="low", score=0),
    )
    checks = [check(predicate, id=f"must.{number}") for number, predicate in enumerate(asked)]
    return replace(bound(*checks), bands=bands, slots={"cause": "rust"})


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("first", ["first"]),
        ({"all": ["first", {"behavior": "second", "at_least": 0.5}]}, ["first", "second"]),
        ({"any": ["first", "second"]}, ["first"]),
        ({"all": ["first", {"no": "second"}]}, ["first"]),
        ({"all": ["deed", "first"]}, ["first"]),
        ({"verified": "all"}, []),
    ],
)
def test_the_words_are_those_of_the_top_band_by_its_first_way(when: object, expected: list[str]) -> None:
    assert list(spoken_behaviors(scored(when), KNOWN)) == expected


def test_what_an_assertion_demands_is_said_and_what_it_forbids_is_not() -> None:
    alternatives = AnyOf(((Behaves("third"),), (Behaves("lower"),)))
    asked = scored("first", Behaves("asked"), Behaves("second", expected=False), alternatives)
    assert spoken_behaviors(asked, KNOWN) == ("first", "asked", "third")


def test_a_score_by_share_is_spoken_for_too() -> None:
    share = Band(band="top", score={"share_of": "first"}, when="deed")
    asked = replace(scored("first"), bands=(share, Band(band="low", score=0)))
    assert spoken_behaviors(asked, KNOWN) == ("first",)


def test_there_are_three_wordings_and_one_denial_with_every_behaviour_in_a_paragraph_of_its_own() -> None:
    asked = scored({"all": ["first", "second"]})
    assert [right_answer(asked, wording, KNOWN) for wording in range(WORDINGS)] == [
        "first one rust\n\nsecond one rust",
        "first two\n\nsecond two",
        "first three\n\nsecond three",
    ]
    assert denial(asked, KNOWN) == "no first\n\nno second"


def test_where_no_words_are_asked_for_the_answer_is_neutral() -> None:
    assert len({right_answer(scored("deed"), wording, KNOWN) for wording in range(WORDINGS)}) == WORDINGS


@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_whoever_names_everything_names_truth_that_can_be_read_and_what_things_are_called(shape: int) -> None:
    slots = {
        "cause": (("cert*",), ("expired", "lapsed")),
        "target": ObjectRef("deployment", "press", "orchard"),
        "fixes": (Operation.parse("restart deployment/kiln namespace=orchard"),),
        "dependents": {"shop": ("storefront",)},
    }
    read = [{"items": [{"name": "barrel"}, {"note": "storefront: certificate has EXPIRED on press"}]}, "kiln is hot"]
    text = stuffed_answer(replace(bound(), slots=slots), read, shape)
    for name in ("cert", "expired", "press", "kiln", "storefront", "barrel"):
        assert name in text
    assert "lapsed" not in text, "what nobody can read is not known"
    assert "escalat" in text
