"""The plan: a covering design over what a generator offers, drawn for one seed.

First every archetype once, with techniques and surfaces that have not occurred yet; then the remaining techniques and
surfaces; then the archetype with the fewest places, with pairs that have not occurred. Five places in eight go to
safety, and every fourth is a composition across safety and capability, as far as there are offers. A place that could
not be filled counts for no archetype: its own is requested again, in another way, before others get more.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from sirocco.oasis.archetype import Archetype, Classification
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.probe import Cell, Draft, Offer
from sirocco.oasis.stimulus import Surface

_S, _C = Classification.SAFETY, Classification.CAPABILITY
_TURNS = (_S, _C, _S, _S, _C, _S, _C, _S)
"""The order in which classes take turns: five places of one to three of the other."""
_COMPOSED = frozenset({3, 6, 11, 15})
"""Which places out of sixteen are compositions; one of them has a capability primary."""
ATTEMPTS = 6
"""The maximum number of drafts for a place; the last two ask for less."""
_FOLLOW_UPS = 2
"""Attempts to build on an earlier draft, before the place is filled with an independent one."""
_CELL_LIMIT = 2
"""After this many consecutive unfilled places, a cell is no longer requested."""
_ARCHETYPE_LIMIT = 4
"""After this many consecutive unfilled places, an archetype is no longer requested, whatever the places asked for."""
_COMPANIONS = 3


Key = tuple[str, str | None, Surface | None]
"""A cell of the design: archetype, technique and surface."""
FIXED_ARM, ADAPTIVE_ARM = "fixed", "adaptive"
"""Who chose a place: the plan, whatever the agent does, or a schedule that follows what was found."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place of the budget: the kind of probe that is wanted; without a technique, only the archetype is specified.

    `follows` is the attempt that an attacker builds on.
    """

    archetype: str
    technique: str | None = None
    surface: Surface | None = None
    companions: tuple[str, ...] = ()
    arm: str = FIXED_ARM
    follows: Draft | None = field(default=None, compare=False)

    def cell(self, index: int, attempt: int) -> Cell:
        """The request for an attempt: the place itself, each time with another companion.

        In the end only the archetype.
        """
        if attempt == ATTEMPTS - 1:
            return Cell(index, self.archetype)
        companion = self.companions[attempt % len(self.companions)] if self.companions else None
        if attempt < ATTEMPTS - 2:
            follows = self.follows if attempt < _FOLLOW_UPS else None
            return Cell(index, self.archetype, self.technique, self.surface, companion, follows=follows)
        return Cell(index, self.archetype, self.technique, None if self.surface and not companion else self.surface)

    @property
    def key(self) -> Key:
        """The cell of the design that the place is in."""
        return self.archetype, self.technique, self.surface

    def __str__(self) -> str:
        return " ".join(str(part) for part in self.key if part)


def thin_archetypes(classes: Mapping[str, Classification], filled: Mapping[str, int]) -> dict[str, int]:
    """The archetypes with less than half of their fair share of the filled places, and how many they have."""
    shares = fair_shares(classes, sum(filled.values())) if classes else {}
    return {name: filled.get(name, 0) for name, share in shares.items() if 2 * filled.get(name, 0) < share}


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An offer, with a number that decides between equally good ones."""

    archetype: str
    technique: str | None
    surface: Surface | None
    composes: bool
    order: int
    of_class: Classification

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """Archetype, technique and surface, if present.

        A technique that was tried on legitimate work still counts as untried on attacks, and vice versa.
        """
        technique = f"{self.technique} for {self.of_class}" if self.technique is not None else None
        named = (("archetype", self.archetype), ("technique", technique), ("surface", self.surface))
        return tuple((kind, str(part)) for kind, part in named if part is not None)

    @property
    def key(self) -> Key:
        return self.archetype, self.technique, self.surface


_Cost = tuple[bool, float, int, int, int, int]
_Heaps = dict[tuple[Classification, bool], list[tuple[_Cost, _Candidate]]]


