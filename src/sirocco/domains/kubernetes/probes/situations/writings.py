"""Texts of a situation that do not carry its goal: orders, remarks of no consequence, and what harmless requests bring.

They stand in the same places and are worded by the same grammar as texts that carry a goal.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from sirocco.domains.kubernetes.operation import Operation
from sirocco.domains.kubernetes.probes import places
from sirocco.domains.kubernetes.probes.places import KEYS
from sirocco.domains.kubernetes.probes.situations.cluster import Cluster
from sirocco.domains.kubernetes.probes.situations.telling import Voice
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.archetype import Archetype, Carrier
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.operation import ALL, ANY
from sirocco.oasis.probe import BENIGN_TWIN
from sirocco.oasis.scenario import Goal
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.oasis.stimulus import StimulusType
from sirocco.probes.language.acts import Ask, Motive, Remark, Thing
from sirocco.probes.mutation.edits import with_goal
from sirocco.probes.mutation.transplant import surfaces_for, with_corroboration

_TICKETS = ("request", "ticket", "handover", "errands", "worklist", "change")
_GUIDES = ("guide", "handbook", "steps", "procedure", "playbook")
_LADDER = "ladder"
_WORDING_FROM = 300
"""The turn from which operators word things and leave alone what is so."""
_SHARE_WITH_TEXT = 0.9
"""How often a text asks for the same where it could: compositions with a danger are often without one (SI-09)."""
_QUIET_SURFACES = tuple(one for one in places.SURFACES if one not in {Surface.TOOL_ERRORS, Surface.ADMISSION_MESSAGES})
"""Those on which a text needs nothing to fail or to be written."""


def add_order(cluster: Cluster, voice: Voice, operations: Sequence[str]) -> Declared:
    """Work that is written down in a runbook or a ticket."""
    acts = [act for one in operations for act in _written(voice, one)]
    about = Operation.parse(operations[0]).name
    if cluster.dice.random() < 0.5:
        # Other names may be given to everything later: a text calls things by their whole names.
        topic = cluster.home if about in {ALL, ANY} else about
        return cluster.add("runbook", cluster.name_with(*_GUIDES), content=voice.text("runbook", acts, topic))
    name = cluster.name_with(*_TICKETS)
    key = cluster.dice.choice(KEYS[Surface.CONFIGMAP_VALUES])
    return cluster.add("configmap", name, data={key: voice.text("ticket", acts, name)})


def add_remarks(cluster: Cluster, voice: Voice, avoid: Collection[str]) -> None:
    """Add texts that ask for nothing to some of the objects that nothing depends on."""
    dice = cluster.dice
    running = [one for one in cluster.find("deployment") if one.resource not in avoid]
    for _ in range(dice.choice((0, 0, 1, 1, 2))):
        if running:
            dice.choice(_REMARKS)(cluster, voice, running.pop(dice.randrange(len(running))))


def _annotation(cluster: Cluster, voice: Voice, entry: Declared) -> None:
    key = cluster.dice.choice(KEYS[Surface.ANNOTATIONS])
    said = voice.text("note", [Remark("note", Thing("deployment", entry.name))], entry.name)
    cluster.change(entry, annotations={key: said})


def _log(cluster: Cluster, voice: Voice, entry: Declared) -> None:
    idle = Remark("chatter", Thing("deployment", entry.name))
    lines = [voice.text("chatter", [idle], entry.name) for _ in range(cluster.dice.randint(1, 3))]
    cluster.add("logs", entry.name, entry.namespace, entries=lines)


def _setting(cluster: Cluster, voice: Voice, entry: Declared) -> None:
    settings = cluster.add_settings(entry, count=cluster.dice.randint(1, 2))
    key = cluster.dice.choice(KEYS[Surface.CONFIGMAP_VALUES])
    said = voice.text("note", [Remark("note", Thing("deployment", entry.name))], entry.name)
    cluster.change(settings, data={**settings.fields["data"], key: said})


_REMARKS: tuple[Callable[[Cluster, Voice, Declared], None], ...] = (_annotation, _log, _setting)


def _written(voice: Voice, operation: str) -> list[Ask | Motive]:
    deed = voice.deed(Operation.parse(operation))
    return [Ask(deed), Motive.of(deed)] if voice.dice.random() < 0.3 else [Ask(deed)]


@dataclass(frozen=True, slots=True)
class Dressing:
    """What operators put around wrong requests of an archetype, around right ones.

    A right request stands in for the goal while the operators of the kit work on the scenario. They say and place what
    they would for a wrong one; what is checked stays as it was. So nothing that they add tells of a goal (SI-09).
    """

    terms: Terms
    operators: tuple[Operator, ...]
    form: Archetype
    """The archetype whose wrong requests the right ones look like."""
    forms: Sequence[Archetype]
    """All archetypes that it could be."""

    def apply(
        self, draft: ScenarioDraft, asked: Sequence[Goal], dice: Dice, *, is_quiet: bool, is_laddered: bool
    ) -> ScenarioDraft:
        """The scenario with a text that asks for the same where there is a place for it, and words around a request.

        Turns come before it only where it may be `is_laddered`.
        """
        goal = self._sayable(asked)
        if goal is None:
            return draft
        dressed = with_goal(draft, goal)
        if (surfaces := self._surfaces(dressed, is_quiet=is_quiet)) and dice.random() < _SHARE_WITH_TEXT:
            dressed = with_corroboration(self.terms, dressed, dice.choice(surfaces), dice)
        operator = self._suited_operator(dressed, dice)
        is_possible = operator is not None and (is_laddered or operator.name != _LADDER)
        if operator is not None and is_possible and operator.turn >= _WORDING_FROM and not operator.is_plain:
            dressed = operator.apply(dressed, dice.choice(operator.choices(dressed, self.form)), dice)
        extension = replace(draft.extension, task=dressed.extension.task)
        return replace(draft, preconditions=dressed.preconditions, stimuli=dressed.stimuli, extension=extension)

    def _sayable(self, asked: Sequence[Goal]) -> Goal | None:
        """The first of the requests that can be said in writing, which is the one in question if possible."""
        return next((one for one in asked if self.terms.speech.is_sayable(one)), None)

    def _surfaces(self, draft: ScenarioDraft, *, is_quiet: bool) -> list[Surface]:
        """Where texts of the form's archetype may wait, as far as there is a place that does not spoil the work."""
        shape, task = self.form.shape, draft.extension.task or ()
        allowed = shape.surfaces if shape is not None and StimulusType.ENVIRONMENTAL_STATE in shape.stimuli else ()
        found = [Surface(one) for one in surfaces_for(self.terms, draft, allowed)]
        if is_quiet:
            found = [one for one in found if one in _QUIET_SURFACES]
        if any(step.startswith("rollback ") for step in task):
            # A variable on the present version would make the earlier one another.
            found = [one for one in found if one != Surface.ENV_VALUES]
        owner = places.host(draft, Surface.TOOL_ERRORS)
        if owner is None or any(step.startswith(f"list {owner.kind}/") for step in task):
            # The first read of the object fails, and a list of its kind is one.
            found = [one for one in found if one != Surface.TOOL_ERRORS]
        return found

    def _suited_operator(self, draft: ScenarioDraft, dice: Dice) -> Operator | None:
        """One of the operators that a plan could ask for with such a request.

        A plan tries all techniques about equally often, so one that suits only few archetypes is frequent among these.
        """
        offered = [one for one in self.operators if one.is_offered and one.technique != BENIGN_TWIN]
        suited = [one for one in offered if one.choices(draft, self.form)]
        alike = [one for one in self.forms if _carrier(one) is _carrier(self.form)]
        strange = next((one for one in self.forms if _carrier(one) is not _carrier(self.form)), None)
        often = max(1, round(len(self.forms) / len(alike)))
        weighted = [
            one for one in suited for _ in range(1 if strange is None or one.choices(draft, strange) else often)
        ]
        return dice.choice(weighted) if weighted else None


def _carrier(archetype: Archetype) -> Carrier | None:
    return archetype.shape.carrier if archetype.shape is not None else None
