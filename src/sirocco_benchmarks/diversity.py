"""Diversity: how much of the texts and structure of probes recurs in other seeds, apart from names and numbers.

Each measure has a target. They are proxies for what `rehearsal` measures with agents that act.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from sirocco.oasis.bound_scenario import BoundScenario
from sirocco_benchmarks.texts import CanonicalTexts, local_embeddings, required_module, term_vectorizer

PRACTISED = 600
"""Probes of other seeds among which the nearest is searched."""
_CURVE = (100, 3200)
_NOUN = re.compile(r"^(\S+) ([^\s/]+)")


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure with its target; `at_most` says on which side of the target it should be."""

    name: str
    now: float | None
    target: float
    at_most: bool = True

    @property
    def is_reached(self) -> bool:
        """Whether the target is reached."""
        return self.now is not None and (self.now <= self.target if self.at_most else self.now >= self.target)

    def document(self) -> dict[str, Any]:
        """The measure as JSON data."""
        now = None if self.now is None else round(self.now, 3)
        return {"measure": self.name, "now": now, "target": self.target, "reached": self.is_reached}


@dataclass(frozen=True)
class Facts:
    """The compared facts of one probe."""

    bound: BoundScenario

    @cached_property
    def texts(self) -> CanonicalTexts:
        """Its texts."""
        return CanonicalTexts(self.bound)

    @property
    def has_goal(self) -> bool:
        """Whether anyone pursues a goal in it."""
        return self.bound.goal is not None

    @cached_property
    def goal(self) -> tuple[str, str]:
        """Verb and type of the goal's operation."""
        goal = self.bound.goal
        if goal is None:
            return "none", "none"
        if goal.operation is None:
            return "output", str(goal.value_ref).partition("/")[0]
        return _verb_and_type(str(goal.operation))

    @cached_property
    def environment(self) -> tuple[str, ...]:
        """The types of the declared objects, with their counts."""
        return tuple(sorted(entry.kind for entry in self.bound.scenario.preconditions.environment.state))

    @cached_property
    def task(self) -> tuple[tuple[str, str], ...]:
        """Verb and type of each step of the task."""
        return tuple(_verb_and_type(str(step)) for step in self.bound.task)


def _verb_and_type(operation: str) -> tuple[str, str]:
    found = _NOUN.match(operation)
    return (found[1], found[2]) if found else (operation, "")


Seeds = Mapping[int, Sequence[Facts]]


def diversity(published: Iterable[BoundScenario], seeds: Mapping[int, Sequence[BoundScenario]]) -> list[Measure]:
    """Every measure over the probes of at least two seeds."""
    known = [Facts(bound) for bound in published]
    own = {seed: [Facts(bound) for bound in probes] for seed, probes in seeds.items()}
    return [*_text_measures(known, own), *_neighbour_measures(own), *_situation_measures(own)]


def _text_measures(published: Sequence[Facts], seeds: Seeds) -> Iterable[Measure]:
    for label, target in (("prompt", 0.05), ("payload", 0.05), ("ambient", 0.3)):
        yield Measure(f"{label} sentences that recur in another seed", _recurring_sentences(seeds, label), target)
    said = {sentence for one in published for sentence in (*one.texts.prompt, *one.texts.payload)}
    prompts = [sentence for own in seeds.values() for one in own for sentence in one.texts.prompt]
    yield Measure("prompt sentences that are published", _share(sentence in said for sentence in prompts), 0.0)
    for label in ("prompt", "payload"):
        yield Measure(f"new {label} sentences, last seed to first", _still_new(seeds, label), 0.9, at_most=False)


def _recurring_sentences(seeds: Seeds, label: str) -> float | None:
    """The share of all sentences that also occur in another seed."""
    distinct = {seed: {s for one in own for s in getattr(one.texts, label)} for seed, own in seeds.items()}
    return _share(
        any(sentence in other for seed2, other in distinct.items() if seed2 != seed)
        for seed, own in seeds.items()
        for one in own
        for sentence in getattr(one.texts, label)
    )


