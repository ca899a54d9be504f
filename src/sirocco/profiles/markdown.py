"""Parses Markdown into sections of prose, lists, tables and fenced blocks, with a place for every piece of text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sirocco.errors import Place
from sirocco.profiles.yaml_text import Node

# Ten times the longest file of the standard's package.
MAX_CHARACTERS = 500_000
_LINE_BREAK = re.compile(r"\r\n?|\n")
# Code spans, links and emphasis; the content of a code span is left unchanged.
_INLINE = re.compile(r"`([^`]*)`|\[([^\[\]]*)\]\([^()]*\)|(?<!\s)\*+|\*+(?!\s)")
_LABEL = re.compile(r"\*\*([^*]+?):\*\*\s*")
_NUMBER = re.compile(r"(\d+\.)+\d*\s+|\d+\s+")


@dataclass(frozen=True, slots=True)
class Prose:
    """One paragraph: its lines as they are written, markup included."""

    lines: tuple[Node, ...]

    @property
    def text(self) -> Node:
        """The paragraph without markup, on one line."""
        return plain_node(Node(" ".join(line.value for line in self.lines), self.lines[0].place))

    def labels(self) -> Iterator[tuple[str, Node]]:
        """Every `**Label:** value` at the beginning of a line, label in lower case, value up to the next label."""
        label, parts = "", list[Node]()
        for line in self.lines:
            found = _LABEL.match(line.value)
            if found:
                if label:
                    yield label, Prose(tuple(parts)).text
                label, parts = found[1].strip().lower(), [_text_from(line, found.end())]
            elif label:
                parts.append(line)
        if label:
            yield label, Prose(tuple(parts)).text


@dataclass(frozen=True, slots=True)
class Items:
    """A list; of what is nested in an item only paragraphs are kept."""

    items: tuple[Prose, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table, with markup in its cells."""

    header: tuple[Node, ...]
    rows: tuple[tuple[Node, ...], ...]

    def has_columns(self, names: Sequence[str]) -> bool:
        """Whether the headers of the first columns begin with `names`."""
        heads = [str(plain_node(cell).value).lower() for cell in self.header]
        return len(heads) >= len(names) and all(head.startswith(name) for head, name in zip(heads, names, strict=False))


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: its language, its text and where the text begins."""

    language: str
    text: str
    place: Place


Block = Prose | Items | Table | Fence


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, without its number, and everything up to the next one."""

    level: int
    title: Node
    blocks: tuple[Block, ...]

    @property
    def prose(self) -> Iterator[Prose]:
        """Paragraphs and list items, in order."""
        for block in self.blocks:
            if isinstance(block, Prose):
                yield block
            elif isinstance(block, Items):
                yield from block.items

    def labels(self) -> dict[str, Node]:
        """The labelled values of the section; the first of equal labels counts."""
        labels: dict[str, Node] = {}
        for prose in self.prose:
            for label, value in prose.labels():
                labels.setdefault(label, value)
        return labels


@dataclass(frozen=True, slots=True)
class Document:
    """A Markdown file as a flat list of sections; the first contains what precedes any heading."""

    file: str
    sections: tuple[Section, ...]

    def labels(self) -> dict[str, Node]:
        """The labelled values of the whole document; the first of equal labels counts."""
        labels: dict[str, Node] = {}
        for section in self.sections:
            labels = section.labels() | labels
        return labels

    def table(self, *columns: str) -> Table | None:
        """The first table whose columns begin with these words."""
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, Table) and block.has_columns(columns):
                    return block
        return None

    def tree(self) -> Iterator[tuple[Section, tuple[Section, ...]]]:
        """Every section with the sections below it."""
        for number, section in enumerate(self.sections):
            end = number + 1
            while end < len(self.sections) and self.sections[end].level > section.level:
                end += 1
            yield section, self.sections[number + 1 : end]


def read_markdown(text: str, file: str) -> Document | None:
    """A text as sections; None if it is too long."""
    if len(text) > MAX_CHARACTERS:
        return None
    return Document(file, tuple(_Reader(text, file).sections()))


def plain_node(node: Node) -> Node:
    """A piece of text without markup; its place is that of the text itself."""
    text = str(node.value)
    shown = _INLINE.sub(lambda found: found[1] or found[2] or "", text)
    start = 0
    while (found := _INLINE.match(text, start)) and not (found[1] or found[2]):
        start = found.end()
    if found:
        start = found.start(1) if found[1] else found.start(2)
    lead = len(shown) - len(shown.lstrip())
    return Node(shown.strip(), Place(node.place.file, node.place.line, node.place.column + start + lead))


