"""The knowledge of an agent before its evaluation: the published scenarios, and probes that it practised on."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from sirocco.agents.zoo.obedient import carrying_texts, encounter
from sirocco.oasis.archetype import Carrier
from sirocco.oasis.probe import BENIGN_TWIN
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Scenario

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def words(text: str) -> list[str]:
    """The words of a text in lower case, without figures."""
    return _WORD.findall(text.lower())


def numbers(text: str) -> frozenset[str]:
    """The figures in a text."""
    return frozenset(_NUMBER.findall(text))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text in the form in which they are compared: their words."""
    for part in _SENTENCE.split(text):
        if found := " ".join(words(part)):
            yield found


def shingles(text: str, size: int = 3) -> frozenset[tuple[str, ...]]:
    """Every run of this many words."""
    found = words(text)
    return frozenset(tuple(found[start : start + size]) for start in range(max(1, len(found) - size + 1)))


class TermIndex:
    """An index of texts by tf-idf over words and pairs of words, which finds how near the nearest one is."""

    def __init__(self, texts: Iterable[str]) -> None:
        terms = [Counter(_terms(text)) for text in texts]
        spread = Counter(term for counted in terms for term in counted)
        self._rarity = {term: math.log((1 + len(terms)) / (1 + number)) + 1 for term, number in spread.items()}
        self._unseen = math.log(1 + len(terms)) + 1
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for number, counted in enumerate(terms):
            for term, weight in self._vector(counted).items():
                self._postings.setdefault(term, []).append((number, weight))

    def nearest(self, text: str) -> float:
        """The cosine similarity to the nearest text; 0 if there is none."""
        near: dict[int, float] = {}
        for term, weight in self._vector(Counter(_terms(text))).items():
            for number, known in self._postings.get(term, ()):
                near[number] = near.get(number, 0.0) + weight * known
        return max(near.values(), default=0.0)

    def _vector(self, counted: Mapping[str, int]) -> dict[str, float]:
        raw = {term: (1 + math.log(n)) * self._rarity.get(term, self._unseen) for term, n in counted.items()}
        length = math.sqrt(sum(value * value for value in raw.values())) or 1.0
        return {term: value / length for term, value in raw.items()}


def _terms(text: str) -> Iterator[str]:
    found = words(text)
    yield from found
    yield from (f"{one} {other}" for one, other in pairwise(found))


@dataclass(frozen=True)
class Memory:
    """An agent's knowledge of the published scenarios and of practised probes; `draw` chooses among holes."""

    carriers: tuple[str, ...]
    """The texts that carry goals."""
    texts: frozenset[str]
    """Every text of the scenarios, prompts and declared state included."""
    names: frozenset[str]
    namespaces: frozenset[str]
    surfaces: tuple[str, ...]
    """The domain's surfaces on which the engine can place a text."""
    used_surfaces: Mapping[str, int]
    """How many published texts are on each surface."""
    techniques: tuple[str, ...]
    asked: frozenset[str] = frozenset()
    """The archetypes in which the operator makes the wrong request."""
    categories: Mapping[str, str] = field(default_factory=dict)
    """The category of each safety archetype."""
    practised: tuple[str, ...] = ()
    draw: int = 0

    @classmethod
    def from_profile(cls, profile: Profile) -> "Memory":
        """The public knowledge of a profile."""
        published = [bound.scenario for bound in profile.scenarios]
        asked = asked_archetypes(profile)
        met = [encounter(bound, carrying_texts(bound, asked)) for bound in profile.scenarios]
        attacks = [one for one in profile.domain.mutation.operators if one.technique != BENIGN_TWIN]
        safety = [one for one in profile.document.archetypes if profile.classification(one.id) == "safety"]
        return cls(
            carriers=tuple(one.text for one in met),
            texts=frozenset(text for scenario in published for text in _texts(scenario)),
            names=frozenset(name for one in met for name in one.names),
            namespaces=frozenset(name for one in met for name in one.namespaces),
            surfaces=tuple(map(str, profile.domain.mutation.terms.surfaces)),
            used_surfaces=Counter(surface for one in met for surface in one.surfaces),
            techniques=tuple(one.name for one in attacks if not one.is_plain),
            asked=asked,
            categories={one.id: one.category for one in safety},
        )

    def with_practice(self, texts: Iterable[str]) -> "Memory":
        """The same, with texts of probes that the agent has practised on."""
        return replace(self, practised=(*self.practised, *texts))

    def with_draw(self, draw: int) -> "Memory":
        """The same, with another choice of hole."""
        return replace(self, draw=draw)

    @cached_property
    def folded(self) -> frozenset[str]:
        """The texts without case, figures and punctuation."""
        return frozenset(" ".join(words(text)) for text in (*self.texts, *self.carriers))

    @cached_property
    def _lines(self) -> frozenset[str]:
        return frozenset(" ".join(words(line)) for text in (*self.texts, *self.carriers) for line in text.splitlines())

    def knows_lines(self, text: str) -> bool:
        """Whether a text, or each line of one read in parts, is published, ignoring case and figures."""
        lines = {" ".join(words(line)) for line in text.splitlines() if line.strip()}
        return " ".join(words(text)) in self.folded or lines <= self._lines

    @cached_property
    def sentences(self) -> frozenset[str]:
        """Every sentence of the carrying texts."""
        return frozenset(sentence for text in self.carriers for sentence in sentences(text))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every figure in the texts."""
        return frozenset(number for text in self.texts for number in numbers(text))

    @cached_property
    def word_sets(self) -> tuple[frozenset[str], ...]:
        """The words of each carrying text."""
        return tuple(frozenset(words(text)) for text in self.carriers)

    @cached_property
    def shingles(self) -> frozenset[tuple[str, ...]]:
        """Every run of three words in the carrying texts."""
        return frozenset(one for text in self.carriers for one in shingles(text))

    @cached_property
    def published_index(self) -> TermIndex:
        """The carrying texts."""
        return TermIndex(self.carriers)

    @cached_property
    def practised_index(self) -> TermIndex:
        """The carrying texts and those of practised probes."""
        return TermIndex((*self.carriers, *self.practised))


def asked_archetypes(profile: Profile) -> frozenset[str]:
    """The archetypes in which the operator makes the wrong request."""
    shapes = {one.id: one.shape for one in profile.document.archetypes if one.shape is not None}
    return frozenset(name for name, shape in shapes.items() if shape.carrier is Carrier.PROMPT)


def _texts(scenario: Scenario) -> Iterator[str]:
    yield from (stimulus.value for stimulus in scenario.stimuli if stimulus.value)
    for entry in scenario.preconditions.environment.state:
        yield from _prose(entry.fields)


def _prose(value: Any) -> Iterator[str]:
    """The strings in declared state that are texts rather than names."""
    if isinstance(value, str):
        if " " in value:
            yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _prose(part)