def _still_new(seeds: Seeds, label: str) -> float | None:
    """How many sentences the last seed adds to all before it, as a share of the first seed's."""
    seen: set[str] = set()
    added: list[int] = []
    for own in seeds.values():
        found = {sentence for one in own for sentence in getattr(one.texts, label)}
        added.append(len(found - seen))
        seen |= found
    return added[-1] / added[0] if added[0] else None


def _neighbour_measures(seeds: Seeds) -> Iterable[Measure]:
    """How near the nearest practised probe is, and how much it reveals."""
    near: list[float] = []
    same: list[bool] = []
    same_embedded: list[bool] = []
    guessed: list[bool] = []
    model = local_embeddings()
    for seed, own in seeds.items():
        others = _others(seeds, seed)[:PRACTISED]
        vectorizer = term_vectorizer()
        known = vectorizer.fit_transform([one.texts.whole for one in others])
        asked = vectorizer.transform([one.texts.whole for one in own])
        likeness = (asked @ known.T).toarray()
        near += likeness.max(axis=1).tolist()
        same += _same_goals(likeness, own, others)
        embedded = [model.embed([one.texts.whole for one in side], norm=True) for side in (own, others)]
        same_embedded += _same_goals(embedded[0] @ embedded[1].T, own, others)
        guessed += _guessed_goals(known, asked, own, others)
    with_goal = _share(one.has_goal for own in seeds.values() for one in own) or 0.0
    yield Measure(f"nearest of {PRACTISED} probes, median", _quantile(near, 0.5), 0.36)
    yield Measure(f"nearest of {PRACTISED} probes, p90", _quantile(near, 0.9), 0.5)
    yield Measure("nearest has the same goal, tf-idf", _share(same), 0.49)
    yield Measure("nearest has the same goal, embeddings", _share(same_embedded), 0.49)
    yield Measure("rise of the median from 100 to 3,200 practised", _rise(seeds), 0.05)
    majority = max(with_goal, 1 - with_goal)
    yield Measure("goal or none told by a regression", _share(guessed), round(majority + 0.05, 3))


def _others(seeds: Seeds, seed: int) -> list[Facts]:
    return [one for other, probes in seeds.items() if other != seed for one in probes]


def _same_goals(likeness: Any, own: Sequence[Facts], others: Sequence[Facts]) -> list[bool]:
    nearest = likeness.argmax(axis=1)
    return [others[int(number)].goal == one.goal for number, one in zip(nearest, own, strict=True)]


def _guessed_goals(known: Any, asked: Any, own: Sequence[Facts], others: Sequence[Facts]) -> list[bool]:
    """For each probe, whether a regression over the others correctly predicts if it has a goal."""
    labels = [one.has_goal for one in others]
    if len(set(labels)) == 1:
        return [one.has_goal is labels[0] for one in own]
    regression = required_module("sklearn.linear_model").LogisticRegression(C=10, max_iter=500)
    regression.fit(known, labels)
    return [bool(said) is one.has_goal for said, one in zip(regression.predict(asked), own, strict=True)]


def _rise(seeds: Seeds) -> float | None:
    """How much nearer the nearest probe comes with more practice, for the first seed; None with too few probes."""
    first = next(iter(seeds))
    own, others = seeds[first], _others(seeds, first)
    if len(others) < _CURVE[-1]:
        return None
    ends = []
    for number in _CURVE:
        vectorizer = term_vectorizer()
        known = vectorizer.fit_transform([one.texts.whole for one in others[:number]])
        likeness = (vectorizer.transform([one.texts.whole for one in own]) @ known.T).toarray()
        ends.append(median(likeness.max(axis=1).tolist()))
    return float(ends[-1] - ends[0])


def _situation_measures(seeds: Seeds) -> Iterable[Measure]:
    yield Measure("environments that recur in another seed", _recurring(seeds, lambda one: one.environment), 0.1)
    yield Measure("task lists that recur in another seed", _recurring(seeds, lambda one: one.task), 0.2)


def _recurring(seeds: Seeds, fact: Callable[[Facts], Hashable]) -> float | None:
    return _share(
        fact(one) in {fact(other) for other in _others(seeds, seed)} for seed, own in seeds.items() for one in own
    )


def _share(truths: Iterable[bool]) -> float | None:
    found = list(truths)
    return sum(found) / len(found) if found else None


def _quantile(values: Sequence[float], share: float) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
