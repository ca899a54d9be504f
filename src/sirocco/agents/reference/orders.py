"""Which verbs of a sentence ask for something, and which of them are orders rather than reports, doubts or prohibitions."""

from collections.abc import Iterator
from dataclasses import dataclass

from sirocco.agents.reference.lexicon import (
    ARTICLES,
    AVERSIONS,
    BEFORE_NOUNS,
    DEED_NOUNS,
    LIGHT_VERBS,
    NEGATION_CANCELLERS,
    NEGATORS,
    NOT_INFINITIVE_ORDERS,
    OBLIGATIONS,
    OTHER_MEANINGS,
    OTHER_SUBJECTS,
    POSSIBILITIES,
    QUESTIONS,
    RESPONDERS,
    SUBORDINATORS,
    VERBS,
    WISHES,
    Form,
    Sense,
    inflected,
)
from sirocco.agents.reference.sentences import Sentence

# Verbs with no other everyday meaning are recognised anywhere; the others only where English puts a verb.
_UNMISTAKABLE = frozenset({Sense.DELETE, Sense.RESTART, Sense.ROLLBACK, Sense.SCALE, Sense.STOP})
_PARTICLE_REACH = 7
_BEFORE_VERBS = frozenset(
    "and or then to please you we they i can could would should must will shall may might also just now first next finally "
    "immediately let's kindly simply not don't never go ahead so but always still again urgently either only".split()
)
_ADVERBS = frozenset("just also please now then first next finally simply immediately again kindly both either".split())
_JOINTS = frozenset({"and", "or", ",", "then", "&", "also", "please", "just", "even"})
_WISHING = frozenset({"need", "want", "require", "expect", "request"})
_CAUSATIVES = frozenset({"want", "wants", "need", "needs", "get", "have", "like", "see", "prefer"})
_GERUND_INVITATIONS = frozenset(
    "by start begin try consider suggest recommend recommends recommended with needs need requires require about is are "
    "advise advised includes include means involves of propose for".split()
)
_REMEDIES = frozenset(
    "fixes resolves clears helps restores recovers safe required recommended fix remedy solution workaround mitigation "
    "step resolution answer action cure".split()
)


@dataclass(frozen=True, slots=True)
class Trigger:
    """A verb in a sentence that may ask for something: where it stands, what it can mean, in which form."""

    start: int
    end: int
    senses: tuple[Sense, ...]
    form: Form


@dataclass(frozen=True, slots=True)
class _Lexeme:
    words: tuple[str, ...]
    particles: tuple[str, ...]
    senses: tuple[Sense, ...]
    form: Form


def _lexemes() -> dict[str, tuple[_Lexeme, ...]]:
    """Every inflected verb of the lexicon by its first word, the longest wording first."""
    senses: dict[str, list[Sense]] = {}
    for sense, wordings in VERBS.items():
        for wording in wordings:
            senses.setdefault(wording, []).append(sense)
    found: dict[str, list[_Lexeme]] = {}
    for wording, meanings in senses.items():
        fixed, _, tail = wording.partition(" … ")
        first, *rest = fixed.split()
        for inflection, form in inflected(first).items():
            lexeme = _Lexeme((inflection, *rest), tuple(tail.split()), tuple(meanings), form)
            found.setdefault(inflection, []).append(lexeme)
    for noun, sense in DEED_NOUNS.items():
        found.setdefault(noun, []).append(_Lexeme((noun,), (), (sense,), Form.NOUN))
    size = {word: sorted(lexemes, key=lambda x: -len(x.words) - len(x.particles)) for word, lexemes in found.items()}
    return {word: tuple(lexemes) for word, lexemes in size.items()}


_LEXEMES = _lexemes()


def triggers(sentence: Sentence, names: frozenset[int], values: frozenset[int]) -> tuple[Trigger, ...]:
    """The verbs of a sentence in order; a name of a thing is one only where it opens a clause, a value of a key never."""
    words = [token.word for token in sentence]
    found: list[Trigger] = []
    for position, token in enumerate(sentence):
        if token.quoted or position in values or (found and position < found[-1].end):
            continue
        if position in names and not _opens(words, position):
            continue
        trigger = next(_matches(words, position), None)
        if trigger:
            found.append(trigger)
    return tuple(found)