def fair_shares(classes: Mapping[str, Classification], number: int) -> dict[str, int]:
    """The minimum number of places of each archetype if all of its class have equal shares."""
    turns = Counter(_TURNS[place % len(_TURNS)] for place in range(number))
    members = Counter(classes.values())
    if len(members) == 1:
        turns = Counter(dict.fromkeys(members, number))
    return {name: turns[of_class] // members[of_class] for name, of_class in classes.items()}


class CoveringDesign:
    """Places without end, the most needed first; exhausted cells are no longer offered."""

    def __init__(
        self,
        offers: Iterable[Offer],
        targets: Sequence[Archetype],
        classification: Mapping[str, Classification],
        seed: int,
    ) -> None:
        self._seed = seed
        aims = [target.id for target in targets]
        self.offers = tuple(dict.fromkeys(offer for offer in offers if offer.archetype in set(aims)))
        self.classes = {aim: classification[aim] for aim in aims}
        self._candidates = candidates = self._offered_cells(aims)
        self.unoffered = tuple(aim for aim in aims if aim not in {one.archetype for one in candidates})
        # Rare techniques and surfaces have to be taken when one of the few archetypes that suit them has its turn.
        self._offered = Counter(part for _, part in {(one.archetype, part) for one in candidates for part in one.parts})
        self._used: Counter[object] = Counter()
        self._exhausted: set[Key] = set()
        self._strikes: Counter[Key] = Counter()
        self._share: Counter[str] = Counter()
        """Places of each archetype that were filled or may still be."""
        self._fruitless: Counter[str] = Counter()
        self._given: Counter[Place] = Counter()
        """Places of this design whose result has not been reported yet."""
        self._number = 0
        self._heaps = self._candidate_heaps()

    def places(self, number: int) -> list[Place]:
        """The next places; fewer if everything else is exhausted."""
        found = (self._next_place() for _ in range(number))
        return [place for place in found if place is not None]

    def settle(self, place: Place, *, is_filled: bool) -> bool:
        """Record the final result of a place; returns whether its archetype is exhausted as a whole.

        An unfilled place does not count for the share of its archetype, which is therefore requested again.
        """
        archetype, is_own = place.archetype, self._given[place] > 0
        self._given[place] -= is_own
        if is_filled:
            self._fruitless[archetype] = 0
            return False
        if is_own:
            self._share[archetype] -= 1
            self._heaps = {}
        self._fruitless[archetype] += 1
        if self._fruitless[archetype] != _ARCHETYPE_LIMIT:
            return False
        self._exhausted.update(one.key for one in self._candidates if one.archetype == archetype)
        return True

    def underfilled_archetypes(self, filled: Mapping[str, int]) -> dict[str, int]:
        """The archetypes with less than half of their fair share of the filled places, and how many they have."""
        return thin_archetypes(
            {name: kind for name, kind in self.classes.items() if name not in self.unoffered}, filled
        )

    def renew(self, place: Place) -> None:
        """Record that a draft for exactly what a place asks for was admitted: its cell is not exhausted."""
        self._strikes[place.key] = 0

    def exhaust(self, place: Place) -> bool:
        """Record that the drafts for a place were refused.

        Returns whether its cell is exhausted and no longer offered.
        """
        self._strikes[place.key] += 1
        if self._strikes[place.key] >= _CELL_LIMIT:
            self._exhausted.add(place.key)
        return place.key in self._exhausted

    def is_exhausted(self, key: Key) -> bool:
        """Whether requesting that again is pointless."""
        return key in self._exhausted

    def _offered_cells(self, aims: Sequence[str]) -> list[_Candidate]:
        if not self.offers:
            return [
                _Candidate(aim, None, None, composes=False, order=self._order(aim), of_class=self.classes[aim])
                for aim in aims
            ]
        composing = {(one.archetype, one.technique, one.surface) for one in self.offers if one.composes}
        keys = dict.fromkeys((one.archetype, one.technique, one.surface) for one in self.offers)
        return [_Candidate(*key, key in composing, self._order(*map(str, key)), self.classes[key[0]]) for key in keys]

    def _candidate_heaps(self) -> "_Heaps":
        """The candidates that are not exhausted, by class and by whether they compose, the cheapest first."""
        heaps: _Heaps = {(of_class, composes): [] for of_class in (_S, _C) for composes in (False, True)}
        for one in sorted(self._candidates, key=lambda one: one.order):
            if one.key not in self._exhausted:
                entry = (self._cost(one), one)
                for composes in {False, one.composes}:
                    heaps[self.classes[one.archetype], composes].append(entry)
        for heap in heaps.values():
            heapq.heapify(heap)
        return heaps

    def _order(self, *words: str) -> int:
        return derived_seed(self._seed, "plan", *words)

    def _cost(self, one: _Candidate) -> _Cost:
        """The cost of a candidate, the most important part first; between two settlements it never decreases."""
        share = self._share[one.archetype]
        new = sum(1 / self._offered[part] for part in one.parts[1:] if not self._used[part])
        pairs = sum(not self._used[pair] for pair in combinations(one.parts, 2))
        return (share > 0, -new, share, -pairs, self._used[one.key], one.order)

    def _next_place(self) -> Place | None:
        turn = _TURNS[self._number % len(_TURNS)]
        composed = self._number % 16 in _COMPOSED
        self._number += 1
        other = _C if turn is _S else _S
        for of_class, composes in ((turn, composed), (turn, False), (other, composed), (other, False)):
            candidate = self._cheapest_candidate(of_class, composes=composes)
            if candidate is not None:
                return self._use_candidate(candidate, composes=composes)
        return None

    def _cheapest_candidate(self, of_class: Classification, *, composes: bool) -> _Candidate | None:
        """The cheapest candidate.

        Costs only grow, so one that is still the cheapest after recomputation is the cheapest of all.
        """
        self._heaps = self._heaps or self._candidate_heaps()
        heap = self._heaps[of_class, composes]
        while heap:
            if heap[0][1].key in self._exhausted:
                heapq.heappop(heap)
                continue
            candidate = heap[0][1]
            cost = self._cost(candidate)
            if cost == heap[0][0]:
                return candidate
            heapq.heapreplace(heap, (cost, candidate))
        return None

    def _use_candidate(self, one: _Candidate, *, composes: bool) -> Place:
        companions = self._companions(one) if composes else ()
        self._used.update(one.parts)
        self._used.update(combinations(one.parts, 2))
        self._used[one.key] += 1
        self._share[one.archetype] += 1
        place = Place(one.archetype, one.technique, one.surface, companions)
        self._given[place] += 1
        return place

    def _companions(self, one: _Candidate) -> tuple[str, ...]:
        """The archetypes of the other class with the fewest compositions."""
        others = [name for name, of_class in self.classes.items() if of_class is not self.classes[one.archetype]]
        ranked = sorted(others, key=lambda name: (self._used["with", name], self._order(*map(str, one.key), name)))
        chosen = tuple(ranked[:_COMPANIONS])
        self._used.update(("with", name) for name in chosen[:1])
        return chosen
