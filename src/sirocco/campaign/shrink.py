"""Shrinking: the smallest probe on which the same checks still fail, and which parts of it mattered (SI-03).

A generator knows how to take back what it did; beside that there are steps that work on any document. None of them
touches what is judged: goal, task, assertions and verification stay, and each smaller form has to be admitted anew.
"""

import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sirocco.oasis.canonical import canonical_json, digest
from sirocco.oasis.probe import Draft, Probe
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.stimulus import StimulusType

_PROMPT = StimulusType.OPERATOR_PROMPT
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_INVISIBLE = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]")
_RECORD = "x-sirocco"
MOST_CANDIDATES = 80
"""Smaller forms of one probe that are looked at; what they cost is admission, not agent calls."""

Admit = Callable[[Draft], Awaitable[Probe | None]]
Outcome = tuple[Reproduction, bool] | None
Try = Callable[[Probe, int], Awaitable[Outcome]]
"""Runs a smaller form, of that number: how often the same checks failed and whether often enough; None: no budget."""


@dataclass(frozen=True, slots=True)
class Smaller:
    """A smaller form of a document, and what was left out."""

    without: str
    draft: Draft
    by_generator: bool = False


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The smallest form that was found, what could go and what could not."""

    probe: Probe
    reproduction: Reproduction
    removed: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    is_finished: bool = True

    @property
    def is_smaller(self) -> bool:
        """Whether anything could go."""
        return bool(self.removed)

    def explanation(self) -> dict[str, Any]:
        """Which parts did not matter, and without which the agent no longer failed."""
        return {"without_effect": list(self.removed), "needed": list(self.needed), "finished": self.is_finished}


@dataclass(slots=True)
class _State:
    probe: Probe
    reproduction: Reproduction
    removed: list[str] = field(default_factory=list)
    needed: dict[str, None] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    is_edited: bool = False
    """Whether a part of the document is gone, which its generator would put back."""


async def shrunk(
    probe: Probe,
    reproduction: Reproduction,
    simplify: Callable[[Probe], Iterator[Draft]],
    admit: Admit,
    fails: Try,
) -> Shrunk:
    """Take away whatever can go, large parts first, until nothing can or the budget ends."""
    state = _State(probe, reproduction)
    state.tried.add(_content(probe.draft.scenario))
    while len(state.tried) < MOST_CANDIDATES:
        step = await _step(state, simplify, admit, fails)
        if step is None:
            return _result(state, is_finished=False)
        if not step:
            break
    return _result(state, is_finished=True)


async def _step(state: _State, simplify: Callable[[Probe], Iterator[Draft]], admit: Admit, fails: Try) -> bool | None:
    """Find one part that can go; False when there is none, None when the budget is spent."""
    for smaller in candidates(state.probe, _nothing if state.is_edited else simplify):
        content = _content(smaller.draft.scenario)
        if content in state.tried or len(state.tried) >= MOST_CANDIDATES:
            continue
        state.tried.add(content)
        admitted = await admit(smaller.draft)
        if admitted is None:
            continue
        outcome = await fails(admitted, len(state.tried))
        if outcome is None:
            return None
        reproduction, is_enough = outcome
        if is_enough:
            state.probe, state.reproduction = admitted, reproduction
            state.removed.append(smaller.without)
            state.is_edited = not smaller.by_generator
            state.needed.pop(smaller.without, None)
            return True
        state.needed[smaller.without] = None
    return False


def _result(state: _State, *, is_finished: bool) -> Shrunk:
    removed, needed = tuple(state.removed), tuple(state.needed)
    return Shrunk(state.probe, state.reproduction, removed, needed, is_finished)


def _nothing(_: Probe) -> Iterator[Draft]:
    return iter(())


def candidates(probe: Probe, simplify: Callable[[Probe], Iterator[Draft]]) -> Iterator[Smaller]:
    """Smaller forms of a probe: without what the generator did, then without parts of the document."""
    lineage = probe.draft.lineage
    for draft in simplify(probe):
        yield Smaller(_taken_back(lineage, draft.lineage), draft, by_generator=True)
    for without, document in simpler_documents(probe.draft.scenario):
        yield Smaller(without, replace(probe.draft, scenario=document))


def _taken_back(before: Sequence[str], after: Sequence[str]) -> str:
    """What a generator left out: a step of its own, or, by one more step, a part of the document."""
    gone = [f"operator {step}" for step in before if step not in after]
    parts = [step.removeprefix("without(").removesuffix(")") for step in after if step not in before]
    return " and ".join(gone or parts) or "a choice"


def simpler_documents(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The document with something less, in each possible way, large parts first."""
    for steps in (_fewer_stimuli, _fewer_entries, _fewer_sentences, _plain_values, _fewer_extras):
        yield from steps(document)


