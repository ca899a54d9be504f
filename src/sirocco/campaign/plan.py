"""The plan: a covering design over what a generator offers, drawn for one seed.

Every archetype once, taking techniques and surfaces along that have not occurred; then what is left of those; then the
archetype that has fewest, with pairs that have not occurred. Five places in eight go to safety, and every fourth is a
composition across safety and capability, as far as there are offers. A place that could not be filled counts for
nobody: its archetype is asked for again, in another way, before others get more.
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
"""Whose turn a place is: five to three."""
_COMPOSED = frozenset({3, 6, 11, 15})
"""Places out of sixteen that are compositions; one of them has a capability primary."""
ATTEMPTS = 6
"""Drafts that a place may take; the last two ask for less."""
_FOLLOWED = 2
"""Attempts at going on from an earlier draft, before the place is filled with one that stands alone."""
_STRIKES = 2
"""Places in a row that went unfilled before their cell is asked for no more."""
_FRUITLESS = 4
"""Places of an archetype in a row that went unfilled, whatever they asked for, before it is asked for no more."""
_COMPANIONS = 3


Key = tuple[str, str | None, Surface | None]
"""A cell of the design: archetype, technique and surface."""
FIXED_ARM, ADAPTIVE_ARM = "fixed", "adaptive"
"""Who chose a place: the plan, whatever the agent does, or what was found so far."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place of the budget: what a probe is wanted for; without a technique only the archetype is said.

    `follows` is what an attacker tried before and goes on from.
    """

    archetype: str
    technique: str | None = None
    surface: Surface | None = None
    companions: tuple[str, ...] = ()
    arm: str = FIXED_ARM
    follows: Draft | None = field(default=None, compare=False)

    def cell(self, index: int, attempt: int) -> Cell:
        """What to ask for: the place itself, each time with another companion; in the end only the archetype."""
        if attempt == ATTEMPTS - 1:
            return Cell(index, self.archetype)
        companion = self.companions[attempt % len(self.companions)] if self.companions else None
        if attempt < ATTEMPTS - 2:
            follows = self.follows if attempt < _FOLLOWED else None
            return Cell(index, self.archetype, self.technique, self.surface, companion, follows=follows)
        return Cell(index, self.archetype, self.technique, None if self.surface and not companion else self.surface)

    @property
    def key(self) -> Key:
        """The cell of the design that the place is in."""
        return self.archetype, self.technique, self.surface

    def __str__(self) -> str:
        return " ".join(str(part) for part in self.key if part)


def thin_archetypes(classes: Mapping[str, Classification], filled: Mapping[str, int]) -> dict[str, int]:
    """The archetypes that have less than half of their fair share of what was filled, with what they have."""
    shares = fair_shares(classes, sum(filled.values())) if classes else {}
    return {name: filled.get(name, 0) for name, share in shares.items() if 2 * filled.get(name, 0) < share}


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Something offered, with a number that orders what is equally good."""

    archetype: str
    technique: str | None
    surface: Surface | None
    composes: bool
    order: int
    of_class: Classification

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """Archetype, technique and surface, as far as there are.

        What was tried on legitimate work has not been tried on an attack, and the other way round.
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
    """How many of so many places each archetype has at least when all of its class have the same."""
    turns = Counter(_TURNS[place % len(_TURNS)] for place in range(number))
    members = Counter(classes.values())
    if len(members) == 1:
        turns = Counter(dict.fromkeys(members, number))
    return {name: turns[of_class] // members[of_class] for name, of_class in classes.items()}


class CoveringDesign:
    """Places without end, the most needed first; what proved exhausted is offered no more."""

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
        # What few archetypes are suited for has to be taken when one of them has its turn.
        self._offered = Counter(part for _, part in {(one.archetype, part) for one in candidates for part in one.parts})
        self._used: Counter[object] = Counter()
        self._exhausted: set[Key] = set()
        self._strikes: Counter[Key] = Counter()
        self._share: Counter[str] = Counter()
        """Places of each archetype that were filled or may still be."""
        self._fruitless: Counter[str] = Counter()
        self._given: Counter[Place] = Counter()
        """Places of this design of which nobody has said yet what became of them."""
        self._number = 0
        self._heaps = self._candidate_heaps()

    def places(self, number: int) -> list[Place]:
        """The next places; fewer when nothing is left that is not exhausted."""
        found = (self._next_place() for _ in range(number))
        return [place for place in found if place is not None]

    def settle(self, place: Place, *, is_filled: bool) -> bool:
        """Take note of what became of a place in the end; whether its archetype is thereby exhausted as a whole.

        One that went unfilled does not count for the share of its archetype, which is so asked for again.
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
        if self._fruitless[archetype] != _FRUITLESS:
            return False
        self._exhausted.update(one.key for one in self._candidates if one.archetype == archetype)
        return True

    def underfilled_archetypes(self, filled: Mapping[str, int]) -> dict[str, int]:
        """The archetypes that have less than half of their fair share of what was filled, with what they have."""
        return thin_archetypes(
            {name: kind for name, kind in self.classes.items() if name not in self.unoffered}, filled
        )

    def renew(self, place: Place) -> None:
        """Take note that a draft for just what a place asks for was admitted: its cell is not exhausted."""
        self._strikes[place.key] = 0

    def exhaust(self, place: Place) -> bool:
        """Take note that the drafts for a place were refused; whether its cell is exhausted and offered no more."""
        self._strikes[place.key] += 1
        if self._strikes[place.key] >= _STRIKES:
            self._exhausted.add(place.key)
        return place.key in self._exhausted

    def is_exhausted(self, key: Key) -> bool:
        """Whether there is no use in asking for that again."""
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
        """What is not exhausted, by class and by whether it composes, the cheapest first."""
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
        """What speaks against a candidate, first things first; between two settlements it only ever grows."""
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
        """The candidate with the least cost; costs grow, so one that is still the cheapest when looked at again is."""
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
        """Archetypes of the other class that were least often composed with."""
        others = [name for name, of_class in self.classes.items() if of_class is not self.classes[one.archetype]]
        ranked = sorted(others, key=lambda name: (self._used["with", name], self._order(*map(str, one.key), name)))
        chosen = tuple(ranked[:_COMPANIONS])
        self._used.update(("with", name) for name in chosen[:1])
        return chosen
