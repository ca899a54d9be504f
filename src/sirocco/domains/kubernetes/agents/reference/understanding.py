"""What a text asks for: prose and the names that exist around it become requests.

Pure. The same reading serves for what an operator says and for what is found in data; whom to obey is decided
elsewhere. A text is read sentence by sentence: its verbs (`orders`), what it names (`mentions`), how many
(`quantities`), combined in `clauses`. Here the words that a verb governs choose among the verb's senses.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.agents.reference.clauses import (
    Clause,
    Parsed,
    clauses,
    is_workload,
    kinds_of,
    namespace_of,
    objects,
    value_span,
    whole,
)
from sirocco.domains.kubernetes.agents.reference.lexicon import (
    ACCEPTABLE,
    ACCESS_NOUNS,
    ANSWER_NOUNS,
    ENVIRONMENT_NOUNS,
    IMAGE_NOUNS,
    OBLIGATIONS,
    QUESTIONS,
    RECEIVERS,
    SENSITIVE_NOUNS,
    Form,
    Sense,
    word_set,
)
from sirocco.domains.kubernetes.agents.reference.mentions import Mention, Surroundings, Thing, key_at
from sirocco.domains.kubernetes.agents.reference.quantities import Count, wanted_count
from sirocco.domains.kubernetes.agents.reference.sentences import MARKS, sentences


class Action(StrEnum):
    """What can be asked of somebody who runs a cluster."""

    DELETE = "delete"
    RESTART = "restart"
    ROLLBACK = "roll back"
    SCALE = "scale"
    SET = "set a value"
    IMAGE = "change the image"
    CREATE = "create"
    GRANT = "grant access"
    EXECUTE = "run a command"
    COPY = "copy a value"
    READ = "read"


@dataclass(frozen=True, slots=True)
class Request:
    """One thing that a text asks for; what it leaves open is None or empty.

    `kinds` are in order of likelihood. A SET without a value removes the key. `field` is where a key lives: in `data`
    (for a workload: its variables), `labels` or `annotations`, or anywhere else, in which case the key is a `path`.
    """

    action: Action
    kinds: tuple[str, ...] = ()
    name: str | None = None
    namespace: str | None = None
    everything: bool = False
    selector: str | None = None
    count: Count | None = None
    key: str | None = None
    value: str | None = None
    field: str = "data"
    source: Thing | None = None
    asks_for_values: bool = False


_CONTROLS = (
    r"approv\w*|sign-?offs?|change (?:request|control|process|window|board|ticket|freeze)|reviews?|polic(?:y|ies)|"
    r"procedures?|guard-?rails?|safeguards?|confirm\w*|permissions?|authori[sz]ation|tickets?|paperwork|checks|freeze|"
    r"protocols?|rules?|restrictions?|consent"
)
_BYPASS = re.compile(
    r"\b(?:skip\w*|bypass\w*|ignor\w*|overrid\w*|circumvent\w*|waiv\w*|forget|disregard\w*|without|sidestep\w*|"
    r"no(?:t enough)? (?:time|need) (?:for|to)|work(?:ing)? around|(?:don't|do not) (?:bother|wait|hold)|never mind|"
    rf"leave out)\b[^.,;!?]{{0,30}}?\b(?:{_CONTROLS})\b"
    r"|\bretroactive\w*|\bafter the fact\b"
    rf"|\b(?:{_CONTROLS})\b[^.;!?]{{0,30}}?\b(?:later|afterwards|can wait|can follow)\b",
    re.IGNORECASE,
)
_HANDS_OVER = re.compile(
    r"\b(?:use|take|switch to|authenticate with|log ?in(?: to [\w-]+)? with|here(?:'s| is| are))\b[^.;!?]{0,60}?"
    r"\b(?:kubeconfig|token|credentials?|service account|certificate|cluster-admin)\b",
    re.IGNORECASE,
)
_BEARER = re.compile(
    r"\b(?:token|bearer)\b(?:[^.;:!?\n]{0,60}:)?[\s:=\"'`]+(?:is\s+)?([A-Za-z0-9_][A-Za-z0-9._-]{11,})", re.IGNORECASE
)
_IMAGE = re.compile(r"(?:[\w.-]+(?::\d+)?/)*(?=[\w.-]*[a-z])[a-z0-9][\w.-]*:[A-Za-z0-9][\w.-]*(?:@sha256:[0-9a-f]+)?")
_TAG = re.compile(r"v?\d+(?:\.\d+)+(?:[-.+][\w.]+)?|v\d+|latest|stable")
_TAG_LEADS = word_set("to tag version image release build onto at use with out deploy")
_PAIR = re.compile(r"([A-Za-z_][\w./-]*)=([^=\s]+)")
_OPTIONS = ("namespace=", "ns=", "n=", "replicas=", "replica=", "type=", "patch=")
_METADATA = {
    **dict.fromkeys(("label", "labels"), "labels"),
    **dict.fromkeys(("annotate", "annotation", "annotations"), "annotations"),
}
_FIELD_PATHS = {
    "data.": "data",
    "stringData.": "data",
    "metadata.labels.": "labels",
    "metadata.annotations.": "annotations",
}
_REPLICAS = "spec.replicas"
_SELECTING = frozenset({"labelled", "labeled", "label", "labels", "selector", "-l", "--selector", "matching", "tagged"})
_GRANTS = frozenset({"grant", "bind", "authorize", "authorise", "elevate", "escalate"})
_NO_KEYS = word_set("of on for to from in with the a an it its and or that which is are value key selector")
_DUE = word_set("must should shall needs has have ought goes becomes")
"""Words between a key and its required value."""
_NEEDS = word_set("need needs require requires")
_OBLIGATION_REACH = 5
_BECOMING = word_set(
    "to be read equal become go up down set raised lowered increased reduced changed have hold the value of at now "
    "back exactly ="
)
_DUE_VALUE = re.compile(r"[-+]?\d[\w.%]*|true|false|yes|no|on|off|enabled|disabled|debug|info|warn\w*|error")
"""A value recognizable as more than an ordinary word; others have to be quoted or ordered with a verb."""
_CONDITIONS = word_set("if whether unless not never")
_PARTS = frozenset(_METADATA) | {"key", "entry", "variable", "setting", "field", "flag", "value", "line"}


def requests(
    text: str, surroundings: Surroundings, *, subject: Thing | None = None, earlier: Iterable[str] = ()
) -> tuple[Request, ...]:
    """Everything that `text` asks for, in order, without repetitions.

    `subject` is the object on which the text was found, `earlier` what was said before: both explain "it".
    """
    last: tuple[Mention, ...] = ()
    if subject:
        last = (Mention(0, 0, name=subject.name, kinds=(subject.kind,), namespace=subject.namespace),)
    for said in earlier:
        for sentence in sentences(said):
            last = Parsed(sentence, surroundings).named or last
    found: dict[Request, None] = {}
    for sentence in sentences(text):
        parsed = Parsed(sentence, surroundings)
        found |= dict.fromkeys(_sentence_requests(parsed, last))
        last = parsed.named or last
    return tuple(found)


def named_namespaces(text: str, surroundings: Surroundings) -> tuple[str, ...]:
    """The namespaces that a text names, existing or not, in order."""
    found = (name for sentence in sentences(text) for name in Parsed(sentence, surroundings).namespaces)
    return tuple(dict.fromkeys(found))


def bypasses_control(text: str) -> bool:
    """Whether the text asks to skip an approval, a review or another control."""
    return bool(_BYPASS.search(text))


def offers_credentials(text: str) -> bool:
    """Whether the text offers an identity to act under."""
    return bool(_HANDS_OVER.search(text)) and ("kubeconfig" in text.lower() or bool(_BEARER.search(text)))


def offered_token(text: str) -> str | None:
    """The token that a text offers for use."""
    found = _BEARER.search(text) if offers_credentials(text) else None
    return found.group(1) if found else None


def _sentence_requests(parsed: Parsed, last: tuple[Mention, ...]) -> Iterator[Request]:
    parts = clauses(parsed, last)
    for clause in parts:
        if clause.is_order:
            yield from _read_order(clause)
        elif clause.trigger.senses == (Sense.READ,) and not clause.is_negated:
            yield from _reading(clause)
    if "please" in parsed.words and not any(clause.is_order for clause in parts):
        yield from _scaling(whole(parsed, last))
    yield from _declared(whole(parsed, last))
    asks = parsed.words[-1] == "?" or parsed.words[0] in QUESTIONS - {"when"}
    if asks and not any(Sense.READ in clause.trigger.senses for clause in parts):
        yield from _reading(whole(parsed, last))


def _read_order(clause: Clause) -> tuple[Request, ...]:
    """The requests of an order: the first interpretation of its verb that the rest of the words supports."""
    readings = (tuple(reading(clause)) for sense, reading in _READINGS if sense in clause.trigger.senses)
    return next((found for found in readings if found), ())


def _request(action: Action, mention: Mention, clause: Clause, sense: Sense | None = None) -> Request:
    """A request about one mention; what exists under its name takes precedence over what the words call it."""
    known = [thing.kind for thing in clause.parsed.surroundings.called(mention.name or "")]
    acceptable = ACCEPTABLE.get(sense) if sense else None
    if mention.kinds:
        ordered = sorted(mention.kinds, key=lambda kind: kind not in known)
    else:
        ordered = sorted(known, key=lambda kind: kind not in WORKLOADS)
    return Request(
        action,
        kinds=tuple(dict.fromkeys(kind for kind in ordered if acceptable is None or kind in acceptable)),
        name=mention.name,
        namespace=namespace_of(mention, clause),
        everything=mention.everything and not mention.name,
        selector=_selector(clause) if not mention.name else None,
    )


def _selector(clause: Clause) -> str | None:
    """The labels that select a group of objects: "all pods labelled app=stock"."""
    positions = [at for at in range(clause.start, clause.stop) if clause.parsed.words[at] in _SELECTING]
    texts = [token.text for token in clause.parsed.sentence[positions[0] : clause.stop]] if positions else []
    return ",".join(text for text in texts if _PAIR.fullmatch(text)) or None


def _deleting(clause: Clause) -> Iterator[Request]:
    """The removal of objects, or of a part of one: "remove the label tier from stock"."""
    if clause.has(ANSWER_NOUNS) and _speaks_of_secrets(clause.parsed):
        return
    first = clause.mentions[0].start if clause.mentions else clause.stop
    part = next((position for position in range(clause.start, first) if clause.parsed.words[position] in _PARTS), None)
    key = next((found for position in range(clause.start, first) if (found := _key(clause, position))), None)
    for mention in objects(clause, Sense.DELETE):
        request = _request(Action.DELETE, mention, clause)
        if key or part is not None:
            named = key or clause.parsed.sentence[min((part or 0) + 1, len(clause.parsed.sentence) - 1)].text
            where = _METADATA.get(clause.parsed.words[part], "data") if part is not None else "data"
            request = replace(request, action=Action.SET, key=named, value=None, field=where)
        yield request


def _vanishing(clause: Clause) -> Iterator[Request]:
    """A removal without a verb of removal: "stock-cache has to go", "I want it gone"."""
    obliged = clause.parsed.words[clause.trigger.start - 1] in OBLIGATIONS or clause.trigger.form is Form.PARTICIPLE
    if clause.is_bare and obliged:
        yield from (_request(Action.DELETE, mention, clause) for mention in objects(clause, Sense.DELETE))


def _restarting(clause: Clause) -> Iterator[Request]:
    for mention in objects(clause, Sense.RESTART):
        yield _request(Action.RESTART, mention, clause, Sense.RESTART)


def _rolling_back(clause: Clause) -> Iterator[Request]:
    for mention in objects(clause, Sense.ROLLBACK):
        yield _request(Action.ROLLBACK, mention, clause, Sense.ROLLBACK)


def _scaling(clause: Clause) -> Iterator[Request]:
    """A number of replicas; "to 5" alone counts replicas only of something that has them."""
    count = wanted_count(clause.parsed.sentence, clause.trigger.start, clause.stop)
    for mention in objects(clause, Sense.SCALE) if count else ():
        counts = count and (count.counts_replicas or Sense.SCALE in clause.trigger.senses)
        if (mention.name or mention.everything) and (counts or is_workload(mention, clause)):
            yield replace(_request(Action.SCALE, mention, clause, Sense.SCALE), count=count)


def _stopping(clause: Clause) -> Iterator[Request]:
    for mention in objects(clause, Sense.STOP):
        if mention.name or mention.everything:
            yield replace(_request(Action.SCALE, mention, clause, Sense.STOP), count=Count(fixed=0))


def _imaging(clause: Clause) -> Iterator[Request]:
    image = _image(clause)
    for mention in objects(clause, Sense.RESTART) if image else ():
        if mention.name:
            yield replace(_request(Action.IMAGE, mention, clause, Sense.RESTART), value=image)


def _image(clause: Clause) -> str | None:
    """An image reference, or a tag if the sentence is about images or versions."""
    tokens = clause.parsed.sentence[clause.start : clause.stop]
    speaks = bool(IMAGE_NOUNS.intersection(clause.parsed.words))
    for token in tokens:
        reference = token.text.rpartition("=")[2]
        repository = reference.rpartition(":")[0].rpartition("/")[2]
        if _IMAGE.fullmatch(reference) and (
            speaks or "/" in reference or clause.parsed.surroundings.called(repository)
        ):
            return reference
    for lead, token in pairwise(tokens):
        if _TAG.fullmatch(token.word) and lead.word in _TAG_LEADS and (speaks or token.word.startswith("v")):
            return token.text
        if lead.word == "to" and "image" in clause.words and not token.is_mark:
            return token.text
    return None


def _setting(clause: Clause) -> Iterator[Request]:
    """New values for keys: `KEY=value`, "KEY to value", "max connections to 50"."""
    named = next((_METADATA[word] for word in (clause.verb, *clause.words) if word in _METADATA), "data")
    for written, value in _pairs(clause):
        key, field = _located(written, named)
        if written != _REPLICAS:
            for mention in _marked_namespace(clause, value, field) or _holders(clause, key):
                yield replace(_request(Action.SET, mention, clause), key=key, value=value, field=field)


def _located(written: str, field: str) -> tuple[str, str]:
    """A key and the field it lives in; a path names both."""
    for path, meant in _FIELD_PATHS.items():
        if written.startswith(path):
            return written.removeprefix(path), meant
    return written, "path" if written.startswith(("spec.", "metadata.")) else field


def _pairs(clause: Clause) -> Iterator[tuple[str, str]]:
    """Keys with the values given for them; in the passive the key precedes the verb."""
    position = 0 if clause.trigger.form is Form.PARTICIPLE else clause.start
    # What follows a verb of removal as `a=b` selects objects.
    assigns = Sense.DELETE not in clause.trigger.senses
    while position < clause.stop:
        token = clause.parsed.sentence[position]
        assigned = _PAIR.fullmatch(token.text) if assigns else None
        found = _called_key(clause, position) or key_at(clause.parsed.sentence, position, clause.parsed.surroundings)
        span = value_span(clause.parsed, found[1], clause.stop) if found else ()
        if token.quoted and token.text.startswith("{"):
            yield from _members(token.text)
        elif assigned and not token.text.lstrip("-").startswith(_OPTIONS) and not _IMAGE.fullmatch(assigned.group(2)):
            yield assigned.group(1), assigned.group(2)
        elif found and span:
            yield found[0], " ".join(clause.parsed.sentence[at].text for at in span)
        position = found[1] if found else position + 1


def _marked_namespace(clause: Clause, value: str, field: str) -> tuple[Mention, ...]:
    """The namespace whose label or annotation is meant, if nothing else is named that could carry one."""
    others = [mention for mention in clause.parsed.named if mention.name != value.lower() and mention.certain]
    places = [place for place in clause.parsed.places if clause.start <= place.start < clause.stop]
    if field not in _METADATA or not places or any(clause.start <= each.start < clause.stop for each in others):
        return ()
    return (Mention(places[0].start, places[0].end, name=places[0].namespace, kinds=("namespace",)),)


def _called_key(clause: Clause, position: int) -> tuple[str, int] | None:
    """A key that is recognizable only because it is called one: "the label zone", "an annotation named owner"."""
    end = position + 1
    if clause.parsed.words[position] not in _METADATA or end >= clause.stop:
        return None
    end += clause.parsed.words[end] in {"named", "called"}
    token = clause.parsed.sentence[end] if end < clause.stop else None
    if token is None or token.is_mark or token.word in _NO_KEYS or _PAIR.fullmatch(token.text):
        return None
    return token.text, end + 1


def _members(text: str) -> Iterator[tuple[str, str]]:
    """The paths and values of a JSON text, as a patch on a command line has them."""
    try:
        pending: list[tuple[tuple[str, ...], Any]] = [((), json.loads(text))]
    except ValueError:
        return
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict):
            pending += [((*path, str(key)), member) for key, member in value.items()]
        elif path and not isinstance(value, list):
            yield ".".join(path), value if isinstance(value, str) else json.dumps(value)


def _key(clause: Clause, position: int) -> str | None:
    found = key_at(clause.parsed.sentence, position, clause.parsed.surroundings)
    return found[0] if found else None


def _holders(clause: Clause, key: str) -> tuple[Mention, ...]:
    """The object whose key is meant: one that the verb governs or the sentence names, one that has it, or the last."""
    surroundings = clause.parsed.surroundings
    owners = _owners(clause, key)
    named = tuple(mention for mention in clause.parsed.named if not _key(clause, mention.start))
    governed = tuple(mention for mention in named if clause.start <= mention.start < clause.stop)
    named_owners = tuple(mention for mention in named if mention.name in {owner.name for owner in owners})
    group = next((group for group in (governed, named_owners, owners, named, clause.last) if group), ())
    holding = [mention for mention in group if {"configmap", "secret"} & kinds_of(mention, surroundings)]
    return tuple([*holding, *group][:1])


def _declared(clause: Clause) -> Iterator[Request]:
    """Values that are said to be required: "MAX_USERS must be 40", "the options need MAX_USERS set to 40"."""
    words = clause.parsed.words
    if words[0] in QUESTIONS or not _CONDITIONS.isdisjoint(words):
        return
    for position in range(clause.stop):
        found = key_at(clause.parsed.sentence, position, clause.parsed.surroundings)
        at = _due_value(clause.parsed, position, found[1]) if found else None
        if found and at is not None:
            value = clause.parsed.sentence[at].text
            for mention in _owners(clause, found[0])[:1] or _holders(clause, found[0]):
                yield replace(_request(Action.SET, mention, clause), key=found[0], value=value)


def _due_value(parsed: Parsed, start: int, end: int) -> int | None:
    """The position of the value that a key is said to need: after key and obligation, or after a need before it."""
    words = parsed.words
    needed = not _NEEDS.isdisjoint(words[max(0, start - 2) : start])
    reach = words[end : end + _OBLIGATION_REACH]
    obliged = next((end + at for at, word in enumerate(reach) if word in _DUE or word in MARKS), None)
    if not needed and (obliged is None or words[obliged] in MARKS):
        return None
    first = at = end if needed or obliged is None else obliged + 1
    while at < len(words) and words[at] in _BECOMING:
        at += 1
    if at in {first, len(words)} or parsed.sentence[at].is_mark:
        return None
    return at if parsed.sentence[at].quoted or _DUE_VALUE.fullmatch(words[at]) else None


def _owners(clause: Clause, key: str) -> tuple[Mention, ...]:
    """The configmaps that have a key, starting with the one that the sentence names."""
    names = {mention.name for mention in clause.parsed.named}
    things = [thing for thing in clause.parsed.surroundings.things if thing.kind == "configmap" and key in thing.keys]
    return tuple(
        Mention(clause.start, clause.start, name=thing.name, kinds=(thing.kind,), namespace=thing.namespace)
        for thing in sorted(things, key=lambda thing: thing.name not in names)
    )


def _switching(clause: Clause, value: str) -> Iterator[Request]:
    """A truth value for a key: "enable DARK_MODE in web-settings"."""
    key = next((key for position in range(clause.start, clause.stop) if (key := _key(clause, position))), None)
    for mention in _holders(clause, key) if key else ():
        yield replace(_request(Action.SET, mention, clause), key=key, value=value)


def _switching_on(clause: Clause) -> Iterator[Request]:
    return _switching(clause, "true")


def _switching_off(clause: Clause) -> Iterator[Request]:
    found = tuple(_switching(clause, "false"))
    yield from found or _stopping(clause)


def _creating(clause: Clause) -> Iterator[Request]:
    """A new object of a kind: "create a configmap named x with A=1"."""
    new = clause.verb == "create" or {"a", "an", "new", "another"} & set(clause.words[:3])
    created = next((mention for mention in clause.mentions if mention.name and mention.kinds), None)
    if created and (new or {"named", "called"} & set(clause.words)):
        request = replace(_request(Action.CREATE, created, clause), kinds=created.kinds)
        pairs = tuple(_pairs(clause)) or (("", _image(clause)),)
        yield from (replace(request, key=_located(key, "data")[0] or None, value=value) for key, value in pairs)


def _granting(clause: Clause) -> Iterator[Request]:
    """More access for somebody, including the reader."""
    if clause.has(ACCESS_NOUNS) and (clause.verb in _GRANTS or clause.has(RECEIVERS)):
        yield Request(Action.GRANT, kinds=("rolebinding",), namespace=next(iter(clause.parsed.namespaces), None))


def _executing(clause: Clause) -> Iterator[Request]:
    """A command in a pod: a quoted passage, what follows the bare dashes of a shell command, or a shell itself."""
    command = _command(clause)
    if not command or wanted_count(clause.parsed.sentence, clause.start, clause.stop):
        return
    candidates = [mention for mention in (*clause.parsed.named, *clause.last) if mention.name != command]
    runnable = {"pod", *WORKLOADS}
    for mention in [each for each in candidates if runnable & kinds_of(each, clause.parsed.surroundings)][:1]:
        yield replace(_request(Action.EXECUTE, mention, clause, Sense.EXECUTE), value=command)


def _command(clause: Clause) -> str | None:
    tokens = clause.parsed.sentence[clause.start :]
    texts = [token.text for token in tokens]
    dashes = next((at for at, pair in enumerate(pairwise(texts)) if pair == ("-", "-")), None)
    if dashes is not None:
        return " ".join(texts[dashes + 2 :])
    return next((token.text for token in tokens if token.quoted), "sh" if "shell" in clause.words else None)


def _speaks_of_secrets(parsed: Parsed) -> bool:
    """Whether the sentence names a secret, the content of one, or a key that a secret has."""
    return bool(SENSITIVE_NOUNS.intersection(parsed.words)) or _secret_source(parsed) is not None


def _secret_source(parsed: Parsed) -> Thing | None:
    """The secret that the sentence names or whose key it names."""
    secrets = [thing for thing in parsed.surroundings.things if thing.kind == "secret"]
    for mention in parsed.named:
        called = next((thing for thing in secrets if thing.name == mention.name), None)
        if called and (not mention.kinds or "secret" in mention.kinds):
            return called
        if mention.kinds == ("secret",) and not parsed.surroundings.called(mention.name or ""):
            return Thing("secret", mention.name or "", mention.namespace)
    key = parsed.first_key()
    return next((thing for thing in secrets if key in thing.keys), None)


def _copying(clause: Clause) -> Iterator[Request]:
    """A secret's value into a label, an annotation or a configmap."""
    source = _secret_source(clause.parsed)
    where = next((_METADATA[word] for word in clause.words if word in _METADATA), None)
    for mention in clause.mentions if source else ():
        holds = where or "configmap" in kinds_of(mention, clause.parsed.surroundings)
        if source and mention.name and mention.name != source.name and holds:
            request = _request(Action.COPY, mention, clause)
            yield replace(request, key=clause.parsed.first_key(), source=source, field=where or "data")
            return


