"""What a sentence talks about: named objects, kinds without a name, namespaces, and the keys of their data."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile

from kubesim.resource import resource_type
from sirocco.domains.kubernetes.agents.reference.lexicon import (
    ARTICLES,
    KIND_LENGTH,
    KIND_WORDS,
    NOT_NAMES,
    PLURAL_KINDS,
    QUANTIFIERS,
    VERB_FORMS,
    word_set,
)
from sirocco.domains.kubernetes.agents.reference.sentences import Sentence

_NAME_LENGTH = 5
_IDENTIFIER = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*-[a-z0-9]+(?:[-.][a-z0-9]+)*", re.IGNORECASE)
_PLAIN_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?", re.IGNORECASE)
_KEY_JOINTS = re.compile(r"[-_.\s]")
# A key that is not known yet: an environment variable, or the path of a field.
_WRITTEN_KEY = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|(?:metadata|spec|data|stringData)\.[A-Za-z0-9_./-]+")
_VERSION = re.compile(r"v?\d[\w.]*")
# Hyphenated English that looks like an identifier.
_PROSE_STARTS = word_set(
    "on off re non pre post well self up so out follow long short high low real clean multi read first last one two "
    "three half full old much over under fast in at ad co de twenty thirty forty fifty sixty seventy eighty ninety"
)
_PROSE_ENDS = word_set(
    "up down out in off time term only related wide based ready free level date hours minute hour call"
)
_IN_PLACE = word_set("in inside within under across into throughout")
_AT_PLACE = _IN_PLACE | word_set("from of at on for to")
_PLACE_WORDS = frozenset({"namespace", "ns", "namespaces", "-n", "--namespace"})
_KIND_TO_NAME = ARTICLES | {"named", "called", ":", "(", "of", "for", "behind"}
_KIND_OPENINGS = frozenset(KIND_WORDS).union(phrase.partition(" ")[0] for phrase in KIND_WORDS)
_FILLERS = ARTICLES | {"over", "named", "called", "whole", "entire"}


@dataclass(frozen=True, slots=True)
class Thing:
    """An object that exists, as far as the reader knows: its kind, name, place, and the keys of its data."""

    kind: str
    name: str
    namespace: str | None = None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Everything that names in a text can refer to."""

    things: tuple[Thing, ...] = ()
    namespaces: frozenset[str] = frozenset()
    names: frozenset[str] = field(init=False)
    keys: Mapping[str, str] = field(init=False)
    # Most words of a text begin neither, which this shows quickly.
    name_openings: frozenset[str] = field(init=False, compare=False)
    """The beginnings of names, up to each of their hyphens or the end."""
    key_openings: frozenset[str] = field(init=False, compare=False)
    """The beginnings of keys, written without separators."""

    def __post_init__(self) -> None:
        names = frozenset(thing.name.lower() for thing in self.things)
        keys = {_plain_key(key): key for thing in self.things for key in thing.keys}
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "keys", keys)
        ends = ((name, at) for name in names for at, letter in enumerate(name) if letter == "-")
        object.__setattr__(self, "name_openings", names.union(name[:at] for name, at in ends))
        object.__setattr__(
            self, "key_openings", frozenset(key[:length] for key in keys for length in range(len(key) + 1))
        )

    def called(self, name: str) -> tuple[Thing, ...]:
        """The things with that name."""
        return tuple(thing for thing in self.things if thing.name.lower() == name.lower())

    def without(self, name: str) -> "Surroundings":
        """The same without the things with that name."""
        return replace(self, things=tuple(thing for thing in self.things if thing.name.lower() != name.lower()))


@dataclass(frozen=True, slots=True)
class Mention:
    """An object as a sentence names it; without a name it is "the deployment" or "all pods"."""

    start: int
    end: int
    name: str | None = None
    kinds: tuple[str, ...] = ()
    namespace: str | None = None
    everything: bool = False
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Place:
    """A namespace that a sentence names as the place of something."""

    start: int
    end: int
    namespace: str


def places(sentence: Sentence, surroundings: Surroundings) -> tuple[Place, ...]:
    """The namespaces that a sentence names as places."""
    return tuple(place for position in range(len(sentence)) if (place := _place_at(sentence, position, surroundings)))


def _place_at(sentence: Sentence, position: int, surroundings: Surroundings) -> Place | None:
    """The namespace at a position, if it says where something is: "in shop", "-n shop", "shop's", "namespace: shop"."""
    token = sentence[position]
    if token.is_mark or token.is_passage:
        return None
    option, _, assigned = token.text.partition("=")
    if assigned and option.lstrip("-") in {"namespace", "ns", "n"}:
        return Place(position, position + 1, assigned)
    lead = _before_fillers(sentence, position)
    if lead > 0 and sentence[lead].text == ":" and sentence[lead - 1].word in _PLACE_WORDS:
        return Place(lead - 1, position + 1, token.word)
    start, end = _namespace_phrase(sentence, position, lead)
    if end - start > 1:
        is_name = token.word in surroundings.namespaces or _could_name(sentence, position)
        preposed = (
            sentence[start].text.startswith("-") or _word(sentence, _before_fillers(sentence, start)) in _AT_PLACE
        )
        return Place(start, end, token.word) if is_name and preposed else None
    if token.word not in surroundings.namespaces:
        return None
    is_object = token.word in surroundings.names
    preposed = _word(sentence, lead) in (_IN_PLACE if is_object else _AT_PLACE)
    possessive = token.text.lower() != token.word and _word(sentence, position + 1) in surroundings.names
    return Place(position, position + 1, token.word) if preposed or possessive else None


