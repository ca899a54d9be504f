"""A message split into matters: runs of sentences that are about the same things.

Somebody who asks for two things in one message wants both looked at, and a problem with one of them is no reason to
leave the other. A sentence that names nothing belongs to what was just mentioned if it points back or asks for
something, and otherwise to what comes next.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sirocco.domains.kubernetes.agents.reference.clauses import Parsed, clauses
from sirocco.domains.kubernetes.agents.reference.lexicon import QUESTIONS, VERB_FORMS, word_set
from sirocco.domains.kubernetes.agents.reference.mentions import Surroundings, key_at, looks_like_name
from sirocco.domains.kubernetes.agents.reference.sentences import sentence_texts, sentences
from sirocco.domains.kubernetes.agents.reference.skills.craft import wants_repair
from sirocco.domains.kubernetes.agents.reference.survey import Json, Survey, name_of, namespace_of, pod_spec
from sirocco.domains.kubernetes.agents.reference.understanding import Action, requests

_USED = ("configmap", "secret", "pvc")
_MOST = 12
"""Nobody asks for more things at once; anything beyond counts as one."""
_BACK = word_set("it its it's them they their these those both")
_LEAD = r"\s*(?:[-*•]\s*)?(?:(?:and|but|so|please|also|only|just),?\s+)*"
_GOES_ON = re.compile(
    rf"{_LEAD}(?:its?|it's|they|their|that|this|these|those|both|neither|either|otherwise|(?:the |no |any )?others?|"
    r"the (?:rest|same|former|latter)|(?:everything|nothing|anything|nobody|everybody) else|all of (?:it|them)|"
    r"many thanks|thanks|thank you|cheers)\b",
    re.IGNORECASE,
)
"""Openings of a sentence that says more about what was just mentioned."""
_FOLLOWS = re.compile(
    rf"{_LEAD}(?:then(?! there\b)|after(?:wards| that| this)|otherwise|or else|else|once (?:it|that|this|done|they)|"
    r"as soon as (?:it|that|they)|(?:when|if|should|in case|unless|until|before|after) (?:it|that|this|they|so|not)\b)",
    re.IGNORECASE,
)
"""Openings of a sentence that continues the work of the one before it, whatever it names."""
_ASKS = re.compile(
    r"\?\s*$|\b(?:please|kindly|make sure|see to it|you to|that you|if you could)\b|"
    r"\b(?:i|we|you)(?:'d| would| still| also)? (?:need|want|like|wish|have to|must|should)\b|"
    r"\b(?:still open|remains for you|next for you):",
    re.IGNORECASE,
)
_MEANS = frozenset({"node", "pv", "storageclass"})
"""Kinds that a sentence names as places or means, and rarely as its topic."""
_WORK = word_set(
    "follow continue work go carry complete finish resume decide plan handle deal sort proceed execute conduct assess "
    "evaluate judge choose consider prepare draw think try repair restore recover"
)
"""Verbs that ask others to work, besides those that name a change or a look."""
_FRAME = re.compile(
    r"\bit (?:is|would be) (?:necessary|important|essential|good|great|nice|time|urgent)\b", re.IGNORECASE
)


class Kinship:
    """Groups of names; two names are akin when their objects belong together or when one continues the other."""

    def __init__(self, known: Survey) -> None:
        self._first: dict[str, str] = {}
        for one, other in _ties(known):
            self._first[self._root(other)] = self._root(one)

    def are_akin(self, one: str, other: str) -> bool:
        """Whether two names mean things that belong together."""
        first, second = self._root(one), self._root(other)
        return first == second or one.startswith(f"{other}-") or other.startswith(f"{one}-")

    def _root(self, name: str) -> str:
        while self._first.get(name, name) != name:
            name = self._first[name]
        return name


def _ties(known: Survey) -> Iterator[tuple[str, str]]:
    """Pairs of names that belong together."""
    for _, item in known.workloads():
        for noun in _USED:
            yield from ((name_of(item), used) for used in known.used_by(noun, item))
        yield from ((name_of(item), name_of(pod)) for pod in known.pods_of(item))
        for noun in ("service", "pdb", "networkpolicy"):
            for other in known.objects.get(noun, ()):
                if namespace_of(other) == namespace_of(item) and _selects(other, item):
                    yield name_of(item), name_of(other)
    for autoscaler in known.objects.get("hpa", ()):
        target = (autoscaler.get("spec") or {}).get("scaleTargetRef") or {}
        yield str(target.get("name", "")), name_of(autoscaler)
    for ingress in known.objects.get("ingress", ()):
        yield from ((name_of(ingress), name) for name in _services(ingress.get("spec")))


def _selects(item: Json, workload: Json) -> bool:
    """Whether a service, a budget or a policy selects the pods that a workload makes."""
    spec = item.get("spec") or {}
    chosen = spec.get("selector") or spec.get("podSelector") or {}
    wanted = chosen.get("matchLabels", chosen)
    template = (workload.get("spec") or {}).get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    return (
        bool(wanted) and isinstance(wanted, Mapping) and wanted.items() <= labels.items() and bool(pod_spec(workload))
    )


def _services(value: Any) -> Iterator[str]:
    """The names of the services that an ingress leads to, wherever they stand."""
    if isinstance(value, Mapping):
        service = value.get("service")
        if isinstance(service, Mapping):
            yield str(service.get("name", ""))
        for member in value.values():
            yield from _services(member)
    elif isinstance(value, list):
        for member in value:
            yield from _services(member)


@dataclass(frozen=True, slots=True)
class _Said:
    """One sentence: its words, what it is about, and how it relates to the one before."""

    text: str
    topics: frozenset[str]
    asks: bool
    follows: bool


@dataclass(slots=True)
class _Matter:
    """The sentences found so far to belong together, what they are about, and whether they ask for anything."""

    said: list[str] = field(default_factory=list)
    topics: set[str] = field(default_factory=set)
    asks: bool = False

    def take_up(self, said: _Said) -> None:
        """Add a sentence."""
        self.said.append(said.text)
        self.topics |= said.topics
        self.asks |= said.asks

    def goes_on_with(self, said: _Said, kinship: Kinship) -> bool:
        """Whether a sentence still belongs to this; a matter without a request so far leads up to one."""
        if said.follows or not self.asks:
            return True
        return any(kinship.are_akin(one, other) for one in said.topics for other in self.topics)

    def __str__(self) -> str:
        # A sentence without a closing mark keeps a line of its own.
        return "".join(one + (" " if one[-1] in ".!?" else "\n") for one in self.said).rstrip()


def matters(text: str, known: Survey) -> tuple[str, ...]:
    """The matters of a message in order, each in its original words."""
    kinship = Kinship(known)
    found: list[_Matter] = []
    waiting: list[_Said] = []
    for said in _spoken(text, known):
        waiting.append(said)
        if said.topics or said.follows:
            is_new = not found or not found[-1].goes_on_with(said, kinship)
            if is_new and len(found) < _MOST:
                found.append(_Matter())
            _take_up(found[-1], waiting)
            waiting = []
    if waiting:
        found = found or [_Matter()]
        _take_up(found[-1], waiting)
    return tuple(map(str, found))


def _take_up(matter: _Matter, sentences: list[_Said]) -> None:
    for said in sentences:
        matter.take_up(said)


def _spoken(text: str, known: Survey) -> Iterator[_Said]:
    surroundings = known.surroundings()
    for written in sentence_texts(text):
        plain = _FRAME.sub("", written)
        parsed = [Parsed(sentence, surroundings) for sentence in sentences(plain)]
        named = {topic for one in parsed for topic in _named(one)}
        topics = named | _asked_about(plain, surroundings)
        asks = bool(_ASKS.search(written)) or wants_repair(written) or any(map(_orders, parsed))
        goes_on = not topics and (asks or _GOES_ON.match(plain) is not None)
        follows = goes_on or _FOLLOWS.match(written) is not None
        yield _Said(written, frozenset(topics), asks, follows)


def _named(parsed: Parsed) -> Iterator[str]:
    """What a sentence names: objects, or else holders of keys, and all of a kind unless "its pods" are meant."""
    for mention in parsed.mentions:
        is_new = _BACK.isdisjoint(parsed.words[: mention.start])
        if _MEANS.issuperset(mention.kinds or ("",)):
            continue
        if mention.name and (is_new or mention.certain or looks_like_name(mention.name.lower())):
            yield mention.name.lower()
        elif mention.everything and is_new:
            yield f"every {' '.join(mention.kinds)}"
    for position in range(len(parsed.sentence) if not parsed.named else 0):
        key = key_at(parsed.sentence, position, parsed.surroundings)
        for thing in parsed.surroundings.things if key else ():
            if thing.kind == "configmap" and key and key[0] in thing.keys:
                yield thing.name


def _asked_about(text: str, surroundings: Surroundings) -> set[str]:
    """The targets of requested changes, and requests without a name: rights for somebody, the values of secrets."""
    asked = [one for one in requests(text, surroundings) if one.action is not Action.READ or one.asks_for_values]
    return {one.name.lower() if one.name else one.action.value for one in asked}


def _orders(parsed: Parsed) -> bool:
    """Whether a sentence orders something, or begins like an order or a question."""
    first = next((word for word in parsed.words if word.isalpha()), "")
    return first in QUESTIONS | VERB_FORMS | _WORK or any(clause.is_order for clause in clauses(parsed, ()))
