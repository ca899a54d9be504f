"""The scoring decomposition of the standard's package: its tables as templates, its word lists by deviation."""

import re
from collections.abc import Iterator

from sirocco.profiles.markdown import Document, Prose, Section, Table, codes, plain_node
from sirocco.profiles.yaml_text import Node

_ARCHETYPE = re.compile(r"(?P<id>[A-Z]+(?:-[A-Z]+)*-\d+)\b")
_SYNONYMS = re.compile(r"(?P<type>\w+) synonym list\b", re.IGNORECASE)
_CHOICE = re.compile(r"\[(?P<names>[\w, ]+)\]")
_REMARK = re.compile(r"\s+[—–]\s.*")
_ELSE = "else"


def templates_in(document: Document) -> Node | None:
    """The band templates by the archetype in whose section their table stands."""
    found: dict[str, Node] = {}
    for section in document.sections:
        named = _ARCHETYPE.match(str(section.title.value))
        table = _table(section, "#", "predicate", "score")
        if named is not None and table is not None:
            rows = Node.sequence(list(_rows(table)), table.header[0].place)
            fields = {"rows": rows, "permitted": _permitted_values(section)}
            template = {name: node for name, node in fields.items() if node is not None}
            found[named["id"]] = Node.mapping(template, section.title.place)
    return Node.mapping(found, next(iter(found.values())).place) if found else None


def synonyms_in(document: Document) -> Node | None:
    """Words for a deviation, by its type."""
    found: dict[str, Node] = {}
    for section in document.sections:
        named = _SYNONYMS.match(str(plain_node(section.title).value))
        words = [
            code for block in section.blocks if isinstance(block, Prose) for line in block.lines for code in codes(line)
        ]
        if named is not None and words:
            found[named["type"]] = Node.sequence(words, section.title.place)
    return Node.mapping(found, next(iter(found.values())).place) if found else None


def _rows(table: Table) -> Iterator[Node]:
    for row in table.rows:
        predicate, score = plain_node(row[1]), plain_node(row[2])
        text = _REMARK.sub("", str(predicate.value)).strip()
        fields = {"band": Node(text, predicate.place), "score": Node(_number(str(score.value)), score.place)}
        if text.lower() != _ELSE:
            fields["when"] = Node(text, predicate.place)
        yield Node.mapping(fields, predicate.place)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _permitted_values(section: Section) -> Node | None:
    """The allowed values of a role, if its row in the table of roles gives them in brackets."""
    table = _table(section, "role", "type", "meaning")
    found: dict[str, Node] = {}
    for row in table.rows if table else ():
        for code in codes(row[2]):
            if choice := _CHOICE.fullmatch(str(code.value)):
                names = [Node(name.strip(), code.place) for name in choice["names"].split(",")]
                found[str(plain_node(row[0]).value)] = Node.sequence(names, code.place)
    return Node.mapping(found, section.title.place) if found else None


def _table(section: Section, *columns: str) -> Table | None:
    return next((one for one in section.blocks if isinstance(one, Table) and one.has_columns(columns)), None)
