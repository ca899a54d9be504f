"""Shrinking: the smallest probe on which the same checks still fail, and which parts of it mattered (SI-03).

A generator knows how to take back its own steps; other reductions work on any document. None of them changes what is
judged: goal, task, assertions and verification stay, and so does whatever they are about (`campaign.essentials`). Each
smaller form has to be admitted again.
"""

import re
import unicodedata
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from sirocco.campaign.essentials import asks, held_entries, judged_words, names_any, without_sentences
from sirocco.oasis.canonical import digest
from sirocco.oasis.domain import Domain
from sirocco.oasis.probe import Draft, Probe
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.stimulus import StimulusType
from sirocco.probes.texts import sentences_of

_PROMPT = StimulusType.OPERATOR_PROMPT
_INVISIBLE = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LONGEST_QUOTE = 60
_RECORD = "x-sirocco"
MOST_CANDIDATES = 80
"""The maximum number of smaller forms examined for one probe; they cost admission, not agent calls."""


Simplify = Callable[[Probe], AsyncGenerator[Draft, None]]
Admit = Callable[[Draft], Awaitable[Probe | None]]
Outcome = tuple[Reproduction, bool] | None
Try = Callable[[Probe, int], Awaitable[Outcome]]
"""Runs the smaller form of that number: how often the same checks failed, and whether often enough.

None without budget.
"""


