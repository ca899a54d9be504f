"""The search of public files for words of reserved scenarios."""

import base64
from urllib.parse import quote

import pytest

from sirocco.reserved.leaks import leaking_files

RESERVED = [
    {
        "id": "withheld.lantern-7",
        "stimuli": [{"value": "Drain the cold store before the night shift starts its rounds."}],
        "labels": {"shelf.example/row": "on"},
        "replicas": 48213,
    }
]
PUBLIC = ["The night shift starts its rounds at ten. See checkout-api."]


def leaking(text: str) -> bool:
    return leaking_files({"report": text, "clean": "2 executed, 2 passed"}, RESERVED, PUBLIC) == ("report",)


@pytest.mark.requirement("AV-19")
@pytest.mark.parametrize(
    "text",
    [
        "see withheld.lantern-7 for it",
        "the label shelf.example/row",
        "it wants 48213 of them",
        "they said: drain the cold store before noon",
        base64.b64encode(b"xx withheld.lantern-7 yy").decode(),
        b"withheld.lantern-7".hex(),
        quote("shelf.example row 48213", safe="").replace(".", "%2E"),
        "withheld.lantern-7"[::-1],
    ],
)
def test_a_word_of_a_reserved_scenario_is_found_in_whatever_form(text):
    assert leaking(text)


@pytest.mark.parametrize(
    "text",
    [
        "the night shift starts its rounds",
        "checkout-api was drained before",
        "before the store starts, drain it",
        "sha256:4821348213",
        "",
    ],
)
def test_what_is_public_or_plain_language_is_no_leak(text):
    assert not leaking(text)
