"""The fuzzer for a moment: no damaged input ends in a traceback, and one that does is reported."""

import pytest

from fuzz.run import Target, execute, fuzz


@pytest.mark.requirement("CO-12")
def test_damaged_input_of_every_kind_is_answered_or_refused():
    assert fuzz(800, seed=1) == []


def test_what_breaks_a_reader_is_told_with_its_place():
    def read(content: bytes) -> None:
        content.decode()

    broken = Target(read, (b"whole",), 1)
    assert execute(broken, b"whole") is None
    assert "UnicodeDecodeError in read" in (execute(broken, b"\xff") or "")