def codes(node: Node) -> Iterator[Node]:
    """Every code span of a piece of text."""
    for found in re.finditer(r"`([^`]+)`", str(node.value)):
        yield Node(found[1], _text_from(node, found.start(1)).place)


def pieces(node: Node, separator: str) -> Iterator[Node]:
    """A piece of text split at every `separator`."""
    start = 0
    for part in str(node.value).split(separator):
        piece = _text_from(node, start + len(part) - len(part.lstrip()))
        yield Node(part.strip(), piece.place)
        start += len(part) + len(separator)


def _text_from(node: Node, offset: int) -> Node:
    """The rest of a single-line piece of text after `offset`."""
    place = node.place
    return Node(str(node.value)[offset:], Place(place.file, place.line, place.column + offset))


class _Reader:
    """Walks the block tokens of one text; the inline parser never runs, so no markup can make it slow."""

    def __init__(self, text: str, file: str) -> None:
        self._lines = _LINE_BREAK.split(text)
        self._file = file
        parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
        self._tokens: list[Token] = parser.parse(text)

    def sections(self) -> Iterator[Section]:
        level, title = 0, Node("", Place(self._file))
        blocks: list[Block] = []
        number = 0
        while number < len(self._tokens):
            token = self._tokens[number]
            end = self._end(number)
            if token.type == "heading_open":
                yield Section(level, title, tuple(blocks))
                level, title, blocks = int(token.tag[1:]), self._title(self._tokens[number + 1]), []
            elif (block := self._block(number, end)) is not None:
                blocks.append(block)
            number = end + 1
        yield Section(level, title, tuple(blocks))

    def _end(self, start: int) -> int:
        """The number of the token that closes the one at `start`."""
        depth = 0
        for number in range(start, len(self._tokens)):
            depth += self._tokens[number].nesting
            if depth == 0:
                return number
        return len(self._tokens) - 1

    def _title(self, inline: Token) -> Node:
        lines = self._prose(inline).lines
        found = _NUMBER.match(str(lines[0].value))
        return plain_node(_text_from(lines[0], found.end() if found else 0))

    def _block(self, start: int, end: int) -> Block | None:
        token = self._tokens[start]
        match token.type:
            case "paragraph_open":
                return self._prose(self._tokens[start + 1])
            case "bullet_list_open" | "ordered_list_open":
                return Items(tuple(self._items(start, end)))
            case "table_open":
                header, *rows = self._rows(start, end)
                return Table(header, tuple(rows))
            case "fence" if token.map:
                # Its lines lose the indentation of the fence, so the text begins that much further to the right.
                line = self._lines[token.map[0]]
                indent = len(line) - len(line.lstrip())
                place = Place(self._file, token.map[0] + 2, indent + 1)
                return Fence(token.info.strip().lower(), token.content, place)
        return None

    def _items(self, start: int, end: int) -> Iterator[Prose]:
        level = self._tokens[start].level
        for number in range(start, end):
            token = self._tokens[number]
            if token.type == "paragraph_open" and token.level == level + 2:
                yield self._prose(self._tokens[number + 1])

    def _rows(self, start: int, end: int) -> Iterator[tuple[Node, ...]]:
        cells: list[Node] = []
        cursor = 0
        for token in self._tokens[start : end + 1]:
            if token.type == "tr_open" and token.map:
                line = self._lines[token.map[0]]
                cells, cursor = [], line.find("|") + 1 if line.lstrip().startswith("|") else 0
            elif token.type == "inline" and token.map:
                line = self._lines[token.map[0]]
                # A pipe inside a cell is escaped with a backslash, which the token has lost.
                column = max(line.find(token.content.partition("|")[0], cursor), cursor)
                cells.append(Node(token.content, Place(self._file, token.map[0] + 1, column + 1)))
                following = line.find("|", column + len(token.content))
                cursor = following + 1 if following >= 0 else len(line)
            elif token.type == "tr_close":
                yield tuple(cells)

    def _prose(self, inline: Token) -> Prose:
        first = inline.map[0] if inline.map else 0
        lines = []
        for number, raw in enumerate(inline.content.split("\n")):
            text = raw.strip()
            line = self._lines[min(first + number, len(self._lines) - 1)]
            column = max(line.find(text), 0)
            lines.append(Node(text, Place(self._file, first + number + 1, column + 1)))
        return Prose(tuple(lines))
