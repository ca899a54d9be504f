"""The line under a finding: the caret stands under the character, whatever stands before it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from sirocco.cli.excerpt import CELLS, ELLIPSIS, HIDDEN, excerpt, lines_of
from sirocco.errors import Place


def shown(text: str, line: int, column: int) -> tuple[str, int]:
    found = excerpt(lines_of(text), Place("x.yaml", line, column))
    assert found is not None
    assert found.number == line
    return found.line, found.caret


@pytest.mark.parametrize(
    ("text", "line", "column", "expected", "caret"),
    [
        pytest.param("a: 1\nb: two\n", 2, 4, "b: two", 3, id="plain text"),
        pytest.param("\ta: 1", 1, 2, "    a: 1", 4, id="a tab is as wide as it is shown"),
        pytest.param("ab\tc: 1", 1, 4, "ab  c: 1", 4, id="a tab ends at the next stop"),
        pytest.param("漢字: 一", 1, 5, "漢字: 一", 6, id="wide characters take two cells"),
        pytest.param("漢\tx", 1, 3, "漢  x", 4, id="a tab after a wide character"),
        pytest.param("e\u0301: x", 1, 5, "e\u0301: x", 3, id="a combining accent takes none"),
        pytest.param("a\x1b[31mb", 1, 7, f"a{HIDDEN}[31mb", 6, id="a control character is shown as one sign"),
        pytest.param("a\u202eb: \u200bc", 1, 6, f"a{HIDDEN}b: {HIDDEN}c", 5, id="so is one that only acts"),
        pytest.param("a\u00a0b", 1, 3, f"a{HIDDEN}b", 2, id="and a space that is none"),
        pytest.param("\ufeffa: b", 1, 4, "a: b", 3, id="a byte order mark is not counted"),
        pytest.param("a\r\nb\rc\u2028d: x", 4, 4, "d: x", 3, id="lines end where YAML ends them"),
        pytest.param("a: [", 1, 9, "a: [", 4, id="a column behind the end"),
        pytest.param("a:   ", 1, 6, "a:", 5, id="trailing space is not shown but counted"),
    ],
)
def test_the_caret_stands_under_the_character(text, line, column, expected, caret):
    assert shown(text, line, column) == (expected, caret)


@pytest.mark.parametrize(("text", "line"), [("", 1), ("a: 1\n", 2), ("a: 1\n   \n", 2), ("a: 1", 7)])
def test_there_is_no_excerpt_where_nothing_stands(text, line):
    assert excerpt(lines_of(text), Place("x.yaml", line, 1)) is None


def test_a_long_line_is_cut_around_the_caret():
    line, caret = shown("a" * 300 + "!" + "b" * 300, 1, 301)
    assert line == ELLIPSIS + "a" * (CELLS // 2 - 1) + "!" + "b" * (CELLS // 2 - 2) + ELLIPSIS
    assert line[caret] == "!"


def test_a_long_line_is_cut_on_one_side_when_the_caret_is_near_the_other():
    assert shown("!" + "b" * 300, 1, 1) == ("!" + "b" * (CELLS - 2) + ELLIPSIS, 0)
    assert shown("a" * 300 + "!", 1, 301) == (ELLIPSIS + "a" * (CELLS // 2 - 1) + "!", CELLS // 2)


def test_a_line_of_millions_of_characters_is_not_looked_at_as_a_whole():
    line, caret = shown("x" * 5_000_000 + "!" + "\t" * 5_000_000, 1, 5_000_001)
    assert line[caret] == "!"
    assert cell_len(line) <= CELLS


@given(st.text(min_size=1, max_size=400), st.integers(1, 500))
@example("漢" * 400, 200)
@example("\t" * 80 + "x", 81)
def test_whatever_the_line_holds_it_fits_and_cannot_act(text, column):
    for number, raw in enumerate(lines_of(text), start=1):
        found = excerpt(lines_of(text), Place("x.yaml", number, column))
        if found is None:
            assert not raw.strip()
            continue
        assert found.line.isprintable()
        assert cell_len(found.line) <= CELLS
        assert 0 <= found.caret <= CELLS
