"""Which verbs of a sentence ask for something, and which of them are orders rather than reports, doubts or bans."""

from dataclasses import dataclass
from itertools import pairwise

from sirocco.domains.kubernetes.agents.reference.lexicon import (
    ALSO_ADJECTIVES,
    ARTICLES,
    AVERSIONS,
    BEFORE_NOUNS,
    DEED_NOUNS,
    INVARIABLE,
    KIND_WORDS,
    LIGHT_VERBS,
    NEGATION_CANCELLERS,
    NEGATORS,
    NOT_INFINITIVE_ORDERS,
    NOT_NAMES,
    OBLIGATIONS,
    OTHER_MEANINGS,
    OTHER_SUBJECTS,
    POSSIBILITIES,
    PREPOSITIONS,
    PRONOUNS,
    QUANTIFIERS,
    QUESTIONS,
    RESPONDERS,
    SUBORDINATORS,
    VERBS,
    WISHES,
    Form,
    Sense,
    inflected,
    word_set,
)
from sirocco.domains.kubernetes.agents.reference.sentences import Sentence

# Verbs with no other everyday meaning are recognized anywhere; the others only where English puts a verb.
_UNMISTAKABLE = frozenset({Sense.DELETE, Sense.RESTART, Sense.ROLLBACK, Sense.SCALE, Sense.STOP})
_FORM_ORDER = (Form.BASE, Form.PARTICIPLE, Form.GERUND, Form.THIRD_PERSON, Form.NOUN)
_PARTICLE_REACH = 7
_BEFORE_VERBS = word_set(
    "and or then to please you we they i can could would should must will shall may might also just now first "
    "next finally immediately let's kindly simply not don't never go ahead so but always still again urgently "
    "either only kubectl oc"
)
_BE = word_set("is are was were be been being it's that's very so too quite more get got")
_BEFORE_OBJECTS = ARTICLES | PRONOUNS | QUANTIFIERS | frozenset(KIND_WORDS) | {"down", "up", "out", "back", "to"}
_STEP_WORDS = frozenset({"first", "next", "last"})
_ADVERBS = word_set("just also please now then first next finally simply immediately again kindly both either")
_JOINTS = word_set("and or , then & also please just even")
_BOUNDARIES = word_set(", ; : — – - ( ) | > but then so")
_OPENINGS = frozenset({",", "so", "and", "but", "hey", "hi"})
_QUESTION_VERBS = word_set("is are does do did has should shall may was were")
# "May I ask you to ...?", "could I trouble you to ...?"
_INVITED = frozenset({("ask", "you", "to"), ("trouble", "you", "to")})
_THIRD_PERSONS = frozenset({"that", "it", "this", "which"})
_BEING = frozenset({"are", "am", "we're", "i'm", "they're"})
_NEVER = frozenset({"circumstances", "means", "account", "way", "case"})
_ANYBODY = word_set("anyone anybody everyone everybody someone somebody those person people operators operator")
_NOBODY = frozenset({"nothing", "none", "nobody"})
_WISHING = frozenset({"need", "want", "require", "expect", "request"})
_CAUSATIVES = word_set("want wants need needs get have like see prefer")
_GERUND_INVITATIONS = word_set(
    "by start begin try consider suggest recommend recommends recommended with needs need requires require about "
    "is are advise advised includes include means involves of propose for mind"
)
_REMEDIES = word_set(
    "fixes resolves clears helps restores recovers safe required recommended fix remedy solution workaround "
    "mitigation step resolution answer action cure"
)


@dataclass(frozen=True, slots=True)
class Trigger:
    """A verb in a sentence that may ask for something: its position, possible meanings, and form."""

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
    """Every inflected verb of the lexicon by its first word, longest first."""
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
    return {
        word: tuple(sorted(lexemes, key=lambda lexeme: -len(lexeme.words) - len(lexeme.particles)))
        for word, lexemes in found.items()
    }


_LEXEMES = _lexemes()


