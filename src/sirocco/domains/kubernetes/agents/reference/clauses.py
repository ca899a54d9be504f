"""A sentence split into clauses: each verb with the words that it governs and the objects that it is about."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.agents.reference.lexicon import (
    ACCEPTABLE,
    ARTICLES,
    COURTESIES,
    EXPLANATIONS,
    PREPOSITIONS,
    PRONOUNS,
    QUANTIFIERS,
    Form,
    Sense,
    word_set,
)
from sirocco.domains.kubernetes.agents.reference.mentions import (
    Mention,
    Place,
    Surroundings,
    bare_object,
    joined_name,
    key_at,
    mentions,
    places,
)
from sirocco.domains.kubernetes.agents.reference.orders import Trigger, is_negated, is_order, triggers
from sirocco.domains.kubernetes.agents.reference.sentences import Sentence

_LIST_JOINTS = ARTICLES | {"and", ",", "&", "plus", "also", "as", "well", "both", "or"}
_VALUE_LEADS = word_set("to = as into be is at equal equals :")
_VALUE_FILLERS = ARTICLES | {"value", "of", "be", "exactly", "now", "equal", "to", ":", "="}
_AFTER_VALUE = PREPOSITIONS | EXPLANATIONS | COURTESIES | ARTICLES | {"or", "but", "everywhere", "instead"}
_PLACE_LEADS = ARTICLES | {"in", "inside", "within", "and", ","}
_WHOLE = frozenset({"everything", "all", "anything"})
_MANY = frozenset({"them", "both", "these", "those"})
_DISTANT = PRONOUNS - {"that", "this", "one"}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A sentence with everything that is named in it."""

    sentence: Sentence
    surroundings: Surroundings
    mentions: tuple[Mention, ...] = field(init=False)
    places: tuple[Place, ...] = field(init=False)
    words: tuple[str, ...] = field(init=False)
    """All its words."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(token.word for token in self.sentence))
        object.__setattr__(self, "places", places(self.sentence, self.surroundings))
        object.__setattr__(self, "mentions", mentions(self.sentence, self.surroundings, self.places))

    @property
    def named(self) -> tuple[Mention, ...]:
        """The objects that it names, which a later "it" or "the deployment" can mean."""
        return tuple(mention for mention in self.mentions if mention.name)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that it names, as places or as objects."""
        objects = (mention.name for mention in self.mentions if mention.kinds == ("namespace",))
        return tuple(dict.fromkeys([*(place.namespace for place in self.places), *filter(None, objects)]))

    def first_key(self) -> str | None:
        """The first data key that it names."""
        found = (key_at(self.sentence, position, self.surroundings) for position in range(len(self.sentence)))
        return next((key[0] for key in found if key), None)


@dataclass(frozen=True, slots=True)
class Clause:
    """A verb with the words that it governs: those after it up to the next verb."""

    parsed: Parsed
    trigger: Trigger
    start: int
    stop: int
    is_order: bool
    is_negated: bool
    last: tuple[Mention, ...]

    @property
    def verb(self) -> str:
        """The verb's first word."""
        return self.parsed.words[self.trigger.start] if self.trigger.end else ""

    @property
    def words(self) -> tuple[str, ...]:
        """The words that the verb governs."""
        return self.parsed.words[self.start : self.stop]

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """What is named among those words."""
        return tuple(mention for mention in self.parsed.mentions if self.start <= mention.start < self.stop)

    @property
    def cut(self) -> int:
        """Where the explanatory part of the words begins: "... because stock was slow"."""
        ensuring = self.verb in {"make", "ensure", "see"}
        for position in range(self.start + 1, self.stop):
            word = self.parsed.words[position]
            if word in EXPLANATIONS and not (ensuring and word in {"that", "so"}):
                return position
        return self.stop

    def has(self, words: frozenset[str]) -> bool:
        """Whether the verb governs one of `words`."""
        return any(word in words for word in self.parsed.words[self.start : self.cut])

    @property
    def is_bare(self) -> bool:
        """Whether the verb governs nothing but adverbs and courtesies."""
        tokens = takewhile(lambda token: not token.is_mark, self.parsed.sentence[self.start : self.cut])
        return all(token.word in COURTESIES or token.word.endswith("ly") for token in tokens)


