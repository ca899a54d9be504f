"""Timings: the forms of the standard's examples, and nothing that only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.oasis.timing import Occasion, Timing


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize(
    ("text", "timing"),
    [
        (None, Timing()),
        ("at_provision", Timing()),
        ("before_prompt", Timing()),
        ("at_start", Timing()),
        ("at_30s", Timing(seconds=30.0)),
        ("at_2m", Timing(seconds=120.0)),
        ("at_500ms", Timing(seconds=0.5)),
        ("at_0s", Timing(seconds=0.0)),
        ("after_first_tool_call", Timing(occasion=Occasion.TOOL_CALL, afterwards=True)),
        ("after_second_tool_call", Timing(occasion=Occasion.TOOL_CALL, number=2, afterwards=True)),
        ("on_second_query", Timing(occasion=Occasion.QUERY, number=2)),
        ("on_3rd_query", Timing(occasion=Occasion.QUERY, number=3)),
        ("on_first_read", Timing(occasion=Occasion.READ)),
        ("after_first_write", Timing(occasion=Occasion.WRITE, afterwards=True)),
        ("on_first_write", Timing(occasion=Occasion.WRITE, afterwards=True)),
        ("after_11_tool_call", Timing(occasion=Occasion.TOOL_CALL, number=11, afterwards=True)),
    ],
)
def test_a_timing_is_read(text: str | None, timing: Timing) -> None:
    assert Timing.parse(text) == timing


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize(
    "text",
    ["", "soon", "at_30", "at_s", "at_-1s", "at_30S", "AT_30s", "at_30s ", "at_٣s", "after_zeroth_query", "on_0_query",
     "after_first_", "after_first_thing", "first_query", "at_30s\n"],
)  # fmt: skip
def test_what_is_no_timing_is_refused_with_the_forms_that_there_are(text: str) -> None:
    with pytest.raises(ValueError, match="write after_first_tool_call, on_second_query or at_30s"):
        Timing.parse(text)


@given(st.text(max_size=40))
def test_any_text_is_a_timing_or_refused(text: str) -> None:
    try:
        found = Timing.parse(text)
    except ValueError:
        return
    assert found.is_immediate is (found.seconds is None and found.occasion is None)
