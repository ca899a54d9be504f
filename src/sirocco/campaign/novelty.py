"""Novelty: how far a probe is from the published scenarios and from its siblings, apart from names and numbers (SI-05).

A document is reduced to shingles: runs of three words of every text that an agent encounters, and the structure of
state, goal and task. Names and numbers are normalized first, so that mere renaming is not novelty: whatever either of
two documents uses as a name counts as a name in both. Of siblings only the smallest shingle hashes are kept, and only
of the latest in the same cell, so memory stays bounded. A probe without a declared base must not repeat a published
sentence.
"""

import hashlib
import re
from array import array
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sirocco.campaign.texts import texts_of
from sirocco.oasis.declarations import Declarations, surface_of
from sirocco.oasis.scenario import Scenario
from sirocco.probes.texts import sentences_of

LEAST_DISTANCE = 0.1
"""Anything closer than this to something known is not new."""
_KEPT_HASHES = 64
_KEPT_SIBLINGS = 16
_KEPT_CELLS = 4096
_RUN = 3
_WORD = re.compile(r"[a-z]+|\d+|[^\sa-z\d]")
_IDENTIFIER = re.compile(r"[A-Za-z0-9]+(?:[-_./:][A-Za-z0-9]+)+")
_NAME, _NUMBER = "~", "#"
_SHORTEST_NAME = 3
_SHORTEST_SENTENCE = 4
"""The minimum number of words, not counting names and numbers, that makes a sentence more than a greeting or bare
request."""

Sketch = array  # of unsigned 64-bit integers, in order


def sketch(scenario: Scenario, declarations: Declarations) -> "Sketch[int]":
    """The smallest hashes of a scenario's shingles."""
    hashes = sorted({_shingle_hash(shingle) for shingle in _shingles(scenario, _names(scenario), declarations)})
    return array("Q", hashes[:_KEPT_HASHES])


def exact_distance(one: Scenario, other: Scenario, declarations: Declarations) -> float:
    """One minus the share of shingles that two scenarios have in common, with the names of both normalized."""
    names = _names(one) | _names(other)
    mine, theirs = (set(_shingles(each, names, declarations)) for each in (one, other))
    return 1 - len(mine & theirs) / len(mine | theirs)


def distance(one: "Sketch[int]", other: "Sketch[int]") -> float:
    """One minus the share of shingles that two documents have in common, estimated from their sketches."""
    mine, theirs = set(one), set(other)
    union = sorted(mine | theirs)[:_KEPT_HASHES]
    return 1 - sum(found in mine and found in theirs for found in union) / len(union) if union else 0.0


class Known:
    """What probes are compared with: the published scenarios of their archetype, and siblings in their cell."""

    def __init__(self, published: Iterable[Scenario], declarations: Declarations) -> None:
        self._declarations = declarations
        self._published: dict[str, list[Scenario]] = {}
        for scenario in published:
            self._published.setdefault(scenario.archetype, []).append(scenario)
        self._sentences = frozenset(
            sentence for known in self._published.values() for one in known for sentence in canonical_sentences(one)
        )
        self._siblings: OrderedDict[object, deque[Sketch[int]]] = OrderedDict()

    def to_published(self, scenario: Scenario) -> float:
        """The distance to the closest published scenario of the same archetype."""
        return min((far for far, _ in self._distances(scenario)), default=1.0)

    def nearest(self, scenario: Scenario, most: int) -> tuple[tuple[float, Scenario], ...]:
        """The closest published scenarios of the same archetype, with their distances."""
        return tuple(sorted(self._distances(scenario), key=lambda one: (one[0], one[1].id))[:most])

    def _distances(self, scenario: Scenario) -> Iterator[tuple[float, Scenario]]:
        for one in self._published.get(scenario.archetype, ()):
            yield exact_distance(scenario, one, self._declarations), one

    def published_sentence(self, scenario: Scenario) -> str | None:
        """A sentence that also occurs in some published scenario, apart from names and numbers.

        None if there is none.
        """
        return next((one for one in canonical_sentences(scenario) if one in self._sentences), None)

    def to_siblings(self, cell: object, found: "Sketch[int]") -> float:
        """The distance to the closest of the latest siblings."""
        return min((distance(found, one) for one in self._siblings.get(cell, ())), default=1.0)

    def add(self, cell: object, found: "Sketch[int]") -> None:
        """Keep an admitted probe; the least recently used cell is forgotten first."""
        self._siblings.setdefault(cell, deque(maxlen=_KEPT_SIBLINGS)).append(found)
        self._siblings.move_to_end(cell)
        if len(self._siblings) > _KEPT_CELLS:
            self._siblings.popitem(last=False)