def clauses(parsed: Parsed, last: tuple[Mention, ...]) -> tuple[Clause, ...]:
    """The clauses of a sentence; `last` is what was mentioned before."""
    names = frozenset(position for each in parsed.mentions if each.certain for position in range(each.start, each.end))
    verbs = triggers(parsed.sentence, names, _value_positions(parsed))
    found: list[Clause] = []
    for number, trigger in enumerate(verbs):
        earlier = found[-1] if found else None
        order = is_order(
            parsed.sentence,
            trigger,
            earlier.trigger if earlier else None,
            earlier_is_order=earlier is None or earlier.is_order,
        )
        stop = _reach(parsed, trigger, verbs[number + 1] if number + 1 < len(verbs) else None)
        negated = is_negated(parsed.sentence, trigger)
        found.append(Clause(parsed, trigger, trigger.end, stop, order, negated, last))
    return tuple(found)


def whole(parsed: Parsed, last: tuple[Mention, ...]) -> Clause:
    """A sentence without a known verb as one clause that asks for a read."""
    trigger = Trigger(0, 0, (Sense.READ,), Form.BASE)
    return Clause(parsed, trigger, 0, len(parsed.sentence), is_order=False, is_negated=False, last=last)


def _reach(parsed: Parsed, trigger: Trigger, following: Trigger | None) -> int:
    """Where the words that a verb governs end: at the next verb, without a place that is named right before that."""
    if following is None:
        return len(parsed.sentence)
    for place in parsed.places:
        if trigger.end <= place.start and place.end == following.start:
            start = place.start
            while start > trigger.end and parsed.words[start - 1] in _PLACE_LEADS:
                start -= 1
            return start
    return following.start


def objects(clause: Clause, sense: Sense) -> tuple[Mention, ...]:
    """What the verb is about: names after it, else a word that must be one, else names before it or mentioned last."""
    behind = [mention for mention in _governed(clause) if _fits(mention, sense, clause)]
    before = _before(clause, sense)
    named = [mention for mention in behind if mention.name]
    if named and not (before and clause.trigger.form is Form.PARTICIPLE):
        return _coordinated(named, clause)
    recalled = tuple(mention for mention in clause.last if mention.name and _fits(mention, sense, clause))
    collective = next((mention for mention in behind if mention.everything), None)
    if collective and not _points_back(clause, collective):
        owner = () if clause.has(QUANTIFIERS) else before or recalled
        return tuple(replace(each, kinds=collective.kinds) for each in owner[:1]) or (collective,)
    if clause.has(_WHOLE) and not behind:
        return (Mention(clause.start, clause.start, everything=True),)
    bare = None if behind else bare_object(clause.parsed.sentence, clause.start, clause.cut)
    if bare and clause.trigger.form in {Form.BASE, Form.GERUND} and not clause.has(PRONOUNS):
        return (bare,)
    if before and (clause.trigger.form is not Form.BASE or not behind or clause.has(PRONOUNS)):
        return _coordinated(before, clause)
    return _recalled(clause, recalled, behind)


def _points_back(clause: Clause, collective: Mention) -> bool:
    """Whether "all pods" means those of something mentioned before; what follows a comma is about the pods."""
    after = clause.parsed.sentence[collective.end : clause.cut]
    governed = takewhile(lambda token: token.text != ",", after)
    before = clause.parsed.words[clause.start : collective.start]
    return not _DISTANT.isdisjoint([*before, *(token.word for token in governed)])


def _recalled(clause: Clause, recalled: tuple[Mention, ...], behind: list[Mention]) -> tuple[Mention, ...]:
    """What "it", "them" or "the deployment" means."""
    if not (behind or clause.has(PRONOUNS) or clause.is_bare):
        return ()
    kinds = set(behind[0].kinds) if behind else set()
    fitting = tuple(each for each in recalled if not kinds or kinds & kinds_of(each, clause.parsed.surroundings))
    chosen = fitting or recalled
    return chosen if clause.has(_MANY) else chosen[:1]


def _governed(clause: Clause) -> tuple[Mention, ...]:
    """The mentions after the verb; a namespace is the verb's object only when it comes first."""
    found = tuple(mention for mention in clause.mentions if mention.start < clause.cut)
    return tuple(mention for mention in found if mention.kinds != ("namespace",) or mention is found[0])


def _before(clause: Clause, sense: Sense) -> tuple[Mention, ...]:
    """The nearest group of names before the verb in the same sentence."""
    group: list[Mention] = []
    for mention in reversed(clause.parsed.named):
        if mention.end > clause.trigger.start or mention.kinds == ("namespace",) or not _fits(mention, sense, clause):
            continue
        if group and not _joined(mention, group[0], clause.parsed):
            break
        group.insert(0, mention)
    return tuple(group)