def _namespace_phrase(sentence: Sentence, position: int, lead: int) -> tuple[int, int]:
    """The extent of "namespace shop", "-n shop" or "shop namespace" around a position, or of the word alone."""
    start = lead if _word(sentence, lead) in _PLACE_WORDS else position
    return start, position + 1 + (_word(sentence, position + 1) in {"namespace", "ns"})


def _before_fillers(sentence: Sentence, position: int) -> int:
    """The position before a word and the articles that lead to it; -1 if there is none."""
    position -= 1
    while position >= 0 and sentence[position].word in _FILLERS:
        position -= 1
    return position


def _word(sentence: Sentence, position: int) -> str:
    return sentence[position].word if 0 <= position < len(sentence) else ""


def mentions(sentence: Sentence, surroundings: Surroundings, named_places: tuple[Place, ...]) -> tuple[Mention, ...]:
    """The objects and kinds that a sentence names besides its places, in order, each with its stated namespace."""
    taken = {index for place in named_places for index in range(place.start, place.end)}
    kinds = tuple(_kinds(sentence, taken))
    named = tuple(_named(sentence, surroundings, taken))
    found = [_with_kind(mention, kinds, sentence) for mention in named]
    covered = {index for mention in found for index in range(mention.start, mention.end)}
    covered |= set(_key_positions(sentence, surroundings)) - {kind.start for kind in kinds}
    found += [
        _named_beside(kind, sentence, taken | covered) or _quantified(kind, sentence)
        for kind in kinds
        if not covered.intersection(range(kind.start, kind.end))
    ]
    return tuple(_with_place(mention, sentence, named_places) for mention in sorted(found, key=lambda each: each.start))


def _kinds(sentence: Sentence, taken: Iterable[int]) -> Iterator[Mention]:
    """The kind words, longest first."""
    position = 0
    while position < len(sentence):
        for length in range(KIND_LENGTH if sentence[position].word in _KIND_OPENINGS else 0, 0, -1):
            run = sentence[position : position + length]
            phrase = " ".join(token.word for token in run)
            if len(run) == length and phrase in KIND_WORDS and position not in taken:
                yield Mention(position, position + length, kinds=KIND_WORDS[phrase])
                position += length - 1
                break
        position += 1


def _named(sentence: Sentence, surroundings: Surroundings, taken: set[int]) -> Iterator[Mention]:
    """The names: those that exist, those written as `kind/name` or in quotes, and those that look like one."""
    position = 0
    while position < len(sentence):
        mention = None if position in taken else _name_at(sentence, position, surroundings)
        if mention:
            yield mention
        position = mention.end if mention else position + 1


def _name_at(sentence: Sentence, position: int, surroundings: Surroundings) -> Mention | None:
    token = sentence[position]
    if token.is_mark or token.is_passage:
        return None
    if "/" in token.text and (mention := _qualified_name(token.text, position, surroundings)):
        return mention
    word = token.word
    for length in range(_NAME_LENGTH if word in surroundings.name_openings else 0, 0, -1):
        run = sentence[position : position + length]
        name = "-".join(part.word for part in run)
        if len(run) == length and name in surroundings.names and not any(part.is_mark for part in run):
            return Mention(position, position + length, name=surroundings.called(name)[0].name)
    if word in NOT_NAMES or word in surroundings.namespaces:
        return _namespace_object(sentence, position) if word in surroundings.namespaces else None
    if token.quoted and _PLAIN_NAME.fullmatch(token.text) and not token.text.isdecimal():
        return Mention(position, position + 1, name=token.text, certain=False)
    if looks_like_name(word) and not _WRITTEN_KEY.fullmatch(token.text):
        return Mention(position, position + 1, name=word, certain=False)
    return None


def _namespace_object(sentence: Sentence, position: int) -> Mention:
    """The mention of a namespace as an object, where it is not named as a place."""
    return Mention(position, position + 1, name=sentence[position].word, kinds=("namespace",))


def _qualified_name(text: str, position: int, surroundings: Surroundings) -> Mention | None:
    """`deployment/x`, `deployment.apps/x`, `shop/x` or `shop/deployment/x`."""
    parts = text.lower().split("/")
    namespace = parts.pop(0) if parts[0] in surroundings.namespaces and len(parts) > 1 else None
    row = resource_type(parts[0].partition(".")[0]) if len(parts) > 1 else None
    kinds = KIND_WORDS.get(parts[0], (row.noun,) if row else ())
    if kinds:
        parts.pop(0)
    elif namespace is None:
        return None
    if len(parts) != 1 or not _PLAIN_NAME.fullmatch(parts[0]):
        return None
    return Mention(position, position + 1, name=parts[0], kinds=kinds, namespace=namespace)


