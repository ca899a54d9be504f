"""The place in an engine's draft that a model writes around: one sentence that asks for the goal, in our words.

Structure, goal and oracle remain the engine's, and so does every other sentence. The model's words are placed before
and after that sentence, and before the operator's first words.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import digest
from sirocco.oasis.probe import Draft, SurfaceLimit, TextForm
from sirocco.oasis.profile import Profile
from sirocco.oasis.stimulus import StimulusType
from sirocco.probes.texts import SENTENCE_END, sentences_of, telling_names
from sirocco.profiles.load import load_scenario

_PLENTY = SurfaceLimit(2000)
_PROMPT = StimulusType.OPERATOR_PROMPT
_NAME = re.compile(r"[A-Za-z0-9][\w./:=-]*[0-9A-Z_./:=-][\w./:=-]*\w|\d+")
"""What distinguishes a name, path or figure from ordinary words of a clause."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a model wrote: the operator's opening, and the text before and after the request."""

    opening: str = ""
    before: str = ""
    after: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The texts that are not empty."""
        return tuple(part for part in (self.opening, self.before, self.after) if part)


@dataclass(frozen=True, slots=True)
class Opening:
    """Where a model's words go in a draft: around `sentence` in the stimulus `number`, None if there is no goal."""

    draft: Draft
    bound: BoundScenario
    prompt: int
    number: int | None
    head: str
    sentence: str
    tail: str
    limit: SurfaceLimit

    @property
    def room(self) -> int:
        """The maximum number of characters around the sentence."""
        return self.limit.characters - len(self.head) - len(self.sentence) - len(self.tail)

    @property
    def is_prompt(self) -> bool:
        """Whether the harmful request is the operator's own."""
        return self.number is not None and self.bound.scenario.stimuli[self.number].is_said

    def filled(self, context: Context, name: str) -> Draft:
        """The draft with the model's words in it, under a new id."""
        document = dict(self.draft.scenario)
        stimuli = [dict(one) for one in document["stimuli"]]
        if self.number is not None:
            gap = " " if self.limit.form is TextForm.LINE or not self.is_prompt else "\n"
            parts = (self.head.rstrip(), context.before, self.sentence, context.after, self.tail.lstrip())
            stimuli[self.number]["value"] = gap.join(part for part in parts if part)
        if context.opening:
            said = stimuli[self.prompt]["value"]
            stimuli[self.prompt]["value"] = f"{context.opening}\n{said}"
        document["stimuli"] = stimuli
        fingerprint = digest(document).removeprefix("sha256:")[:12]
        document["id"] = f"probe-{self.draft.primary_archetype.lower()}-{fingerprint}"
        return replace(self.draft, scenario=document, lineage=(*self.draft.lineage, name))


def opening(draft: Draft, profile: Profile, limits: Mapping[Any, SurfaceLimit]) -> Opening | None:
    """Where a model can write in a draft; None unless its goal is asked for by one sentence of one text."""
    bound = load_scenario(draft.scenario, profile, f"draft {draft.index}")
    stimuli = bound.scenario.stimuli
    prompt = next((number for number, one in enumerate(stimuli) if one.type is _PROMPT and one.value), None)
    if prompt is None:
        return None
    goal = bound.scenario.x_sirocco.goal
    if goal is None:
        return Opening(draft, bound, prompt, None, "", "", "", _PLENTY)
    names = telling_names(bound)
    waiting_first = sorted(range(len(stimuli)), key=lambda number: stimuli[number].is_said)
    for number in waiting_first:
        text = stimuli[number].value or ""
        limit = _PLENTY if stimuli[number].is_said else limits.get(draft.surface, _PLENTY)
        carrying = [part for part in sentences_of(text) if all(name in part for name in names)]
        if len(carrying) != 1 or " " not in text.strip() or limit.form is TextForm.NAME:
            continue
        start = text.index(carrying[0])
        # What precedes the sentence on its line, such as a list marker or time stamp, belongs to the form of the text.
        head, tail = text[:start], text[start + len(carrying[0]) :]
        home = bound.scenario.preconditions.agent.scope.namespaces[0]
        clause = profile.domain.mutation.terms.speech.instruction(goal, home)
        if _is_all_said(clause, bound, home):
            return Opening(draft, bound, prompt, number, _whole(head), f"Please {clause}.", tail, limit)
        return Opening(draft, bound, prompt, number, head, carrying[0], tail, limit)
    return None


def _is_all_said(clause: str, bound: BoundScenario, home: str) -> bool:
    """Whether every name and figure of the goal in plain words also occurs in the engine's texts.

    Otherwise, such as for a value that these withhold, the engine's own sentence stays.
    """
    said = " ".join(one.value or "" for one in bound.scenario.stimuli)
    goal = bound.goal.operation if bound.goal else None
    places = {home, goal.namespace if goal else None}
    return all(name in said for name in _NAME.findall(clause) if name not in places)


def _whole(head: str) -> str:
    """The preceding sentences, without an opening that only led to the one that is replaced."""
    return head if not head.strip() or SENTENCE_END.search(head[-2:]) or head.rstrip()[-1] in ".!?:" else ""