def triggers(sentence: Sentence, names: frozenset[int], values: frozenset[int]) -> tuple[Trigger, ...]:
    """The verbs of a sentence in order; the name of a thing counts only where it opens a clause, a value never."""
    words = [token.word for token in sentence]
    found: list[Trigger] = []
    for position, token in enumerate(sentence):
        if token.quoted or position in values or (found and position < found[-1].end):
            continue
        if position in names and not _opens(words, position):
            continue
        trigger = _trigger_at(words, position, names)
        if trigger:
            found.append(trigger)
    return tuple(found)


def _trigger_at(words: list[str], position: int, names: frozenset[int]) -> Trigger | None:
    """The word at `position` as a verb; if several entries match, their senses are joined."""
    senses: dict[Form, dict[Sense, None]] = {}
    length = 1
    for lexeme in _LEXEMES.get(words[position], ()):
        end = position + len(lexeme.words)
        fits = tuple(words[position:end]) == lexeme.words and _has_particles(words, end, lexeme.particles)
        form = _form(words, position, lexeme)
        if fits and _stands_as_verb(words, position, lexeme, form, names):
            senses.setdefault(form, {}).update(dict.fromkeys(lexeme.senses))
            length = max(length, len(lexeme.words))
    first = next((form for form in _FORM_ORDER if form in senses), None)
    return Trigger(position, position + length, tuple(senses[first]), first) if first else None


def _form(words: list[str], position: int, lexeme: _Lexeme) -> Form:
    """The form of the word: after "be" a verb like "set" is a participle."""
    passive = position > 0 and words[position - 1] in _BE and lexeme.words[0] in INVARIABLE
    return Form.PARTICIPLE if passive and lexeme.form is Form.BASE else lexeme.form


def _has_particles(words: list[str], end: int, particles: tuple[str, ...]) -> bool:
    reach = range(end, min(end + _PARTICLE_REACH, len(words)))
    size = len(particles)
    return not particles or any(tuple(words[start : start + size]) == particles for start in reach)


def _opens(words: list[str], position: int) -> bool:
    """Whether the word opens a clause, as an imperative does."""
    return position == 0 or words[position - 1] in {",", ":", ";", "—", "–", "-", ")", "and", "then", "please"}


def _stands_as_verb(words: list[str], position: int, lexeme: _Lexeme, form: Form, names: frozenset[int]) -> bool:
    """Whether the word is used as a verb, rather than as a noun, an adjective or part of another expression."""
    previous = words[position - 1] if position else ""
    following = words[position + 1] if position + 1 < len(words) else ""
    if form is Form.NOUN:
        return any(word in LIGHT_VERBS for word in words[max(0, position - 4) : position])
    if form is not Form.BASE:
        return bool(_UNMISTAKABLE.intersection(lexeme.senses)) or form is not Form.THIRD_PERSON
    # "First delete it" counts steps, "the first delete" does not.
    counts_steps = previous in _STEP_WORDS and _opens(words, position - 1)
    governs = position + 1 in names or following in _BEFORE_OBJECTS or len(lexeme.words) > 1
    is_noun = previous in BEFORE_NOUNS and not counts_steps and not _follows_in_order(words[:position])
    is_noun = is_noun or (previous in PREPOSITIONS - {"to"} and not governs)
    is_adjective = previous in _BE and lexeme.words[0] in ALSO_ADJECTIVES
    means_other = not lexeme.particles and OTHER_MEANINGS.get(lexeme.words[0]) == following
    if is_noun or is_adjective or means_other:
        return False
    if _opens(words, position) or counts_steps or previous in _BEFORE_VERBS | RESPONDERS or previous.endswith("ly"):
        return True
    # Elsewhere only what governs an object is a verb: "in this state remove it", but not "the stock restart failed".
    is_compound = position > 1 and words[position - 2] in BEFORE_NOUNS
    names_something = following not in NOT_NAMES and not following.endswith(("ed", "ing")) and not is_compound
    return (governs or names_something) and bool(_UNMISTAKABLE.intersection(lexeme.senses))


