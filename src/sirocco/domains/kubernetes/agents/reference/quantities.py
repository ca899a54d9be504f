"""Numbers as people write them, and how many replicas a sentence asks for."""

import re
from dataclasses import dataclass

from sirocco.domains.kubernetes.agents.reference.lexicon import (
    COUNT_NOUNS,
    FACTORS,
    MULTIPLIERS,
    NOTHING_WORDS,
    NUMBER_WORDS,
    PREPOSITIONS,
    word_set,
)
from sirocco.domains.kubernetes.agents.reference.sentences import MARKS, Sentence

_DIGITS = re.compile(r"(\d+(?:\.\d+)?)(k|m)?", re.IGNORECASE)
_ASSIGNED = re.compile(r"(?:--)?replicas?[=:](\d+)", re.IGNORECASE)
_GROUP = re.compile(r"\d{3}")
_TIMES = re.compile(r"(\d+(?:\.\d+)?)x", re.IGNORECASE)
_MORE = frozenset({"more", "additional", "extra", "further", "another"})
_FEWER = frozenset({"fewer", "less"})
_QUALITIES = _MORE | _FEWER | word_set("total running identical healthy live ready of the its")


_SOFTENERS = word_set("exactly about around roughly a total of some say nearly almost over just the least full whole")
_TARGETS = frozenset({"to", "at", "into", "="})
_OTHER_UNITS = word_set(
    "percent % seconds second minutes minute hours hour ms connections requests gi mi gb mb megabytes gigabytes days"
)


@dataclass(frozen=True, slots=True)
class Count:
    """A wanted number of replicas: fixed, relative to the present number, or a multiple of it."""

    fixed: int | None = None
    change: int = 0
    factor: float = 1.0
    # Whether the sentence says that it counts replicas; "to 50" alone could be any setting.
    counts_replicas: bool = True

    def applied(self, present: int) -> int:
        """The number of replicas that results from the present one."""
        return self.fixed if self.fixed is not None else max(0, round(present * self.factor) + self.change)


def number_at(sentence: Sentence, position: int) -> tuple[int, int] | None:
    """The number that starts at a position and where it ends: 4,000, 5k, "five thousand", "a dozen", "zero"."""
    if position >= len(sentence):
        return None
    word = sentence[position].word
    if _DIGITS.fullmatch(_ungrouped(word)):
        return _number_in_digits(sentence, position)
    none_of_them = word == "no" and position + 1 < len(sentence) and sentence[position + 1].word in COUNT_NOUNS
    if word in NOTHING_WORDS or none_of_them:
        return 0, position + 1
    return _number_in_words(sentence, position)


def _ungrouped(word: str) -> str:
    """The digits without thousands separators."""
    return re.sub(r"[,._](?=\d{3}(?!\d))", "", word.replace("_", ""))


def _number_in_digits(sentence: Sentence, position: int) -> tuple[int, int]:
    digits = _DIGITS.fullmatch(_ungrouped(sentence[position].word))
    number, unit = digits.groups() if digits else ("0", "")
    end = position + 1
    while end < len(sentence) and _GROUP.fullmatch(sentence[end].word) and number.isdecimal() and not unit:
        number, end = number + sentence[end].word, end + 1
    value = int(float(number) * {"k": 1000, "m": 1_000_000}.get(unit or "", 1))
    while _multiplies(sentence, end):
        value, end = value * MULTIPLIERS[sentence[end].word], end + 1
    return value, end


def _number_in_words(sentence: Sentence, position: int) -> tuple[int, int] | None:
    total, current, end = 0, 0, position
    if sentence[position].word in {"a", "an"} and _multiplies(sentence, position + 1):
        end = position + 1
    while end < len(sentence):
        parts = sentence[end].word.split("-")
        joins = sentence[end].word == "and" and _multiplies(sentence, end - 1) and _goes_on(sentence, end + 1)
        if not joins and not all(part in NUMBER_WORDS or part in MULTIPLIERS for part in parts):
            break
        for part in parts if not joins else ():
            current = current + NUMBER_WORDS[part] if part in NUMBER_WORDS else max(current, 1) * MULTIPLIERS[part]
            if MULTIPLIERS.get(part, 0) >= 1000:
                total, current = total + current, 0
        end += 1
    return (total + current, end) if end > position else None