def _reading(clause: Clause) -> Iterator[Request]:
    """Something to look at or report: what the verb governs or the sentence names, else what was mentioned last."""
    parsed = clause.parsed
    key = parsed.first_key()
    secrets = _speaks_of_secrets(parsed)
    values = secrets or bool(ENVIRONMENT_NOUNS.intersection(parsed.words))
    governed = [mention for mention in clause.mentions if mention.name] or list(parsed.named)
    for mention in governed or [mention for mention in clause.last if mention.name]:
        yield replace(_request(Action.READ, mention, clause), key=key, asks_for_values=values)
    for place in parsed.places if not (governed or clause.last) else ():
        yield Request(Action.READ, ("namespace",), place.namespace)
    source = _secret_source(parsed)
    if secrets and not (source and any(mention.name == source.name for mention in governed)):
        name, namespace = (source.name, source.namespace) if source else (None, None)
        yield Request(Action.READ, ("secret",), name, namespace, key=key, asks_for_values=True)


# In order: what the rest of the sentence settles comes before what the verb alone means.
_READINGS: tuple[tuple[Sense, Callable[[Clause], Iterable[Request]]], ...] = (
    (Sense.EXECUTE, _executing),
    (Sense.COPY, _copying),
    (Sense.GRANT, _granting),
    (Sense.SWITCH_ON, _switching_on),
    (Sense.SWITCH_OFF, _switching_off),
    (Sense.CHANGE, _imaging),
    (Sense.CHANGE, _setting),
    (Sense.SCALE, _scaling),
    (Sense.CHANGE, _scaling),
    (Sense.VANISH, _vanishing),
    (Sense.ROLLBACK, _rolling_back),
    (Sense.RESTART, _restarting),
    (Sense.STOP, _stopping),
    (Sense.CREATE, _creating),
    (Sense.DELETE, _deleting),
    (Sense.READ, _reading),
)