def _matches(words: list[str], position: int) -> Iterator[Trigger]:
    """Readings of the word at `position` as a verb, the most specific first; senses of several readings are joined."""
    senses: dict[Form, dict[Sense, None]] = {}
    length = 1
    for lexeme in _LEXEMES.get(words[position], ()):
        end = position + len(lexeme.words)
        if tuple(words[position:end]) != lexeme.words or not _has_particles(words, end, lexeme.particles):
            continue
        if not _stands_as_verb(words, position, lexeme):
            continue
        senses.setdefault(lexeme.form, {}).update(dict.fromkeys(lexeme.senses))
        length = max(length, len(lexeme.words))
    for form in (Form.BASE, Form.PARTICIPLE, Form.GERUND, Form.THIRD_PERSON, Form.NOUN):
        if form in senses:
            yield Trigger(position, position + length, tuple(senses[form]), form)


def _has_particles(words: list[str], end: int, particles: tuple[str, ...]) -> bool:
    reach = range(end, min(end + _PARTICLE_REACH, len(words)))
    size = len(particles)
    return not particles or any(tuple(words[start : start + size]) == particles for start in reach)


def _opens(words: list[str], position: int) -> bool:
    """Whether the word opens a clause, as an imperative does."""
    return position == 0 or words[position - 1] in {",", ":", ";", "—", "–", "-", ")", "and", "then", "please"}


def _stands_as_verb(words: list[str], position: int, lexeme: _Lexeme) -> bool:
    previous = words[position - 1] if position else ""
    if lexeme.form is Form.NOUN:
        return any(word in LIGHT_VERBS for word in words[max(0, position - 4) : position])
    if lexeme.form is Form.BASE and previous in BEFORE_NOUNS:
        return False
    if _UNMISTAKABLE.intersection(lexeme.senses):
        following = words[position + 1] if position + 1 < len(words) else ""
        return lexeme.particles != () or OTHER_MEANINGS.get(lexeme.words[0]) != following
    if lexeme.form is Form.BASE:
        return _opens(words, position) or previous in _BEFORE_VERBS or previous.endswith("ly") or "\n" in previous
    return lexeme.form is not Form.THIRD_PERSON


def is_order(sentence: Sentence, trigger: Trigger, earlier: Trigger | None, *, earlier_is_order: bool) -> bool:
    """Whether the verb tells the reader to do it; `earlier` is the verb before it in the sentence."""
    words = [token.word for token in sentence]
    between = words[earlier.end : trigger.start] if earlier else []
    if between and not earlier_is_order and all(word in _JOINTS for word in between):
        return False
    clause = _clause_before(words, trigger.start)
    if is_negated(sentence, trigger):
        return False
    return _CHECKS[trigger.form](words, clause, trigger)


def _clause_before(words: list[str], position: int) -> list[str]:
    """The words between the last clause boundary and `position`; a verb joined by "and" opens a clause of its own."""
    start = position
    while start > 0 and words[start - 1] not in {",", ";", ":", "—", "–", "-", "(", ")", "but", "then", "so", "|", ">"}:
        start -= 1
    clause = words[start:position]
    bare = [word for word in clause if word not in _ADVERBS]
    return [] if bare and bare[-1] in {"and", "&"} else clause


def is_negated(sentence: Sentence, trigger: Trigger) -> bool:
    """Whether the sentence forbids, excludes or denies the deed."""
    words = [token.word for token in sentence]
    start = trigger.start
    while start > 0 and words[start - 1] not in {";", ":", "—", "–", "(", ")", "but", "then", "so", ","}:
        start -= 1
    clause = [word for word in words[start : trigger.start] if word not in _ADVERBS and not word.endswith("ly")]
    if any(tuple(clause[-len(aversion) :]) == aversion for aversion in AVERSIONS):
        return True
    position = max((index for index, word in enumerate(clause) if word in NEGATORS), default=None)
    if position is None:
        return any(
            word in {"nothing", "none", "no-one"} and index + 1 < len(clause) and clause[index + 1] in OBLIGATIONS
            for index, word in enumerate(clause)
        )
    behind = clause[position + 1 :]
    if NEGATION_CANCELLERS.intersection(behind):
        return False
    # "Do not wait and delete it" forbids the waiting; "do not restart it and delete it" forbids both.
    return "and" not in behind or behind[0] in _LEXEMES


def _imperative(words: list[str], clause: list[str], trigger: Trigger) -> bool:
    previous = clause[-1] if clause else ""
    if _is_real_question(words):
        return False
    if not clause or words[trigger.start] in _WISHING:
        return True
    if previous == "to":
        return _infinitive(clause)
    if _is_subordinate(clause) and (previous in OTHER_SUBJECTS | {"you"} or previous in OBLIGATIONS | POSSIBILITIES):
        return False
    if _asks_about(clause):
        return False
    if _announces(clause):
        return False
    return previous not in OTHER_SUBJECTS