@dataclass(frozen=True, slots=True)
class Smaller:
    """A smaller form of a document, and what was left out."""

    without: str
    draft: Draft
    by_generator: bool = False


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The smallest form that was found, and the effect of each part that was left out on the way.

    `needed` and `without_effect` refer to the executed probe with nothing but that part left out; `smallest_needs`
    refers to the smallest form.
    """

    probe: Probe
    reproduction: Reproduction
    removed: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    without_effect: tuple[str, ...] = ()
    smallest_needs: tuple[str, ...] = ()
    is_finished: bool = True
    form: int | None = None
    """The number of the smallest form among those that were tried; None if it is the executed probe."""

    @property
    def is_smaller(self) -> bool:
        """Whether anything could be removed."""
        return bool(self.removed)

    def explanation(self) -> dict[str, Any]:
        """Which parts mattered to the failure and which did not; what was not tried alone is in neither list."""
        return {
            "needed": list(self.needed),
            "without_effect": list(self.without_effect),
            "left_out": list(self.removed),
            "smallest_needs": list(self.smallest_needs),
            "finished": self.is_finished,
        }

    def document(self) -> dict[str, Any]:
        """What the evidence of the forms does not contain."""
        return {"form": self.form, **self.explanation()}

    @classmethod
    def from_document(cls, document: Mapping[str, Any], probe: Probe, reproduction: Reproduction) -> "Shrunk":
        """What `document` gave, with the form that it names and the effects of parts."""
        return cls(
            probe,
            reproduction,
            removed=tuple(document["left_out"]),
            needed=tuple(document["needed"]),
            without_effect=tuple(document["without_effect"]),
            smallest_needs=tuple(document["smallest_needs"]),
            is_finished=document["finished"],
            form=document["form"],
        )


@dataclass(frozen=True, slots=True)
class _Success:
    """A smaller form on which the same checks failed."""

    smaller: Smaller
    probe: Probe
    reproduction: Reproduction
    form: int


@dataclass(slots=True)
class _State:
    probe: Probe
    reproduction: Reproduction
    removed: list[str] = field(default_factory=list)
    needed: list[str] = field(default_factory=list)
    """The parts without which the current form does not fail."""
    alone: dict[str, bool] = field(default_factory=dict)
    """For each part that was left out of the executed probe alone: whether it was needed."""
    tried: dict[str, bool] = field(default_factory=dict)
    """For each form, by its content, whether it was run and did not fail."""
    form: int | None = None
    is_edited: bool = False
    """Whether a part of the document was removed that its generator would restore."""

    def note(self, part: str, *, is_needed: bool) -> None:
        """Record the result of leaving a part out of the current form."""
        if is_needed:
            self.needed.append(part)
        if not self.removed:
            self.alone[part] = is_needed

    def take(self, success: _Success) -> None:
        """Continue from a smaller form; what the previous one needed is no longer certain."""
        self.probe, self.reproduction = success.probe, success.reproduction
        self.form = success.form
        self.removed.append(success.smaller.without)
        self.needed.clear()
        self.is_edited = not success.smaller.by_generator


async def shrunk(
    probe: Probe,
    reproduction: Reproduction,
    simplify: Simplify | None,
    admit: Admit,
    fails: Try,
    *,
    cuts_prompts: bool = True,
) -> Shrunk:
    """Remove whatever can be removed, large parts first, until nothing is left to remove or the budget ends.

    Without `cuts_prompts`, what the operator says stays whole, apart from what the generator takes back.
    """
    state = _State(probe, reproduction)
    state.tried[_content(probe.draft.scenario)] = False
    while len(state.tried) < MOST_CANDIDATES:
        step = await _step(state, simplify, admit, fails, cuts_prompts=cuts_prompts)
        if step is None:
            return _result(state, is_finished=False)
        if not step:
            break
    return _result(state, is_finished=True)


async def _step(
    state: _State, simplify: Simplify | None, admit: Admit, fails: Try, *, cuts_prompts: bool
) -> bool | None:
    """Find one part that can be removed; False if there is none, None if the budget is spent.

    Every step of the generator is taken back from the executed probe, even after the first removable one was found:
    once other parts are gone, its effect on the failure can no longer be determined.
    """
    first: _Success | None = None
    own = None if state.is_edited else simplify
    async with aclosing(candidates(state.probe, own, cuts_prompts=cuts_prompts)) as found:
        async for smaller in found:
            if first is not None and (state.removed or not smaller.by_generator):
                break
            content = _content(smaller.draft.scenario)
            if state.tried.get(content):
                state.note(smaller.without, is_needed=True)
            if content in state.tried or len(state.tried) >= MOST_CANDIDATES:
                continue
            state.tried[content] = False
            admitted = await admit(smaller.draft)
            if admitted is None:
                continue
            number = len(state.tried)
            outcome = await fails(admitted, number)
            if outcome is None:
                if first is not None:
                    state.take(first)
                return None
            reproduction, is_enough = outcome
            state.tried[content] = not is_enough
            state.note(smaller.without, is_needed=not is_enough)
            if is_enough and first is None:
                first = _Success(smaller, admitted, reproduction, number)
    if first is not None:
        state.take(first)
    return first is not None


def _result(state: _State, *, is_finished: bool) -> Shrunk:
    return Shrunk(
        state.probe,
        state.reproduction,
        removed=tuple(state.removed),
        needed=tuple(part for part, is_needed in state.alone.items() if is_needed),
        without_effect=tuple(part for part, is_needed in state.alone.items() if not is_needed),
        smallest_needs=tuple(dict.fromkeys(state.needed)),
        is_finished=is_finished,
        form=state.form,
    )


async def candidates(
    probe: Probe, simplify: Simplify | None, *, cuts_prompts: bool = True
) -> AsyncGenerator[Smaller, None]:
    """Smaller forms of a probe: without steps of the generator, then without parts of the document."""
    if simplify is not None:
        async with aclosing(simplify(probe)) as simpler:
            async for draft in simpler:
                without = _taken_back(probe.draft.lineage, draft.lineage)
                yield Smaller(without, draft, by_generator=True)
    for without, document in simpler_documents(probe.bound.domain, probe.draft.scenario, cuts_prompts=cuts_prompts):
        yield Smaller(without, replace(probe.draft, scenario=document))


def _taken_back(before: Sequence[str], after: Sequence[str]) -> str:
    """What a generator left out: one of its steps, or a variation within one."""
    gone = " and ".join(f"operator {step}" for step in before if step not in after)
    new = " and ".join(step for step in after if step not in before)
    if gone and new:
        return f"{gone}, made {new}"
    return gone or new or "something that its generator does not name"


def simpler_documents(
    domain: Domain, document: Mapping[str, Any], *, cuts_prompts: bool = True
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The document with something removed, in each possible way, large parts first."""
    yield from _fewer_stimuli(document, cuts_prompts=cuts_prompts)
    yield from _fewer_entries(domain, document)
    yield from _fewer_sentences(document, cuts_prompts=cuts_prompts)
    yield from _plain_values(document)
    yield from _fewer_extras(document)


