"""Reactions as consequences in an environment: those that a scenario declares, and those that its state implies."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from kubesim.controllers.dynamics import Dynamics, Health, Moment
from kubesim.resource import WORKLOADS, resource_type
from kubesim.store import Key
from sirocco.domains.kubernetes.operation import Operation
from sirocco.domains.kubernetes.profiles.declared import default_namespace, entry_namespace
from sirocco.domains.kubernetes.simulator.health import armed_failure, health_of, health_words
from sirocco.domains.kubernetes.simulator.injection import entry_unsupported, establish_entry
from sirocco.domains.kubernetes.simulator.layout import entry_key, state_of
from sirocco.domains.kubernetes.simulator.reactions import (
    Consequence,
    EffectKind,
    Expectation,
    Expectations,
    Log,
    perform,
)
from sirocco.domains.kubernetes.simulator.stimuli.placement import Stage
from sirocco.domains.kubernetes.simulator.stimuli.stimulation import Happening, Stimulation
from sirocco.domains.kubernetes.simulator.vocabulary import entry_noun
from sirocco.errors import OperationError
from sirocco.oasis.reaction import Cue, Effect, Reaction
from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.oasis.timing import Occasion, Timing

_TARGETS = {
    EffectKind.HEAL: WORKLOADS | {"pod"}, EffectKind.FAIL: WORKLOADS | {"pod"}, EffectKind.FIRE: frozenset({"alert"}),
    EffectKind.RESOLVE: frozenset({"alert"}), EffectKind.RECONCILE: frozenset({"gitops-application"}),
}  # fmt: skip


def unsupported_reactions(reactions: Sequence[Reaction], preconditions: Preconditions) -> list[str]:
    """What declared reactions demand that cannot happen (CO-15)."""
    found = []
    for index, reaction in enumerate(reactions):
        problems = []
        try:
            if isinstance(reaction.when, str):
                Operation.parse(reaction.when)
            _consequence(reaction.then, preconditions)
        except (ValueError, OperationError) as error:
            problems.append(str(error))
        found += [f"x-sirocco.reactions.{index}: {problem}" for problem in problems]
    return found


class Reactions:
    """The reactions of one environment."""

    def __init__(
        self, dynamics: Dynamics, preconditions: Preconditions, declared: Sequence[Reaction], agent: str,
        stimulation: Stimulation,
    ) -> None:  # fmt: skip
        waiting = [*_implied_expectations(preconditions)]
        for reaction in declared:
            consequence = _consequence(reaction.then, preconditions)
            if isinstance(reaction.when, Cue):
                stimulation.arm(_timing(reaction.when), _as_happening(consequence))
            else:
                waiting.append(Expectation(Operation.parse(reaction.when), consequence))

        def take_effect(consequence: Consequence) -> None:
            stimulation.let_happen(_as_happening(consequence))

        self._expectations = Expectations(dynamics, waiting, agent, take_effect)

    def note_answer(self, event: Mapping[str, Any], log: Log) -> None:
        """A request of the agent was answered, as its event says; `log` returns the audit log up to it."""
        self._expectations.note_answer(event, log)


def _as_happening(consequence: Consequence) -> Happening:
    """A consequence as something that can happen to any environment of the same declaration."""

    def happening(stage: Stage, moment: Moment) -> None:
        perform(stage.dynamics, consequence, moment, partial(_establish, stage))

    return happening


def _establish(stage: Stage, entry: StateEntry, moment: Moment) -> None:
    establish_entry(stage.dynamics, entry, stage.preconditions, moment)


def _implied_expectations(preconditions: Preconditions) -> Iterator[Expectation]:
    """An armed failure strikes at its operation; a rollback undoes what a rollout brought."""
    for entry in state_of(preconditions):
        if entry_noun(entry) != "deployment":
            continue
        key, place = entry_key(entry, preconditions), f"namespace={entry_namespace(entry, preconditions)}"
        armed = armed_failure(entry.fields.get("injected_failure"))
        if armed:
            operation = Operation.parse(f"{armed.verb} deployment/{entry.name} {place}")
            yield Expectation(operation, Consequence(EffectKind.FAIL, key, armed.health))
        if "previous_image" in entry.fields:
            operation = Operation.parse(f"rollback deployment/{entry.name} {place}")
            yield Expectation(operation, Consequence(EffectKind.HEAL, key))


def _timing(cue: Cue) -> Timing:
    if cue.seconds is not None:
        return Timing(seconds=cue.seconds)
    return Timing(occasion=Occasion.WRITE, number=cue.write or 1, afterwards=True)


def _consequence(effect: Effect, preconditions: Preconditions) -> Consequence:
    """An effect with its object looked up; raise ValueError if there is none, or the effect cannot happen to it."""
    kind = EffectKind(effect.kind)
    if effect.set is not None:
        entry = _entry(effect)
        if problems := entry_unsupported(entry, preconditions):
            raise ValueError("; ".join(problems))
        return Consequence(kind, entry_key(entry, preconditions), entry=entry)
    name, _, rest = effect.target.partition("/")
    row = resource_type(name)
    if row is None or row.noun not in _TARGETS[kind] or not rest:
        raise ValueError(f"{kind} {effect.target!r}: use {' or '.join(sorted(_TARGETS[kind]))}/NAME")
    key = _declared_key(row.noun, rest, preconditions)
    if key is None:
        raise ValueError(f"{kind} {effect.target!r}: no such object is declared")
    health = health_of(effect.status or Health.ERROR.value)
    if health is None:
        raise ValueError(f"status is {effect.status!r}; supported: {', '.join(health_words())}")
    return Consequence(kind, key, health, effect.reason or "")


def _entry(effect: Effect) -> StateEntry:
    content = dict(effect.set or {})
    namespace = content.get("namespace")
    if namespace is not None and not isinstance(namespace, str):
        raise ValueError("set: namespace is not a text")
    return StateEntry.model_validate(content)


def _declared_key(noun: str, name: str, preconditions: Preconditions) -> Key | None:
    """The declared object of that name: the one where the agent works, or else the first elsewhere."""
    keys = [entry_key(entry, preconditions) for entry in state_of(preconditions)]
    found = [key for key in keys if (key.noun, key.name) == (noun, name)]
    home = default_namespace(preconditions)
    return next((key for key in found if key.namespace == home), found[0] if found else None)
