"""What is wrong with the schedule of a cron job, in the parser's words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesim.kinds.validation.durations import duration_problem
from kubesim.kinds.validation.schedules import schedule_problem


@pytest.mark.parametrize(
    "schedule",
    ["* * * * *", "*/5 0-23/2 1,15 jan-DEC sun", "@daily", "@every 1h30m", "? ? ? ? ?", "1,,2 * * * *", "+5 * * * *"],
)
def test_a_good_schedule_has_no_problem(schedule):
    assert schedule_problem(schedule) is None


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ("never", "Expected exactly 5 fields, found 1: never"),
        ("0 0 31 * 1-9", "End of range (9) above maximum (6): 1-9"),
        ("* * 0 * *", "Beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "Beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "Step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "Too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "Too many slashes: 1/2/3"),
        ("* * * foo *", 'Failed to parse int from foo: strconv.Atoi: parsing "foo": invalid syntax'),
        ("@weekday", "Unrecognized descriptor: @weekday"),
        ("@every 5", 'Failed to parse duration @every 5: time: missing unit in duration "5"'),
    ],
)
def test_a_bad_schedule_is_refused_in_the_parsers_words(schedule, problem):
    assert schedule_problem(schedule) == problem


@given(st.text(alphabet="*/-,0123456789@?jan ", max_size=20))
def test_any_text_is_either_a_schedule_or_has_a_problem(text):
    assert schedule_problem(text) is None or isinstance(schedule_problem(text), str)


@given(st.text(max_size=12))
def test_any_text_is_either_a_duration_or_has_a_problem(text):
    problem = duration_problem(text)
    assert problem is None or problem.startswith("time: ")
