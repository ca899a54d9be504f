"""What is said in a situation: errands and the goal as speech acts, turn by turn, and orders that wait in writing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.domains.kubernetes.probes.render import ClusterSpeech, Value, cluster_material, operation_deed
from sirocco.domains.kubernetes.probes.situations.dangers import Plot
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis import mutation
from sirocco.oasis.mutation import Dice
from sirocco.oasis.operation import ALL
from sirocco.probes.language.acts import (
    Act,
    Aside,
    Ask,
    Claim,
    Deed,
    Greeting,
    Motive,
    Report,
    TextPlan,
    Thing,
)
from sirocco.probes.language.material import Material
from sirocco.probes.language.rendering import render_text
from sirocco.probes.language.speech import remedy

_REGISTERS = ("plain", "plain", "terse", "polite", "chatty", "formal", "hurried")
_SURFACES = frozenset(Surface)
_LONGEST_TEXT = 4000
_TROUBLED = WORKLOADS | {"service", "ingress"}
"""What something can be the matter with as people see it."""
_LOOKS = frozenset({"check", "log"})
"""What people ask for whatever is the matter with a thing."""
_SHARE_OF_PLACES = 0.65
"""How often the agent's own namespace is said; any other always is."""


def own_material(given: mutation.Material | None) -> Material:
    """Material that came by way of the standard's layers, or else the public one."""
    if given is None:
        return cluster_material()
    if not isinstance(given, Material):
        raise TypeError(f"{type(given).__name__} is not material for texts")
    return given


@dataclass(frozen=True, slots=True)
class Voice:
    """The operator of a situation: how they speak, what their business is, and the agent's namespace."""

    material: Material
    dice: Dice
    home: str
    trade: str
    register: str

    @classmethod
    def draw(cls, material: Material, dice: Dice, home: str, trade: str) -> "Voice":
        """Somebody of that trade."""
        return cls(material, dice, home, trade, dice.choice(_REGISTERS))

    def words(self, channel: str, *acts: Act) -> str:
        """A text of the operator's."""
        plan = TextPlan(channel, acts, register=self.register, trade=self.trade)
        return render_text(plan, self.material, self.dice).text

    def text(self, channel: str, acts: Sequence[Act], about: str) -> str:
        """A text of somebody else's that stands somewhere in the cluster."""
        register = self.dice.choice(self.material.tongue("en").rules.get(f"register.{channel}", _REGISTERS))
        limit, is_line = ClusterSpeech(self.material).room(channel) if channel in _SURFACES else (_LONGEST_TEXT, False)
        plan = TextPlan(
            channel, tuple(acts), register=register, trade=self.trade, about=about, limit=limit, one_line=is_line
        )
        return render_text(plan, self.material, self.dice).text

    def turn(self, requests: Sequence[Sequence[Act]], *, is_first: bool, is_last: bool) -> str:
        """One message with several requests, each with what is said about it."""
        dice = self.dice
        # What is said last may get more sentences before and after it, which would stand outside of a greeting.
        greeting = [Greeting()] if is_first and not is_last and dice.random() < 0.4 else []
        aside = [Aside()] if is_first and dice.random() < 0.2 else []
        return self.words("prompt", *greeting, *aside, *(act for request in requests for act in request))

    def request(self, operation: str) -> list[Act]:
        """A request for an operation, sometimes with what is the matter or why."""
        deed = self.deed(Operation.parse(operation))
        chance = self.dice.random()
        if chance < 0.25 and (trouble := self._trouble(deed)):
            return [trouble, Ask(deed)]
        return [Ask(deed), Motive.of(deed)] if chance < 0.5 else [Ask(deed)]

    def _trouble(self, deed: Deed) -> Report | None:
        """What is the matter, where people would ask for the deed because of that; the request names it in full."""
        if deed.thing.kind not in _TROUBLED or not deed.thing.name:
            return None
        if deed.sense in _LOOKS:
            return Report(Thing("", deed.thing.name), deed.thing.kind)
        return remedy(self.material.tongue("en"), self.register, deed)

    def plot(self, plot: Plot) -> list[Act]:
        """The steps that lead to a request, and the request itself with what is claimed to make it acceptable."""
        # Nobody asks for a look at what they want to be told all about.
        told = plot.asks.about
        steps = [step for step in plot.task if not told or told not in step.split()]
        first = [act for before, step in zip(("", *steps), steps, strict=False) for act in self._step(step, before)]
        before, after = (
            [Claim(*kind.split(".", 1)) for kind in said] for said in (plot.asks.claims, plot.asks.afterwards)
        )
        return [*first, *before, *self._goal_request(plot, is_explained=bool(before)), *after]

    def _step(self, operation: str, before: str) -> list[Act]:
        """The request for a step; a look at what the step before it changed is a check of that."""
        words, earlier = operation.split(), before.split()
        if words[0] == "get" and earlier and earlier[0] != "get" and words[1] == earlier[1]:
            thing = self.deed(Operation.parse(operation)).thing
            return [Ask(Deed("confirm", replace(thing, kind="", place=None)))]
        return self.request(operation)

    def _goal_request(self, plot: Plot, *, is_explained: bool) -> list[Act]:
        asks, goal = plot.asks, plot.goal
        if asks.sense:
            kind, _, name = asks.about.partition("/")
            thing = Thing(kind, None if name == ALL else name, self._place(None))
            return [Ask(Deed(asks.sense, thing, asks.slots))]
        if goal.output is None and is_explained:
            return [Ask(self.deed(Operation.parse(goal.operation or "")))]
        if goal.output is None:
            return self.request(goal.operation or "")
        value = Value.from_reference(goal.output, self.home)
        return [Ask(Deed("reveal", Thing(value.kind, value.name, self._place(None)), {"key": value.key}))]

    def deed(self, operation: Operation) -> Deed:
        """What an operation does, as this operator says it."""
        deed = operation_deed(operation, self.home)
        # A log is asked of the pods that run now; people speak of what runs them.
        kind = "deployment" if operation.verb is Verb.LOG and operation.resource == "pod" else deed.thing.kind
        sense = "check" if operation.verb is Verb.GET and kind in WORKLOADS else deed.sense
        place = self._place(deed.thing.place) if deed.thing.place else None
        return replace(deed, sense=sense, thing=replace(deed.thing, kind=kind, place=place))

    def _place(self, namespace: str | None) -> str | None:
        if namespace not in {None, self.home}:
            return namespace
        return self.home if self.dice.random() < _SHARE_OF_PLACES else None
