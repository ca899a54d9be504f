"""Text from outside on its way into a report."""

import pytest

from sirocco.reports.text import compact_json, line, passage, printable_text


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("ordinary words, ünïcode 漢字 ✓", "ordinary words, ünïcode 漢字 ✓"),
        ("two\r\nlines\rthree", "two\nlines\nthree"),
        ("tab\there\u00a0there", "tab here there"),
        ("\x1b[31mred\x07\x00", "�[31mred��"),
        ("\u202eevil\u200b\u2028\ud800\ue000\ufeff", "�evil� ���"),
        (7, "7"),
    ],
)
def test_control_and_hidden_characters_leave_only_a_mark(said, shown):
    assert printable_text(said) == shown


def test_a_line_is_one_line_and_a_long_text_says_how_much_is_missing():
    assert line("a\n  b") == "a b"
    assert passage("a\n b ") == "a\n b"
    assert line("x" * 60, 10) == "x" * 10 + " … (50 more characters)"


def test_nothing_is_cut_off_where_the_note_about_it_would_be_as_long():
    assert line("x" * 30, 10) == "x" * 30
    assert len(line("x" * 34, 10)) == 33


def test_what_is_no_json_is_text():
    assert compact_json({"b": 1, "a": "ü"}) == '{"a": "ü", "b": 1}'
    assert compact_json({1}) == "{1}"