def _goes_on(sentence: Sentence, position: int) -> bool:
    return position < len(sentence) and sentence[position].word.split("-")[0] in NUMBER_WORDS


def _multiplies(sentence: Sentence, position: int) -> bool:
    return 0 <= position < len(sentence) and sentence[position].word in MULTIPLIERS


def wanted_count(sentence: Sentence, start: int, stop: int) -> Count | None:
    """How many replicas the words from `start` to `stop` ask for; a number after "to" wins over one after "from"."""
    words = [token.word for token in sentence]
    best: Count | None = None
    position = start
    while position < stop:
        if assigned := _ASSIGNED.fullmatch(words[position]):
            return Count(fixed=int(assigned.group(1)))
        if words[position] in FACTORS:
            best = best or Count(factor=FACTORS[words[position]])
        if times := _TIMES.fullmatch(words[position]):
            best = best or Count(factor=float(times.group(1)))
        found = number_at(sentence, position)
        if found is None or found[1] > stop:
            position += 1
            continue
        best = _better(best, _read_count(words, position, found, start))
        position = found[1]
    return best


def _better(best: Count | None, new: Count | None) -> Count | None:
    """The later of two counts, unless only the earlier one explicitly counts replicas."""
    if new is None or (best is not None and best.counts_replicas and not new.counts_replicas):
        return best
    return new


def _read_count(words: list[str], position: int, found: tuple[int, int], start: int) -> Count | None:
    """The meaning of a number by the words around it; None when it counts something else."""
    number, end = found
    before = next((word for word in reversed(words[start:position]) if word not in _SOFTENERS), "")
    following = [word for word in words[end : end + 3] if word not in _QUALITIES]
    qualities = set(words[end : end + 2]) | {before}
    counted = (
        _counts_behind(following)
        or words[end : end + 2] == ["of", "them"]
        or before in COUNT_NOUNS
        or _counts_before(words[start:position])
    )
    if before == "from":
        return None
    if (following and following[0] in {"times", "fold"}) or "factor" in words[max(start, position - 3) : position]:
        return Count(factor=float(number))
    if before == "by" and (counted or _says_replicas(words)):
        return Count(change=-number if _shrinks(words[:position]) else number)
    if counted and qualities & _MORE:
        return Count(change=number)
    if counted and (qualities & _FEWER or (before not in _TARGETS and _takes_away(words[:position]))):
        return Count(change=-number)
    if counted:
        return Count(fixed=number)
    if before in _TARGETS and not (following and following[0] in _OTHER_UNITS):
        return Count(fixed=number, counts_replicas=_says_replicas(words[start:position]))
    return None


def _counts_behind(following: list[str]) -> bool:
    """Whether the number counts replicas: "5 replicas", "5 stock pods", but not "5 minutes for the pods"."""
    for word in following:
        if word in COUNT_NOUNS:
            return True
        if word in _OTHER_UNITS or word in MARKS or word in PREPOSITIONS or word.isdecimal():
            return False
    return False


def _counts_before(words: list[str]) -> bool:
    """Whether replicas are named before the number: "replica count to 5", "replicas of x to 5"."""
    return _says_replicas(words) and bool({"to", "at", "=", ":", "of"}.intersection(words[-2:]))


def _says_replicas(words: list[str]) -> bool:
    return any(word in {"replica", "replicas", "copies", "instances", "headcount"} for word in words)


def _shrinks(words: list[str]) -> bool:
    return any(word in {"reduce", "decrease", "lower", "shrink", "down", "cut", "trim", "drop", "in"} for word in words)


def _takes_away(words: list[str]) -> bool:
    return any(word in {"remove", "drop", "kill", "shed", "cut", "delete", "trim"} for word in words)
