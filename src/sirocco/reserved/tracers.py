"""Tracers: scenarios that only some evaluators get, so that a text that leaked names the bundles it came from.

One that a single evaluator holds is found by two who compare their bundles. One that every two of them hold is common
to those two: what they take for common, and pass on, names them both.
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
    """A share for each evaluator, with as many scenarios of every archetype as the others have; none without tracers.

    Each scenario has so many holders, and every such set of evaluators as many scenarios as the next. Who gets which is
    left to chance, so that an order of files tells nothing.
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
    """A text that holds words of reserved scenarios."""

    text: str
    sources: Mapping[tuple[str, ...], int]
    """The bundles that have words of it which not all of them have: those that share them, with their number."""


def traces(
    texts: Mapping[str, str], bundles: Mapping[str, Sequence[Mapping[str, Any]]], public: Iterable[str]
) -> list[Trace]:
    """The texts that hold words of a bundle which no public text holds; several bundles are told from each other."""
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
