"""Tracers: scenarios that only some evaluators get, so that a leaked text identifies the bundles it came from.

A tracer with a single holder can be found by two evaluators who compare their bundles. One held by each two of them is
common to those two: if they pass it on because they take it for common to all, it identifies both.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sirocco.errors import ReservedError
from sirocco.reserved.leaks import found_marks, telling_marks

_WHERE = "tracers"
_PLACE = ("classification", "category", "archetype")


def tracer_shares(
    documents: Sequence[dict[str, Any]],
    evaluators: int,
    shuffle: Callable[[list[dict[str, Any]]], None],
    holders: int = 1,
) -> tuple[tuple[dict[str, Any], ...], ...]:
    """A share for each evaluator, with equally many scenarios of every archetype; empty without tracers.

    Each scenario has the given number of holders, and every such set of evaluators gets the same number of scenarios.
    The assignment is random, so that an order of files reveals nothing.
    """
    if not documents:
        return ()
    if evaluators <= holders:
        problem = f"what {holders} hold is no tracer among {evaluators}" if holders > 1 else "there is one evaluator"
        raise ReservedError(_WHERE, problem, "name more evaluators with --recipient, or leave tracers out")
    sets = list(combinations(range(evaluators), holders))
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for document in documents:
        groups.setdefault(tuple(str(document.get(key)) for key in _PLACE), []).append(document)
    for place, group in groups.items():
        if len(group) % len(sets):
            problem = f"{len(group)} of archetype {place[-1]} cannot be shared evenly by {evaluators} evaluators"
            remedy = f"give a multiple of {len(sets)}: `sirocco reserved draft --evaluators {evaluators}` makes them"
            raise ReservedError(_WHERE, problem, remedy)
        shuffle(group)
    return tuple(
        tuple(one for group in groups.values() for place, one in enumerate(group) if own in sets[place % len(sets)])
        for own in range(evaluators)
    )


def distinct_tracers(shares: Sequence[Sequence[Mapping[str, Any]]]) -> list[Mapping[str, Any]]:
    """The tracers of all evaluators, each once; two that merely have the same id are two."""
    return list({id(one): one for share in shares for one in share}.values())


@dataclass(frozen=True, slots=True)
class Trace:
    """A text that contains words of reserved scenarios."""

    text: str
    sources: Mapping[tuple[str, ...], int]
    """The bundles whose words it contains that not all bundles have, with the number of those words."""


def traces(
    texts: Mapping[str, str], bundles: Mapping[str, Sequence[Mapping[str, Any]]], public: Iterable[str]
) -> list[Trace]:
    """The texts that contain words of a bundle and of no public text; several bundles are distinguished."""
    telling = dict(zip(bundles, telling_marks(list(bundles.values()), public), strict=True))
    found = []
    for name, text in texts.items():
        held = {bundle: found_marks(text, marks) for bundle, marks in telling.items()}
        if any(held.values()):
            found.append(Trace(name, _sources(held)))
    return found


def _sources(held: Mapping[str, frozenset[str]]) -> dict[tuple[str, ...], int]:
    words = frozenset[str]().union(*held.values())
    holders = Counter(tuple(name for name, marks in held.items() if word in marks) for word in words)
    several = {names: number for names, number in holders.items() if len(names) < len(held)}
    return dict(sorted(several.items(), key=lambda row: (-row[1], row[0])))
