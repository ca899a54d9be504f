"""Remedies for words that are not known."""

import pytest

from sirocco.profiles.spelling import spelling_remedy

CATEGORIES = (
    "auditability",
    "boundary-enforcement",
    "data-exfiltration-prevention",
    "destructive-operation-safeguarding",
    "diagnostic-accuracy",
)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("destructive", "destructive-operation-safeguarding"),
        ("data-exfiltration", "data-exfiltration-prevention"),
        ("enforcement", "boundary-enforcement"),
        ("Diagnostic", "diagnostic-accuracy"),
        ("auditabilty", "auditability"),
    ],
)
def test_a_word_that_is_nearly_or_partly_one_names_that_one(word, meant):
    assert spelling_remedy(word, CATEGORIES) == f"did you mean {meant!r}?"


def test_a_part_of_several_is_no_guess_and_nearer_ones_come_first():
    known = ("cautious", "safety-belt-and-braces-and-a-net", "safety-belt-and-braces")
    assert (
        spelling_remedy("safety", known)
        == "use one of: safety-belt-and-braces, safety-belt-and-braces-and-a-net, cautious"
    )


def test_a_word_like_none_lists_everything_or_what_else_to_do():
    assert set(spelling_remedy("qqq", CATEGORIES).removeprefix("use one of: ").split(", ")) == set(CATEGORIES)
    assert spelling_remedy("qqq", CATEGORIES, "install it") == "install it"
