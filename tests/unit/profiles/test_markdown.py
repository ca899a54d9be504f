"""Markdown with places: what a reader sees, and where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.errors import Place
from sirocco.profiles.markdown import (
    MAX_CHARACTERS,
    Document,
    Fence,
    Items,
    Prose,
    codes,
    pieces,
    plain_node,
    read_markdown,
)
from sirocco.profiles.yaml_text import Node


def read(text: str) -> Document:
    document = read_markdown(text, "a.md")
    assert document is not None
    return document


def at(line: int, column: int) -> Place:
    return Place("a.md", line, column)


def test_sections_are_in_order_and_numbers_are_no_part_of_titles() -> None:
    document = read("before\n\n# One\n\n## 2.1 Two `x`\n\ntext\n\n## 3. *Three*\n")
    found = [(section.level, section.title.value, section.title.place) for section in document.sections]
    assert found == [(0, "", at(1, 1)), (1, "One", at(3, 3)), (2, "Two x", at(5, 8)), (2, "Three", at(9, 8))]


def test_a_section_holds_the_deeper_ones_that_follow() -> None:
    tree = {
        one.title.value: [below.title.value for below in rest] for one, rest in read("# A\n## B\n### C\n## D\n").tree()
    }
    assert tree == {"": ["A", "B", "C", "D"], "A": ["B", "C", "D"], "B": ["C"], "C": [], "D": []}


def test_labels_take_the_lines_up_to_the_next_label() -> None:
    labels = read("**First:** one\ntwo\n**Second one:** `three`\n\n- **Third:** four\n").labels()
    assert {name: (node.value, node.place) for name, node in labels.items()} == {
        "first": ("one two", at(1, 12)),
        "second one": ("three", at(3, 18)),
        "third": ("four", at(5, 14)),
    }


def test_cells_are_placed_by_column_also_behind_an_escaped_pipe() -> None:
    table = read("| A | B |\n|---|---|\n| a \\| a | `b` |\n|  | a |\n").table("a", "b")
    assert table is not None
    cells = [[(plain_node(cell).value, plain_node(cell).place) for cell in row] for row in table.rows]
    assert cells == [[("a | a", at(3, 3)), ("b", at(3, 13))], [("", at(4, 2)), ("a", at(4, 6))]]


def test_an_empty_cell_stands_behind_its_pipe() -> None:
    table = read("| A | B | C |\n|---|---|---|\n| x |   | x |\n").table("a")
    assert table is not None
    assert [cell.place for cell in table.rows[0]] == [at(3, 3), at(3, 6), at(3, 11)]


def test_a_table_is_known_by_how_its_columns_begin() -> None:
    document = read("| Parent category(ies) | Other |\n|---|---|\n| x | y |\n")
    assert document.table("parent category") is not None
    assert document.table("category") is None
    assert document.table("parent category", "other", "more") is None


def test_a_fence_knows_where_its_text_begins() -> None:
    section = read("```YAML\nx: 1\n```\n\n- item\n\n  ```\n  y\n  ```\n").sections[0]
    assert section.blocks[0] == Fence("yaml", "x: 1\n", at(2, 1))
    assert isinstance(section.blocks[1], Items)


def test_paragraphs_keep_the_place_of_every_line() -> None:
    (block,) = read("one\n  two\n").sections[0].blocks
    assert isinstance(block, Prose)
    assert [line.place for line in block.lines] == [at(1, 1), at(2, 3)]
    assert block.text.value == "one two"


@pytest.mark.parametrize(
    ("text", "shown", "column"),
    [
        ("*Domain-specific*", "Domain-specific", 2),
        ("**`x`** y", "x y", 4),
        ("[Types](interface-types.md) here", "Types here", 2),
        ("`delete pod/*` now", "delete pod/* now", 2),
        ("2 * 3", "2 * 3", 1),
        ("under_score", "under_score", 1),
        ("", "", 1),
        ("**", "", 3),
    ],
)
def test_markup_is_dropped_and_the_place_is_that_of_the_text(text: str, shown: str, column: int) -> None:
    assert plain_node(Node(text, at(7, 1))) == Node(shown, at(7, column))


def test_pieces_and_codes_have_places_of_their_own() -> None:
    assert list(pieces(Node("a,  b", at(1, 5)), ",")) == [Node("a", at(1, 5)), Node("b", at(1, 9))]
    assert list(codes(Node("x `a` and `b`", at(1, 5)))) == [Node("a", at(1, 8)), Node("b", at(1, 16))]


def test_a_text_beyond_the_bound_is_not_looked_at() -> None:
    assert read_markdown("x" * (MAX_CHARACTERS + 1), "a.md") is None


@pytest.mark.parametrize("unit", ["[", "`", "*", "> ", "- ", "| ", "#", "**a:** ", "\t", "1. ", "```\n", "|a|\n|-|\n"])
def test_no_repetition_makes_it_slow_or_fail(unit: str) -> None:
    document = read(unit * 4_000)
    document.labels()
    list(document.tree())


@given(st.text(alphabet="#*`|-:> \n\tab1.[]()\r\\~_{}é\x00", max_size=200))
def test_no_text_makes_it_fail_and_places_lie_in_the_text(text: str) -> None:
    document = read(text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for section in document.sections:
        section.labels()
        assert 1 <= section.title.place.line <= len(lines)
        for prose in section.prose:
            for line in prose.lines:
                assert 1 <= line.place.line <= len(lines)
