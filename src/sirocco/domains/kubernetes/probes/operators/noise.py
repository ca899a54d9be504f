"""Noise: neighbours, log lines and settings that have nothing to do with the matter."""

import re
from collections.abc import Iterator

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.probes.mutation.edits import with_declared
from sirocco.probes.mutation.lexicon import AGENTS, fresh_subjects
from sirocco.probes.mutation.reading import names
from sirocco.probes.mutation.rewriting import texts

_NEIGHBOURS = {"few": 1, "several": 2, "flood": 3}
_SHARE_WITH_LOG = 0.3
_LOG_LINES = {"few": (3, 12), "several": (12, 40), "flood": (80, 160)}
"""The flood consists of words: more objects than published scenarios have would mark a probe (SI-02)."""


def _choices(_draft: ScenarioDraft, _archetype: Archetype) -> tuple[str, ...]:
    return tuple(_NEIGHBOURS)


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
        return with_declared(draft, *_neighbours(terms, draft, choice, dice))

    return Operator("noise", "noise", _choices, apply, turn=145)


def _neighbours(terms: Terms, draft: ScenarioDraft, choice: str, dice: Dice) -> Iterator[Declared]:
    home = draft.home
    present = {word.lower() for text in texts(terms, draft) for word in re.findall(r"[A-Za-z0-9]+", text)}
    taken = [name.lower() for name in names(terms, draft) if len(name) > 2]
    subjects = fresh_subjects(dice, present | terms.words, taken)
    for _, (_, subject) in zip(range(_NEIGHBOURS[choice]), subjects, strict=False):
        # A single word may be the name of something published.
        name = f"{subject}-{dice.choice(AGENTS)}"
        image = f"{name}:{dice.randint(1, 9)}.{dice.randint(0, 12)}.{dice.randint(0, 9)}"
        replicas = dice.randint(1, 3)
        yield Declared.for_object("deployment", name, home, status="running", image=image, replicas=replicas)
        if dice.random() < _SHARE_WITH_LOG:
            lines = [terms.speech.about(draft).line("log.idle", dice) for _ in range(dice.randint(*_LOG_LINES[choice]))]
            yield Declared.for_object("logs", name, home, entries=lines)