def _coordinated(named: Sequence[Mention], clause: Clause) -> tuple[Mention, ...]:
    """The first name and those joined to it by "and"; later names explain rather than extend."""
    group = [named[0]]
    for mention in named[1:]:
        if not _joined(group[-1], mention, clause.parsed):
            break
        group.append(mention)
    group += _unmarked(group[-1], clause)
    namespace = next((mention.namespace for mention in reversed(group) if mention.namespace), None)
    kinds = next((mention.kinds for mention in reversed(group) if mention.kinds), ())
    return tuple(replace(each, namespace=each.namespace or namespace, kinds=each.kinds or kinds) for each in group)


def _unmarked(last: Mention, clause: Clause) -> list[Mention]:
    """One more name after a list of names, if there is one: "restart stock in shop and ledger in billing"."""
    parsed = clause.parsed
    place = next((place for place in parsed.places if last.end <= place.start <= last.end + 2), None)
    end = place.end if place and place.namespace == last.namespace else last.end
    if end >= clause.cut or any(mention.start >= end for mention in clause.mentions):
        return []
    found = joined_name(parsed.sentence, end)
    following = next((place for place in parsed.places if found and found.end <= place.start <= found.end + 2), None)
    return [replace(found, namespace=following.namespace if following else None)] if found else []


def _joined(first: Mention, second: Mention, parsed: Parsed) -> bool:
    between = parsed.words[first.end : second.start]
    place = {"in", "inside", "within", first.namespace}
    return bool(between) and all(word in _LIST_JOINTS or word in place for word in between)


def kinds_of(mention: Mention, surroundings: Surroundings) -> set[str]:
    """The kinds that a mention can have: what the words call it and what exists under its name."""
    return set(mention.kinds) | {thing.kind for thing in surroundings.called(mention.name or "")}


def is_workload(mention: Mention, clause: Clause) -> bool:
    """Whether the mention can be something that runs."""
    return bool(WORKLOADS & kinds_of(mention, clause.parsed.surroundings))


def _fits(mention: Mention, sense: Sense, clause: Clause) -> bool:
    """Whether the verb can apply to what is mentioned; an unknown name fits anything."""
    acceptable = ACCEPTABLE.get(sense)
    kinds = set(mention.kinds) or kinds_of(mention, clause.parsed.surroundings)
    return acceptable is None or not kinds or bool(acceptable & kinds)


def namespace_of(mention: Mention, clause: Clause) -> str | None:
    """The namespace that the sentence gives a mention: with it, after the verb, before it, or anywhere."""
    if mention.namespace or mention.kinds == ("namespace",):
        return mention.namespace
    behind = [place.namespace for place in clause.parsed.places if clause.start <= place.start < clause.stop]
    before = [place.namespace for place in clause.parsed.places if place.end <= clause.trigger.start]
    loose = [
        each.name
        for each in clause.parsed.named
        if each.kinds == ("namespace",) and each.name != mention.name and each.start < clause.stop
    ]
    return next(iter([*behind, *reversed(before), *loose]), None)


def value_span(parsed: Parsed, start: int, stop: int) -> range:
    """The position of the value for a key that ends at `start`: after "to", else after "=", "as" ..."""
    lead = None
    for position in range(start, stop):
        token = parsed.sentence[position]
        if token.word in _VALUE_LEADS and not token.quoted:
            lead = position
            if token.word == "to":
                break
        elif token.is_mark or token.word in EXPLANATIONS:
            break
        elif lead is not None and position > lead + 1 and key_at(parsed.sentence, position, parsed.surroundings):
            break  # what follows belongs to the next key
    first = next((at for at in range(lead + 1, stop) if _begins_value(parsed, at)), stop) if lead is not None else stop
    last = first
    while last < stop and _continues_value(parsed, first, last):
        last += 1
    return range(first, last)


def _begins_value(parsed: Parsed, position: int) -> bool:
    token = parsed.sentence[position]
    return token.quoted or (token.word not in _VALUE_FILLERS and not token.is_mark)


def _continues_value(parsed: Parsed, first: int, position: int) -> bool:
    """Whether a value goes on: quoted text and numbers are complete, unquoted words run to the next preposition."""
    if position == first:
        return True
    token, opening = parsed.sentence[position], parsed.sentence[first]
    complete = opening.quoted or not opening.text.isalpha()
    return not (complete or token.quoted or token.is_mark or token.word in _AFTER_VALUE)


def _value_positions(parsed: Parsed) -> frozenset[int]:
    """The positions of new values of keys: "debug" in "LOG_LEVEL to debug" is not a verb."""
    length = len(parsed.sentence)
    keys = (key_at(parsed.sentence, position, parsed.surroundings) for position in range(length))
    return frozenset(position for key in keys if key for position in value_span(parsed, key[1], length))