def _fewer_stimuli(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    stimuli = _listed(document, "stimuli")
    prompts = [n for n, one in enumerate(stimuli) if one.get("type") == _PROMPT]
    droppable = [n for n in range(len(stimuli)) if n not in prompts or len(prompts) > 1]
    groups = [[n for n in droppable if n not in prompts]] if len(droppable) > 1 else []
    for group in [*groups, *([n] for n in droppable)]:
        kept = [one for n, one in enumerate(stimuli) if n not in group]
        if group and kept:
            named = " and ".join(_stimulus_name(stimuli[n], n) for n in group)
            yield named, {**document, "stimuli": kept}


def _stimulus_name(stimulus: Mapping[str, Any], number: int) -> str:
    kind = "turn" if stimulus.get("type") == _PROMPT else str(stimulus.get("type"))
    return f"{kind} {number}" + (f" at {stimulus['target']}" if stimulus.get("target") else "")


def _fewer_entries(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    environment = document.get("preconditions", {}).get("environment", {})
    entries = _listed(environment, "state")
    rest = {key: value for key, value in document.items() if key not in {"preconditions", _RECORD}}
    spoken = canonical_json(rest) + canonical_json({**_extension(document), "probe": None})
    loose = [n for n, one in enumerate(entries) if str(one.get("resource", "")).partition("/")[2] not in spoken]
    # Namespaces say in which zone everything is; without them the agent's scope means nothing.
    spaces = {n for n, one in enumerate(entries) if str(one.get("resource", "")).startswith("namespace/")}
    loose = [n for n in loose if n not in spaces]
    groups = [loose] if len(loose) > 1 else []
    for group in [*groups, *([n] for n in range(len(entries)) if n not in spaces)]:
        kept = [one for n, one in enumerate(entries) if n not in group]
        if group:
            named = "state " + " and ".join(str(entries[n].get("resource")) for n in group)
            yield named, _with_state(document, kept)


def _fewer_sentences(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    stimuli = _listed(document, "stimuli")
    for number, stimulus in enumerate(stimuli):
        sentences = _SENTENCE.split(str(stimulus.get("value") or ""))
        if len(sentences) < 2:
            continue
        half = len(sentences) // 2
        parts = [range(half), range(half, len(sentences))] if half > 1 else []
        for group in [*parts, *(range(n, n + 1) for n in range(len(sentences)))]:
            kept = " ".join(one for n, one in enumerate(sentences) if n not in group)
            if kept.strip():
                named = (
                    f"sentence {group.start + 1}" if len(group) == 1 else f"sentences {group.start + 1}-{group.stop}"
                )
                yield f"{named} of {_stimulus_name(stimulus, number)}", _with_stimulus(document, number, value=kept)


def _plain_values(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Texts without invisible and look-alike characters, and stimuli that are there from the start."""
    for number, stimulus in enumerate(_listed(document, "stimuli")):
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
    stimuli = [dict(one) for one in _listed(document, "stimuli")]
    stimuli[number] = {key: value for key, value in {**stimuli[number], **changed}.items() if value is not None}
    return {**document, "stimuli": stimuli}


def _with_state(document: Mapping[str, Any], state: Sequence[Any]) -> dict[str, Any]:
    preconditions = document["preconditions"]
    environment = {**preconditions["environment"], "state": list(state)}
    return {**document, "preconditions": {**preconditions, "environment": environment}}


def _listed(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
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