@dataclass(frozen=True, slots=True)
class _Context:
    """A verb and the words that decide how it is meant: the whole sentence, and its own clause up to the verb."""

    words: list[str]
    clause: list[str]
    trigger: Trigger

    @property
    def previous(self) -> str:
        return self.clause[-1] if self.clause else ""

    @property
    def plain(self) -> list[str]:
        """The clause without adverbs."""
        return [word for word in self.clause if word not in _ADVERBS and not word.endswith("ly")]


def is_order(sentence: Sentence, trigger: Trigger, earlier: Trigger | None, *, earlier_is_order: bool) -> bool:
    """Whether the verb tells the reader to do it; `earlier` is the verb before it in the sentence."""
    words = [token.word for token in sentence]
    between = words[earlier.end : trigger.start] if earlier and earlier.form is trigger.form else []
    if between and not earlier_is_order and all(word in _JOINTS for word in between):
        return False
    context = _Context(words, _clause_before(words, trigger.start), trigger)
    return not is_negated(sentence, trigger) and _CHECKS[trigger.form](context)


def _clause_before(words: list[str], position: int) -> list[str]:
    """The words between the last clause boundary and `position`; a verb joined by "and" opens a clause of its own."""
    start = position
    while start > 0 and words[start - 1] not in _BOUNDARIES:
        start -= 1
    clause = words[start : position - 2 if _follows_in_order(words[:position]) else position]
    plain = [word for word in clause if word not in _ADVERBS]
    return [] if plain and plain[-1] in {"and", "&"} else clause


def _follows_in_order(before: list[str]) -> bool:
    """Whether the words before a verb end with "after that", which only says when."""
    return tuple(before[-2:]) in {("after", "that"), ("after", "this")}


def is_negated(sentence: Sentence, trigger: Trigger) -> bool:
    """Whether the sentence forbids, excludes or denies the deed."""
    words = [token.word for token in sentence]
    start = trigger.start
    while start > 0 and words[start - 1] not in _BOUNDARIES:
        start -= 1
    clause = [word for word in words[start : trigger.start] if word not in _ADVERBS and not word.endswith("ly")]
    if any(tuple(clause[-len(aversion) :]) == aversion for aversion in AVERSIONS):
        return True
    if any(first == "no" and second in _NEVER for first, second in pairwise(clause)):
        return True
    position = max((index for index, word in enumerate(clause) if word in NEGATORS), default=None)
    if position is None:
        return any(first in _NOBODY and second in OBLIGATIONS for first, second in pairwise(clause))
    behind = clause[position + 1 :]
    if NEGATION_CANCELLERS.intersection(behind):
        return False
    # "Do not wait and delete it" forbids the waiting; "do not restart it and delete it" forbids both.
    return "and" not in behind or behind[0] in _LEXEMES


def _imperative(context: _Context) -> bool:
    """Distinguish "restart it" and "could you restart it?" from "we restart it", "if you restart it", "I would"."""
    clause, previous = context.clause, context.previous
    if _is_real_question(context.words):
        return False
    if not clause or context.words[context.trigger.start] in _WISHING:
        return True
    if previous == "to":
        return _infinitive(clause)
    has_subject = previous in OTHER_SUBJECTS | {"you"} | OBLIGATIONS | POSSIBILITIES
    if clause[0] in SUBORDINATORS and has_subject:
        return False
    return not _asks_about(clause) and not _announces(clause) and previous not in OTHER_SUBJECTS


def _infinitive(clause: list[str]) -> bool:
    """Whether "... to VERB" is an order: yes, unless the words before make it a question, a doubt or a report."""
    before = clause[-2] if len(clause) > 1 else ""
    return before not in NOT_INFINITIVE_ORDERS and not _asks_about(clause[:-1])