def _fewer_stimuli(document: Mapping[str, Any], *, cuts_prompts: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    stimuli, words = _mappings_under(document, "stimuli"), judged_words(document)
    prompts = {n for n, one in enumerate(stimuli) if one.get("type") == _PROMPT}
    droppable = [
        n
        for n, one in enumerate(stimuli)
        if (cuts_prompts or n not in prompts) and all(_may_go(one, part, words) for part in _sentences(one))
    ]
    aside = [n for n in droppable if n not in prompts]
    for group in [*([aside] if len(aside) > 1 else []), *([n] for n in droppable)]:
        if prompts - set(group):
            named = " and ".join(_stimulus_name(stimuli[n], n) for n in group)
            yield named, {**document, "stimuli": [one for n, one in enumerate(stimuli) if n not in group]}


def _may_go(stimulus: Mapping[str, Any], sentence: str, words: frozenset[str]) -> bool:
    """Whether nothing that is judged depends on a sentence; what an operator asks is the question itself."""
    is_request = stimulus.get("type") == _PROMPT and asks(sentence)
    return not is_request and not names_any(sentence, words)


def _sentences(stimulus: Mapping[str, Any]) -> list[str]:
    return sentences_of(str(stimulus.get("value") or ""))


def _stimulus_name(stimulus: Mapping[str, Any], number: int) -> str:
    """A stimulus described by its kind, its place and its beginning."""
    kind = "turn" if stimulus.get("type") == _PROMPT else str(stimulus.get("type"))
    place = f" at {stimulus['target']}" if stimulus.get("target") else ""
    said = str(stimulus.get("value") or "")
    return f"{kind} {number}{place}" + (f" ({_quote_beginning(said)})" if said else "")


def _quote_beginning(text: str) -> str:
    """The beginning of a text, safe to show anywhere."""
    plain = " ".join(_INVISIBLE.sub("", _UNPRINTABLE.sub(" ", text)).split())
    return f'"{plain if len(plain) <= _LONGEST_QUOTE else plain[: _LONGEST_QUOTE - 1] + "…"}"'


def _fewer_entries(domain: Domain, document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    environment = document.get("preconditions", {}).get("environment", {})
    entries, held = _mappings_under(environment, "state"), held_entries(domain.mutation.terms, document)
    loose = [n for n in range(len(entries)) if n not in held]
    for group in [*([loose] if len(loose) > 1 else []), *([n] for n in loose)]:
        kept = [one for n, one in enumerate(entries) if n not in group]
        named = "state " + " and ".join(str(entries[n].get("resource")) for n in group)
        yield named, _with_state(document, kept)


def _fewer_sentences(document: Mapping[str, Any], *, cuts_prompts: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    words = judged_words(document)
    for number, stimulus in enumerate(_mappings_under(document, "stimuli")):
        if stimulus.get("type") == _PROMPT and not cuts_prompts:
            continue
        sentences = _sentences(stimulus)
        droppable = [n for n, one in enumerate(sentences) if one.strip() and _may_go(stimulus, one, words)]
        for group in [*([droppable] if len(droppable) > 1 else []), *([n] for n in droppable)]:
            if kept := without_sentences(str(stimulus.get("value")), group):
                said = _quote_beginning(" ".join(sentences[n] for n in group))
                kind = "turn" if stimulus.get("type") == _PROMPT else stimulus.get("type")
                yield f"{said} in {kind} {number}", _with_stimulus(document, number, value=kept)


def _plain_values(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Texts without invisible and look-alike characters, and stimuli that are present from the start."""
    for number, stimulus in enumerate(_mappings_under(document, "stimuli")):
        text = str(stimulus.get("value") or "")
        plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
        if plain != text:
            named = f"disguise of {_stimulus_name(stimulus, number)}"
            yield named, _with_stimulus(document, number, value=plain)
        if stimulus.get("timing"):
            named = f"timing of {_stimulus_name(stimulus, number)}"
            yield named, _with_stimulus(document, number, timing=None)


def _fewer_extras(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    extension = _extension(document)
    for key in ("reactions", "rerun"):
        if extension.get(key):
            kept = {name: value for name, value in extension.items() if name != key}
            yield key, {**document, _RECORD: kept}


def _with_stimulus(document: Mapping[str, Any], number: int, **changed: Any) -> dict[str, Any]:
    stimuli = [dict(one) for one in _mappings_under(document, "stimuli")]
    stimuli[number] = {key: value for key, value in {**stimuli[number], **changed}.items() if value is not None}
    return {**document, "stimuli": stimuli}


def _with_state(document: Mapping[str, Any], state: Sequence[Any]) -> dict[str, Any]:
    preconditions = document["preconditions"]
    environment = {**preconditions["environment"], "state": list(state)}
    return {**document, "preconditions": {**preconditions, "environment": environment}}


def _mappings_under(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = document.get(key)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list | tuple) else []


def _extension(document: Mapping[str, Any]) -> Mapping[str, Any]:
    found = document.get(_RECORD)
    return found if isinstance(found, Mapping) else {}


def _without_record(document: Mapping[str, Any]) -> dict[str, Any]:
    extension = {key: value for key, value in _extension(document).items() if key not in {"probe", "predicates"}}
    return {**{key: value for key, value in document.items() if key not in {"id", _RECORD}}, _RECORD: extension}


def _content(document: Mapping[str, Any]) -> str:
    return digest(_without_record(document))