def canonical_sentences(scenario: Scenario) -> Iterator[str]:
    """The sentences of the stimuli, with numbers normalized: once with the names and once without.

    The first recognizes a sentence that was copied, the second one whose names were changed.
    """
    said = (sentence for stimulus in scenario.stimuli for sentence in sentences_of(stimulus.value or ""))
    names = _names(scenario)
    for sentence in said:
        for known in (frozenset[str](), names):
            words = list(_canonical_words(sentence, known))
            if sum(word.isalpha() for word in words) >= _SHORTEST_SENTENCE:
                yield " ".join(words).rstrip(" .!?")


def _shingle_hash(shingle: str) -> int:
    return int.from_bytes(hashlib.blake2b(shingle.encode(), digest_size=8).digest(), "big")


def _shingles(scenario: Scenario, names: frozenset[str], declarations: Declarations) -> Iterator[str]:
    for stimulus in scenario.stimuli:
        place = f"{stimulus.type}|{surface_of(stimulus, declarations) or ''}|{stimulus.timing or ''}"
        yield f"stimulus|{place}"
        yield from _runs(stimulus.value or "", names)
        yield from _structure("stimulus", stimulus.state, names)
    for entry in scenario.preconditions.environment.state:
        yield f"state|{entry.kind}"
        for key, value in entry.fields.items():
            yield from _structure(f"state|{entry.kind}|{key}", value, names)
    extension = scenario.x_sirocco
    operations = [*extension.task, extension.goal.operation or "" if extension.goal else ""]
    for operation in operations:
        yield f"operation|{' '.join(_canonical_words(operation, names))}"


def _structure(place: str, value: Any, names: frozenset[str]) -> Iterator[str]:
    """Keys unchanged, texts as runs of words; the values of numbers do not matter."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _structure(f"{place}|{' '.join(_canonical_words(str(key), names))}", inner, names)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _structure(place, inner, names)
    elif isinstance(value, str):
        yield place
        yield from _runs(value, names)
    else:
        yield place


def _runs(text: str, names: frozenset[str]) -> Iterator[str]:
    words = list(_canonical_words(text, names))
    for start in range(max(1, len(words) - _RUN + 1)) if words else ():
        yield " ".join(words[start : start + _RUN])


def _canonical_words(text: str, names: frozenset[str]) -> Iterator[str]:
    """The words of a text; every name, whatever its length, becomes the same single word."""
    last = ""
    for word in _WORD.findall(text.lower()):
        found = _NAME if word in names else _NUMBER if word.isdigit() else word
        if found == _NAME and last == _NAME:
            continue
        if found == "-" and last == _NAME:
            continue
        yield found
        last = found


def _names(scenario: Scenario) -> frozenset[str]:
    """The parts of every name that the environment gives to something."""
    state = scenario.preconditions.environment.state
    scope = scenario.preconditions.agent.scope
    given = [*scope.namespaces, *(name for entry in state for name in (entry.name, entry.namespace or ""))]
    given += [found for entry in state for text in texts_of(entry.fields) for found in _IDENTIFIER.findall(text)]
    parts = {part for name in given for part in _WORD.findall(name.lower())}
    alone = {part.removesuffix("s") for part in parts if part.isalpha() and len(part) >= _SHORTEST_NAME}
    return frozenset(alone | {many for part in alone for many in (f"{part}s", f"{part}es", f"{part[:-1]}ies")})
