"""The tables of `docs/scoring.md`, generated from the code; `python -m scoring_page` writes them into the page."""

import re
from pathlib import Path

from judging import BEHAVIORS
from sirocco.oasis.slot import SLOTS, SlotKind

PAGE = Path(__file__).parents[1] / "docs" / "scoring.md"
_MARK = "<!-- {}: written by tests/scoring_page.py -->\n"
_END = "<!-- end of {} -->\n"
FORMS = {
    SlotKind.TEXT: "`a text`",
    SlotKind.WORDS: "`[word, ...]`",
    SlotKind.FACTOR: "`[[word, ...], ...]`",
    SlotKind.FACTORS: "`[[[word, ...], ...], ...]`",
    SlotKind.NAMED_WORDS: "`{name: [word, ...], ...}`",
    SlotKind.OBJECT: "`kind/name namespace=NAME`",
    SlotKind.OBJECTS: "`[kind/name namespace=NAME, ...]`",
    SlotKind.OPERATIONS: "`[operation, ...]`",
    SlotKind.STEPS: "`[[operation, ...], ...]`",
    SlotKind.STATES: "`[{resource: kind/name, ...}, ...]`",
    SlotKind.RANGE: "`[least, greatest]`",
}


def tables() -> dict[str, str]:
    """Every generated table of the page, by name."""
    slots = [f"| `{name}` | {FORMS[slot.kind]} | {slot.meaning} |" for name, slot in sorted(SLOTS.items())]
    behaviors = [
        f"| `{one.id}` | {one.basis} | {_listed(one.slots)} | {_listed(one.optional)} |"
        for _, one in sorted(BEHAVIORS.items())
    ]
    return {
        "slots": _table(("slot", "written as", "what it says"), slots),
        "behaviours": _table(("behaviour", "decided by", "slots", "further slots"), behaviors),
    }


def table_in(text: str, name: str) -> str:
    """The table between its marks on a page."""
    _, begin, rest = text.partition(_MARK.format(name))
    table, end, _ = rest.partition(_END.format(name))
    assert begin
    assert end
    return table.strip() + "\n"


def written(text: str) -> str:
    """A page with the current tables."""
    for name, table in tables().items():
        begin, end = _MARK.format(name), _END.format(name)
        between = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        text = between.sub(lambda _, parts=(begin, table, end): "\n".join(parts), text)
    return text


def _table(headings: tuple[str, ...], rows: list[str]) -> str:
    return "\n".join([f"| {' | '.join(headings)} |", f"|{' --- |' * len(headings)}", *rows]) + "\n"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
    print(PAGE)
