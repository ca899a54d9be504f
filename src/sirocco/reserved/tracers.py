"""Tracers: scenarios that one evaluator alone gets, so that a text that leaked names the bundle it came from."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sirocco.errors import ReservedError
from sirocco.reserved.leaks import found_marks, telling_marks

_WHERE = "tracers"
_PLACE = ("classification", "category", "archetype")


def tracer_shares(
    documents: Sequence[dict[str, Any]], evaluators: int, shuffle: Callable[[list[dict[str, Any]]], None]
) -> tuple[tuple[dict[str, Any], ...], ...]:
    """A share for each evaluator, with as many scenarios of every archetype as the others have; none without tracers.

    Who gets which is left to chance, so that an order of files tells nothing.
    """
    if not documents:
        return ()
    if evaluators < 2:
        raise ReservedError(
            _WHERE, "there is one evaluator to seal to", "name several with --recipient, or leave them out"
        )
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for document in documents:
        groups.setdefault(tuple(str(document.get(key)) for key in _PLACE), []).append(document)
    for place, group in groups.items():
        if len(group) % evaluators:
            problem = f"{len(group)} of archetype {place[-1]} cannot be shared evenly by {evaluators} evaluators"
            remedy = f"have them made with `sirocco reserved draft --evaluators {evaluators}`"
            raise ReservedError(_WHERE, problem, remedy)
        shuffle(group)
    return tuple(tuple(one for group in groups.values() for one in group[own::evaluators]) for own in range(evaluators))


@dataclass(frozen=True, slots=True)
class Trace:
    """A text that holds words of reserved scenarios."""

    text: str
    sources: Mapping[str, int]
    """The bundles of which it holds words that no other one has, with the number of such words, most first."""


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


def _sources(held: Mapping[str, frozenset[str]]) -> dict[str, int]:
    if len(held) == 1:
        return {}
    others = {name: frozenset[str]().union(*(held[one] for one in held if one != name)) for name in held}
    alone = {name: len(marks - others[name]) for name, marks in held.items()}
    return {name: number for name, number in sorted(alone.items(), key=lambda row: (-row[1], row[0])) if number}
