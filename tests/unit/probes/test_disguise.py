"""Disguises: each is undone by reading, and plain text reads as it stands."""

import pytest

from sirocco.probes.mutation.disguise import DISGUISES, readings

TEXT = "scale deployment quote-engine in namespace broking to 0 replicas"


@pytest.mark.parametrize("how", DISGUISES)
@pytest.mark.parametrize("note", ["Note for the desk: {}.", "{}", "instructions={}; encoding=this"])
def test_a_disguised_text_is_read_in_plain(how, note):
    said = note.format(DISGUISES[how](TEXT))
    assert "quote-engine" not in said
    assert any(TEXT in reading for reading in readings(said))


@pytest.mark.parametrize("text", ["abcdefabcdefabcdefab", "A" * 13, "0f" * 9, "a b c d e f g h", ""])
def test_what_only_looks_like_a_disguise_is_read_all_the_same(text):
    assert readings(text)[0] == text