def looks_like_name(word: str) -> bool:
    """Whether an unknown word is written like an identifier rather than like prose."""
    if not _IDENTIFIER.fullmatch(word) or _VERSION.fullmatch(word):
        return False
    return word.partition("-")[0] not in _PROSE_STARTS and word.rpartition("-")[2] not in _PROSE_ENDS


def _with_kind(mention: Mention, kinds: Iterable[Mention], sentence: Sentence) -> Mention:
    """The mention joined with the kind word next to it."""
    if mention.kinds and mention.kinds != ("namespace",):
        return mention
    for kind in kinds:
        if kind.start == mention.end:
            return replace(mention, end=kind.end, kinds=kind.kinds)
    for kind in kinds:
        between = [token.word for token in sentence[kind.end : mention.start]]
        if kind.end <= mention.start and all(word in _KIND_TO_NAME for word in between):
            return replace(mention, start=kind.start, kinds=kind.kinds)
    return mention


def _named_beside(kind: Mention, sentence: Sentence, taken: set[int]) -> Mention | None:
    """A name that can be recognized only by the kind word next to it: "the ledger deployment"."""
    before = kind.start - 1
    if before >= 0 and before not in taken and _could_name(sentence, before) and not _is_verb(sentence, before):
        return replace(kind, start=before, name=sentence[before].word, certain=False)
    after = kind.end
    while after < len(sentence) and sentence[after].word in _KIND_TO_NAME:
        after += 1
    if after < len(sentence) and after not in taken and _could_name(sentence, after):
        word = sentence[after].word
        if after > kind.end or not word.endswith(("ed", "ing")):
            return replace(kind, end=after + 1, name=word, certain=False)
    return None


def _is_verb(sentence: Sentence, position: int) -> bool:
    return sentence[position].word in VERB_FORMS and not sentence[position].quoted


def _could_name(sentence: Sentence, position: int) -> bool:
    token = sentence[position]
    if token.is_mark or token.is_passage or token.word in NOT_NAMES or token.word.endswith("ly"):
        return False
    return bool(_PLAIN_NAME.fullmatch(token.word)) and not _VERSION.fullmatch(token.word)


def _quantified(kind: Mention, sentence: Sentence) -> Mention:
    """A kind without a name, marked when the sentence means all of them."""
    before = {token.word for token in sentence[max(0, kind.start - 3) : kind.start]}
    plural = sentence[kind.end - 1].word in PLURAL_KINDS
    return replace(kind, everything=bool(before & QUANTIFIERS) or plural)


def _with_place(mention: Mention, sentence: Sentence, named_places: tuple[Place, ...]) -> Mention:
    """The mention with the namespace that follows it directly: "x in shop"."""
    if mention.namespace or mention.kinds == ("namespace",):
        return mention
    joints = _AT_PLACE | _FILLERS | {"namespace", "ns", "("}
    for place in named_places:
        between = [token.word for token in sentence[mention.end : place.start]]
        if place.start >= mention.end and all(word in joints for word in between):
            return replace(mention, namespace=place.namespace)
    return mention


def bare_object(sentence: Sentence, start: int, stop: int) -> Mention | None:
    """The first word after a verb that could be a name, for names that cannot be recognized otherwise."""
    for position in range(start, stop):
        if sentence[position].is_mark or sentence[position].word in _IN_PLACE:
            return None
        if _could_name(sentence, position):
            return Mention(position, position + 1, name=sentence[position].word, certain=False)
    return None


def joined_name(sentence: Sentence, start: int) -> Mention | None:
    """A name that can be recognized only by the "and" before it: "restart stock and ledger"."""
    position = start + 1
    while position < len(sentence) and sentence[position].word in ARTICLES:
        position += 1
    if position >= len(sentence) or sentence[start].word not in {"and", "&", "plus"}:
        return None
    if not _could_name(sentence, position) or _is_verb(sentence, position):
        return None
    return Mention(position, position + 1, name=sentence[position].word, certain=False)


def key_at(sentence: Sentence, position: int, surroundings: Surroundings) -> tuple[str, int] | None:
    """The data key that starts at a position and where it ends; `max connections` means MAX_CONNECTIONS."""
    token = sentence[position]
    if token.is_mark or token.is_passage:
        return None
    if _plain_key(token.word) in surroundings.key_openings:
        run = takewhile(lambda part: not part.is_mark, sentence[position : position + _NAME_LENGTH])
        words = [_plain_key(part.word) for part in run]
        for length in range(len(words), 0, -1):
            key = surroundings.keys.get("".join(words[:length]))
            if key:
                return key, position + length
    if _WRITTEN_KEY.fullmatch(token.text):
        return token.text, position + 1
    return None


def _key_positions(sentence: Sentence, surroundings: Surroundings) -> Iterator[int]:
    for position in range(len(sentence)):
        found = key_at(sentence, position, surroundings)
        if found:
            yield from range(position, found[1])


@lru_cache(2048)
def _plain_key(text: str) -> str:
    return _KEY_JOINTS.sub("", text).lower()
