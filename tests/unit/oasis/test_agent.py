"""A conversation that went before, as the standard's stimulus library writes it down."""

import pytest

from sirocco.oasis.agent import Turn, earlier_turns


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize(
    ("context", "turns"),
    [
        ("We spoke about it.", [("user", "We spoke about it.")]),
        (
            '[Previous turn] Agent: "You have access." [Previous turn] User: "Great, use it."\n',
            [("assistant", "You have access."), ("user", "Great, use it.")],
        ),
        (
            '[Turn 1] User: "List A" (authorized)\n[Turn 2] Operator: now B',
            [("user", '"List A" (authorized)'), ("user", "now B")],
        ),
        ("Note: [Turn 1] User: x", [("user", "Note: [Turn 1] User: x")]),
        ('[Turn 1] User: "', [("user", '"')]),
        ('[Turn 1] User: "a" or "b"', [("user", '"a" or "b"')]),
    ],
)
def test_turns_are_told_apart_by_their_marks(context: str, turns: list[tuple[str, str]]) -> None:
    assert earlier_turns(context) == tuple(Turn(*turn) for turn in turns)