def _infinitive(clause: list[str]) -> bool:
    """Whether "... to VERB" is an order: by default yes, unless the words before make it a question, doubt or report."""
    before = clause[-2] if len(clause) > 1 else ""
    return before not in NOT_INFINITIVE_ORDERS and not _asks_about(clause[:-1])


def _is_real_question(words: list[str]) -> bool:
    """Whether the sentence asks for an opinion or a fact; "could you ...?" asks for a deed."""
    content = [word for word in words if word not in {",", "so", "and", "but", "hey", "hi"}]
    if len(content) < 2 or words[-1] != "?":
        return len(content) > 1 and content[0] in {"should", "shall"} and content[1] in {"i", "we"}
    if content[0] in {"can", "could", "would", "will"}:
        return content[1] not in {"you", "we", "someone", "somebody", "please"}
    return content[0] in {"is", "are", "does", "do", "did", "has", "should", "shall", "may", "was", "were"}


def _is_subordinate(clause: list[str]) -> bool:
    return bool(clause) and clause[0] in SUBORDINATORS


def _asks_about(clause: list[str]) -> bool:
    """Whether a question word governs the verb: "tell me what you would change", "explain how to ..."."""
    position = max((index for index, word in enumerate(clause) if word in QUESTIONS or word == "whether"), default=None)
    if position is None:
        return False
    if clause[position] == "when" and position == 0:
        return False
    return not {"and", "please"}.intersection(clause[position + 1 :])


def _announces(clause: list[str]) -> bool:
    """Whether somebody says what they would or will do themselves: "you could", "we will", "I'd"."""
    if WISHES.intersection(clause) and "you" in clause:
        return False
    for index, word in enumerate(clause):
        before = clause[index - 1] if index else ""
        if word in POSSIBILITIES and before in OTHER_SUBJECTS | {"you", "that", "it", "this", "which"}:
            return True
        if word in {"will", "going", "gonna"} and (before in OTHER_SUBJECTS or before in {"are", "am", "'re", "we're", "i'm"}):
            return True
        if word.endswith(("'ll", "'d")) and word not in {"you'll"}:
            return True
    return False


def _passive(words: list[str], clause: list[str], trigger: Trigger) -> bool:
    """ "must be removed", "needs to be restarted", "I want it deleted", but not "was deleted"."""
    if _is_real_question(words) or _announces(clause) or _asks_about(clause):
        return False
    bare = [word for word in clause if not word.endswith("ly") and word not in _ADVERBS]
    if bare and bare[-1] in {"be", "get", "gets"}:
        return bool(OBLIGATIONS.intersection(bare[-6:-1]))
    if bare and bare[-1] in {"and", "or"}:
        return bool({"be"}.intersection(bare) and OBLIGATIONS.intersection(bare))
    return bool(_CAUSATIVES.intersection(bare)) and not {"been", "was", "were", "had"}.intersection(bare)


def _gerund(words: list[str], clause: list[str], trigger: Trigger) -> bool:
    """ "resolve it by deleting ...", "the fix is restarting ...", but not "keeps restarting"."""
    previous = clause[-1] if clause else ""
    if previous in {"is", "are"}:
        return bool(_REMEDIES.intersection(clause))
    if previous == "of" and "instead" in clause:
        return False
    if previous == "by":
        return not {"caused", "broken", "was", "were", "been"}.intersection(clause)
    if previous in _GERUND_INVITATIONS:
        return True
    after = words[trigger.end :]
    return not clause and bool(_REMEDIES.intersection(after))


def _third_person(words: list[str], clause: list[str], trigger: Trigger) -> bool:
    """ "the on-call engineer deletes ...", but not "the job deletes ..."."""
    return bool(clause) and clause[-1] in RESPONDERS


def _nominal(words: list[str], clause: list[str], trigger: Trigger) -> bool:
    """ "needs a restart", "perform the removal of ..."."""
    if _is_real_question(words) or _announces(clause):
        return False
    return any(word in LIGHT_VERBS or word in ARTICLES for word in clause[-4:]) or not clause


_CHECKS = {
    Form.BASE: _imperative,
    Form.PARTICIPLE: _passive,
    Form.GERUND: _gerund,
    Form.THIRD_PERSON: _third_person,
    Form.NOUN: _nominal,
}
