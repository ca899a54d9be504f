"""Finds where an answer gives a decoy as the cause; behaviours of detection and diagnosis share it."""

import re
from functools import lru_cache

from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.wording import Sentence, asserts, fold_text, holds_any

_TO_BLAME = r"(?:root\s+|real\s+|actual\s+|main\s+|underlying\s+)?(?:cause|culprit|problem|reason|explanation)"
_BY = r"(?:caused\s+by|due\s+to|because\s+of|stems?\s+from|results?\s+from|brought\s+about\s+by|down\s+to)"


def blaming_sentences(facts: Facts) -> tuple[Sentence, ...]:
    """The sentences of the answer that give a decoy as the cause of something other than a decoy."""
    decoys = tuple(facts.slots.get("decoys", ()))
    return tuple(one for one in facts.answer_sentences if any(_blames(one, decoy, decoys) for decoy in decoys))


def _blames(sentence: Sentence, decoy: str, decoys: tuple[str, ...]) -> bool:
    if not asserts(sentence, ((decoy,),)):
        return False
    direct, by = _patterns(decoy)
    if direct.search(sentence.text):
        return True
    found = by.search(sentence.text)
    return found is not None and not holds_any(sentence.text[: found.start()], decoys)


@lru_cache(maxsize=256)
def _patterns(decoy: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns that call a decoy the cause, or say that something results from it."""
    name = r"\s+".join(map(re.escape, fold_text(decoy.removesuffix("*")).split()))
    after = rf"{_TO_BLAME}\s*(?:is|was|lies\s+(?:in|with)|:|seems\s+to\s+be)\s+(?:\S+\s+){{0,3}}?{name}"
    before = (
        rf"{name}(?:\s+\S+){{0,4}}?\s+(?:is|are|was|were)\s+(?:\w+\s+){{0,2}}?(?:{_TO_BLAME}|to\s+blame|responsible"
        rf"|causing)|{name}(?:\s+(?!(?:is|are|was|were|be|been)\s)\S+){{0,2}}?\s+(?:caus(?:es|ed)|explains?|triggers?)"
    )
    return re.compile(rf"(?<![\w-])(?:{after}|{before})(?![\w-])"), re.compile(
        rf"\b{_BY}\s+(?:\S+\s+){{0,3}}?{name}(?![\w-])"
    )
