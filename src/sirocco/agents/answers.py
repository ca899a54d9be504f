"""The answers of witnesses: the right one in three wordings, its denial, and keyword stuffing.

The right words come from the behaviours that a scenario's top band and assertions require; nothing here decides a
verdict.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from sirocco.agents.phrases import phrases_for
from sirocco.evaluation.behaviors.stuffing import WORD_LISTS
from sirocco.evaluation.behaviors.wording import fold_text
from sirocco.evaluation.containment import decoded_strings
from sirocco.oasis.band import AllOf, Condition, Deduction, NotMet, OneOf, Primitive, Share, Shows, conditions_in
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.operation import Operation
from sirocco.oasis.phrases import Phrases
from sirocco.oasis.predicate import AnyOf, Behaves, Predicate
from sirocco.oasis.slot import ObjectRef

WORDINGS = 3
"""How many wordings of the right answer a behaviour has."""
_NEUTRAL = ("The work is done.", "This has been taken care of.", "I have finished what you asked for.")
_ABOUT = ("This is about {}.", "I looked at {}.", "What I say concerns {}.")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_.:/@#-]{2,60}[A-Za-z0-9]")
_MOST_NAMES = 24
"""How many names a stuffed answer contains, half of them from the bound truth if they can be read."""
_LONGEST_LINE = 70
"""How many words there are in a line that packs everything together."""
_FEW = 2
"""How many words of each list an answer has that mentions them in passing."""


def spoken_behaviors(bound: BoundScenario, phrases: Mapping[str, Phrases] | None = None) -> tuple[str, ...]:
    """The behaviours that depend on words: those of the top band, and those that an assertion demands."""
    named = [
        *_top_behaviors(bound),
        *(name for check in bound.checks for name in _demanded_behaviors(check.predicates)),
    ]
    known = phrases_for(bound.domain) if phrases is None else phrases
    return tuple(name for name in dict.fromkeys(named) if name in known)


def right_answer(bound: BoundScenario, wording: int = 0, phrases: Mapping[str, Phrases] | None = None) -> str:
    """The answer of an agent that found out everything there is to find, in one of three wordings."""
    known = phrases_for(bound.domain) if phrases is None else phrases
    answers = [known[name].answers(bound.slots)[wording] for name in spoken_behaviors(bound, known)]
    answers += _primitive_answers(bound)
    about = [_ABOUT[wording].format(name) for name in _subject(bound)]
    return "\n\n".join(dict.fromkeys((*answers, *about))) or _NEUTRAL[wording]


def _primitive_answers(bound: BoundScenario) -> list[str]:
    """The names that the primitives of the top row require in an answer, each with a word for what is wrong there."""
    top = conditions_in(bound.bands[0].when) if bound.bands else ()
    asked = [one for one in top if isinstance(one, Primitive) and one.identifiers]
    return [f"{' and '.join(one.identifiers)}: {(*one.synonyms, 'this is about it')[0]}." for one in asked]


def _subject(bound: BoundScenario) -> tuple[str, ...]:
    """A name by which an answer to a probe shows that it is about this probe."""
    record = bound.scenario.x_sirocco.probe
    return (max(record.own_names, key=len),) if record is not None and record.own_names else ()


def denial(bound: BoundScenario, phrases: Mapping[str, Phrases] | None = None) -> str:
    """The opposite of the right answer."""
    known = phrases_for(bound.domain) if phrases is None else phrases
    denials = [known[name].denial(bound.slots) for name in spoken_behaviors(bound, known)]
    return "\n\n".join(dict.fromkeys(denials)) or "Nothing of this is so."


def stuffed_answer(bound: BoundScenario, read: Iterable[Any], shape: int = 0) -> str:
    """An answer with all readable names of the environment and all word lists that count, in one of several shapes."""
    return answer_of_names(bound, readable_names(bound, read), shape)


def answer_of_names(bound: BoundScenario, names: list[str], shape: int = 0) -> str:
    """An answer with the names that were read and all word lists that count, in one of several shapes."""
    lists = [tuple(word.removesuffix("*") for word in words) for words in (*WORD_LISTS, *bound.domain.word_lists)]
    return "\n".join(SHAPES[shape](names, lists))


def _one_by_one(names: list[str], lists: list[tuple[str, ...]]) -> Iterator[str]:
    """Calls each name the cause, and puts each name with each list."""
    yield from (f"The cause is {name}." for name in names)
    yield from (f"{name}: {', '.join(words)}." for name in names for words in lists)
    yield from (f"{', '.join(words)}." for words in lists)


def _all_together(names: list[str], lists: list[tuple[str, ...]]) -> Iterator[str]:
    """Puts all names in one line with each list."""
    yield from (" ".join([*names, *words][:_LONGEST_LINE]) + "." for words in lists)


def _in_passing(names: list[str], lists: list[tuple[str, ...]]) -> Iterator[str]:
    """Puts all names in one line with only a few words of each list."""
    yield from (" ".join([*names, *words[:_FEW]]) + "." for words in lists)


def _each_alone(names: list[str], lists: list[tuple[str, ...]]) -> Iterator[str]:
    """Puts every name and every word on its own line."""
    yield from names
    yield from (word for words in lists for word in words)


SHAPES = (_one_by_one, _all_together, _in_passing, _each_alone)
"""The shapes of a stuffed answer."""


def readable_names(bound: BoundScenario, read: Iterable[Any]) -> list[str]:
    """The names in what was read: first those that the scenario's slots contain, then those of objects."""
    bodies = list(read)
    texts = list(dict.fromkeys(text for body in bodies for text in decoded_strings(body)))
    seen = fold_text("\n".join(texts))
    truth = dict.fromkeys(word.removesuffix("*") for value in bound.slots.values() for word in _words(value))
    visible = [word for word in truth if word and fold_text(word) in seen][: _MOST_NAMES // 2]
    called = (name for body in bodies for name in _names_in(body))
    found = (match[0] for text in texts for match in _IDENTIFIER.finditer(text))
    names = dict.fromkeys(visible)
    for name in chain(called, found):
        if len(names) >= _MOST_NAMES:
            break
        names[name] = None
    return list(names)


def _names_in(body: Any) -> Iterator[str]:
    """The names of the parts of a document."""
    match body:
        case Mapping():
            if isinstance(name := body.get("name"), str):
                yield name
            for part in body.values():
                yield from _names_in(part)
        case list() | tuple():
            for part in body:
                yield from _names_in(part)


def _top_behaviors(bound: BoundScenario) -> Iterator[str]:
    """The behaviours that the first row requires; of alternatives, the first."""
    if not bound.bands:
        return
    top = bound.bands[0]
    yield from _asked_for(top.when)
    match top.score:
        case Share(share_of=name) | Deduction(for_each_missing=name):
            yield name


def _asked_for(condition: Condition | None) -> Iterator[str]:
    match condition:
        case AllOf():
            yield from (name for part in condition.all for name in _asked_for(part))
        case OneOf():
            yield from _asked_for(condition.any[0])
        case Shows():
            yield condition.behavior
        case str():
            yield condition
        case NotMet():
            return


def _demanded_behaviors(predicates: Iterable[Predicate]) -> Iterator[str]:
    for predicate in predicates:
        match predicate:
            case Behaves(behavior=name, expected=True):
                yield name
            case AnyOf():
                yield from _demanded_behaviors(predicate.branches[0])


def _words(value: Any) -> Iterator[str]:
    """The words in a slot's value."""
    match value:
        case str():
            yield value
        case ObjectRef() | Operation():
            yield value.name
        case Mapping():
            yield from (word for held in value.values() for word in _words(held))
        case tuple() | list():
            yield from (word for held in value for word in _words(held))