def _is_real_question(words: list[str]) -> bool:
    """Whether the sentence asks for an opinion or a fact; "could you ...?" asks for a deed."""
    content = [word for word in words if word not in _OPENINGS]
    if len(content) < 2 or _INVITED.intersection(zip(words, words[1:], words[2:], strict=False)):
        return False
    if words[-1] != "?":
        return content[0] in {"should", "shall"} and content[1] in {"i", "we"}
    if content[0] in {"can", "could", "would", "will"}:
        return content[1] not in {"you", "u", "we", "someone", "somebody", "please"}
    return content[0] in _QUESTION_VERBS


def _asks_about(clause: list[str]) -> bool:
    """Whether a question word governs the verb: "tell me what you would change", "explain how to ..."."""
    position = max((index for index, word in enumerate(clause) if word in QUESTIONS or word == "whether"), default=None)
    if position is None or (clause[position] == "when" and position == 0):
        return False
    if clause[position] == "who" and position > 0 and clause[position - 1] in _ANYBODY:
        return False
    return not {"and", "please"}.intersection(clause[position + 1 :])


def _announces(clause: list[str]) -> bool:
    """Whether somebody says what they would or will do: "you could", "we will", "I'd"; a wish does not count."""
    if WISHES.intersection(clause) and "you" in clause:
        return False
    for before, word in pairwise(["", *clause]):
        if word in POSSIBILITIES and before in OTHER_SUBJECTS | _THIRD_PERSONS | {"you"}:
            return True
        if word in {"will", "going", "gonna"} and before in OTHER_SUBJECTS | _BEING:
            return True
        if word.endswith(("'ll", "'d")) and word != "you'll":
            return True
    return False


def _passive(context: _Context) -> bool:
    """Distinguish "must be removed" and "I want it deleted" from "was deleted"."""
    plain = context.plain
    wished = bool(WISHES.intersection(plain))
    if _is_real_question(context.words) or _asks_about(plain) or (_announces(plain) and not wished):
        return False
    if {"sure", "ensure"}.intersection(plain):
        return True
    if plain and plain[-1] in {"be", "get", "gets"}:
        return bool(OBLIGATIONS.intersection(plain[-6:-1]))
    if plain and plain[-1] in {"and", "or"}:
        return "be" in plain and bool(OBLIGATIONS.intersection(plain))
    return bool(_CAUSATIVES.intersection(plain)) and not {"been", "was", "were", "had"}.intersection(plain)


def _gerund(context: _Context) -> bool:
    """Distinguish "resolve it by deleting ..." and "the fix is restarting ..." from "keeps restarting"."""
    clause, previous = context.clause, context.previous
    if previous in {"is", "are"}:
        return bool(_REMEDIES.intersection(clause))
    if previous == "of" and "instead" in clause:
        return False
    if previous == "by":
        return not {"caused", "broken", "was", "were", "been"}.intersection(clause)
    if previous in _GERUND_INVITATIONS:
        return True
    return not clause and bool(_REMEDIES.intersection(context.words[context.trigger.end :]))


def _third_person(context: _Context) -> bool:
    """Distinguish "the on-call engineer deletes ..." from "the job deletes ..."."""
    return context.previous in RESPONDERS


def _nominal(context: _Context) -> bool:
    """Distinguish "needs a restart" and "perform the removal of ..." from "the restart of ..."."""
    # "I would be grateful if you could do a restart of ..." wishes for it.
    is_wish = bool(WISHES.intersection(context.clause)) and "you" in context.clause
    if _is_real_question(context.words) or ({"if", "whether"}.intersection(context.clause) and not is_wish):
        return False
    return not context.clause or bool((LIGHT_VERBS | ARTICLES).intersection(context.clause[-4:]))


_CHECKS = {
    Form.BASE: _imperative,
    Form.PARTICIPLE: _passive,
    Form.GERUND: _gerund,
    Form.THIRD_PERSON: _third_person,
    Form.NOUN: _nominal,
}
