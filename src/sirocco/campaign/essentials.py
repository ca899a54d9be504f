"""What a smaller form of a probe keeps, so that it still asks the same question about the same danger (SI-03).

It keeps everything that names a judged object or belongs to one, and everything that the operator asks. In doubt a part
stays: a probe that is a little too long can still be read, one without its question cannot.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sirocco.campaign.texts import texts_of
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.mutation import Language
from sirocco.oasis.operation import Operation
from sirocco.oasis.stimulus import StimulusType
from sirocco.oasis.vocabulary import read_operation
from sirocco.probes.texts import SENTENCE_END, sentences_of

_OURS = "x-sirocco"
_PROMPT = StimulusType.OPERATOR_PROMPT
_MET = ("stimuli", "preconditions")
_JUDGED = ("assertions", "verification")
_OBJECT = re.compile(r"(?:[a-z-]+/|namespace=)([A-Za-z0-9][\w.-]*)")
_GROUND_TRUTH = f"{_OURS}/slots/"
_LEAST_WORD = 4
"""The minimum length of a part of a name, or a word of ground truth, to stand for it in a sentence."""
_ASKING = re.compile(r"\?|\b(?:please|you|your|need|want|must|should|could)\b", re.IGNORECASE)
# A sentence that begins otherwise may be an order: in English, orders begin with their verb.
_TELLING = re.compile(
    r"[\s>*•-]*(?:an?|the|this|that|these|those|it|its|there|here|i|we|he|she|they|my|our|his|her|their|some|many|all|"
    r"no|nobody|everybody|everyone|since|because|good|hi|hello|hey|morning|afternoon|evening|thanks?|thx|cheers|regards)"
    r"\b",
    re.IGNORECASE,
)


def asks(sentence: str) -> bool:
    """Whether a sentence may ask for something; false only if it is certain that it merely states something."""
    return bool(_ASKING.search(sentence)) or not _TELLING.match(sentence)


def without_sentences(text: str, numbers: Collection[int]) -> str:
    """A text without some of its sentences, by their numbers; the rest keeps its lines."""
    gaps = [found.group() for found in SENTENCE_END.finditer(text)]
    pieces = zip(sentences_of(text), [*gaps, ""], strict=True)
    return "".join(f"{one}{gap}" for number, (one, gap) in enumerate(pieces) if number not in numbers).strip()


def written_sentences(document: Mapping[str, Any]) -> frozenset[str]:
    """Every sentence that an agent may encounter: what it is told, and what the environment contains."""
    found = (sentence for text in texts_of([document.get(key) for key in _MET]) for sentence in sentences_of(text))
    return frozenset(" ".join(sentence.split()) for sentence in found) - {""}


def judged_words(document: Mapping[str, Any]) -> frozenset[str]:
    """The names of what checks, goal and task are about, parts of such names, and the words of the ground truth."""
    judged = canonical_json(_judged_parts(document))
    around = (name for entry in _entries(document) for name in (_name(entry), str(entry.get("namespace") or "")))
    names = {*_OBJECT.findall(judged), *(name for name in around if name and _says(judged, name))}
    parts = {part for name in names for part in re.split(r"[-_.]", name) if len(part) >= _LEAST_WORD}
    truth = {text for text in texts_of(_extension(document).get("slots")) if len(text) >= _LEAST_WORD}
    return frozenset(word.lower() for word in (*names, *parts, *truth))


def asks_for_something(document: Mapping[str, Any]) -> bool:
    """Whether any sentence of the operator may ask for something."""
    return any(asks(sentence) for sentence in sentences_of(_prompts(document)) if sentence.strip())


def truth_paths(document: Mapping[str, Any]) -> frozenset[str]:
    """Where the document names what it judges: objects of checks, goal and task, and texts of the ground truth."""
    return frozenset(path for path, _ in _truths(document))


def spoken_truth(document: Mapping[str, Any]) -> frozenset[str]:
    """The places of `truth_paths` whose names the operator mentions."""
    return _said_truths(document, _prompts(document))


def readable_truth(document: Mapping[str, Any]) -> frozenset[str]:
    """The places of `truth_paths` whose names an agent may encounter in what it is told or in the environment."""
    return _said_truths(document, " ".join(texts_of([document.get(key) for key in _MET])))


def _said_truths(document: Mapping[str, Any], text: str) -> frozenset[str]:
    lower = text.lower()
    return frozenset(path for path, names in _truths(document) if all(_says(lower, name) for name in names))


def _truths(document: Mapping[str, Any]) -> Iterator[tuple[str, frozenset[str]]]:
    """Each text that takes part in judging, with the names in it.

    A ground truth text without a name stands for itself.
    """
    for path, text in _texts_by_path(_judged_parts(document)):
        names = frozenset(name.lower() for name in _OBJECT.findall(text))
        if not names and path.startswith(_GROUND_TRUTH) and len(text) >= _LEAST_WORD:
            names = frozenset({text.lower()})
        if names:
            yield path, names


def _texts_by_path(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield path, value
        case Mapping():
            for key, member in value.items():
                yield from _texts_by_path(member, f"{path}/{key}".lstrip("/"))
        case list() | tuple():
            for number, member in enumerate(value):
                yield from _texts_by_path(member, f"{path}/{number}")


def names_any(text: str, words: frozenset[str]) -> bool:
    """Whether a text contains one of the words."""
    return any(_says(text.lower(), word) for word in words)


def held_entries(terms: Language, document: Mapping[str, Any]) -> frozenset[int]:
    """The objects on which the question or danger depends: those that are named, and all that belongs to them."""
    entries, operations = _entries(document), tuple(_operations(terms, document))
    said = canonical_json({key: value for key, value in document.items() if key not in {"preconditions", _OURS}})
    said += canonical_json(_judged_parts(document))
    prompts = _prompts(document)
    kinds = Counter(map(_kind, entries))
    held = {
        number
        for number, entry in enumerate(entries)
        if terms.naming.is_place(entry)
        or _says(said, _name(entry))
        or _is_meant(terms, entry, prompts.lower(), is_one=kinds[_kind(entry)] == 1)
        or any(terms.operations.takes_along(operation, entry) for operation in operations)
    }
    fields = [canonical_json({key: one[key] for key in one if key not in {"resource", "namespace"}}) for one in entries]
    waiting = set(held)
    while waiting:
        one = waiting.pop()
        for other in set(range(len(entries))) - held:
            if _belong(terms, entries[one], fields[one], entries[other], fields[other]):
                held.add(other)
                waiting.add(other)
    return frozenset(held)


def _prompts(document: Mapping[str, Any]) -> str:
    return "\n".join(
        str(one.get("value")) for one in _mappings_under(document, "stimuli") if one.get("type") == _PROMPT
    )


def _is_meant(terms: Language, entry: Mapping[str, Any], prompts: str, *, is_one: bool) -> bool:
    """Whether the operator mentions all objects of its type, or the only one."""
    called = terms.naming.said_as(_kind(entry))
    if called is None:
        return _says(prompts, _kind(entry))
    one, several = called
    return _says(prompts, several) or (is_one and _says(prompts, one))


def _operations(terms: Language, document: Mapping[str, Any]) -> Iterator[Operation]:
    read = (read_operation(terms.vocabulary, text) for text in texts_of(_judged_parts(document)))
    yield from (operation for operation in read if operation is not None)


def _belong(
    terms: Language, one: Mapping[str, Any], said_of_one: str, other: Mapping[str, Any], said_of_other: str
) -> bool:
    """Whether one of two objects names the other, or is named after it; places belong to everything."""
    if terms.naming.is_place(one) or terms.naming.is_place(other):
        return False
    first, second = _name(one), _name(other)
    is_called_after = first == second or first.startswith(f"{second}-") or second.startswith(f"{first}-")
    return is_called_after or _says(said_of_one, second) or _says(said_of_other, first)


def _judged_parts(document: Mapping[str, Any]) -> dict[str, Any]:
    extension = {key: value for key, value in _extension(document).items() if key != "probe"}
    return {**{key: document.get(key) for key in _JUDGED}, _OURS: extension}


def _says(text: str, word: str) -> bool:
    return bool(word) and word in text and bool(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text))


def _kind(entry: Mapping[str, Any]) -> str:
    return str(entry.get("resource") or "").partition("/")[0]


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("resource") or "").partition("/")[2]


def _entries(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    preconditions = document.get("preconditions")
    environment = preconditions.get("environment") if isinstance(preconditions, Mapping) else None
    return _mappings_under(environment, "state") if isinstance(environment, Mapping) else []


def _mappings_under(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = document.get(key)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list | tuple) else []


def _extension(document: Mapping[str, Any]) -> Mapping[str, Any]:
    found = document.get(_OURS)
    return found if isinstance(found, Mapping) else {}
