"""Deciding by what is measured: a condition is looked up, in metrics or pods, and one of two ways is gone."""

import re
from dataclasses import dataclass, replace

from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.agents.reference.deeds import previous_template, replicas_of
from sirocco.domains.kubernetes.agents.reference.mentions import Thing
from sirocco.domains.kubernetes.agents.reference.skills.skill import Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.skills.working.bounds import Bound, bound_in
from sirocco.domains.kubernetes.agents.reference.skills.working.craft import (
    attempt,
    attempt_by,
    described,
    is_workload,
    look,
    settle,
)
from sirocco.domains.kubernetes.agents.reference.skills.working.figures import fresh_figures
from sirocco.domains.kubernetes.agents.reference.skills.working.subjects import named_in, subjects
from sirocco.domains.kubernetes.agents.reference.survey import name_of, namespace_of
from sirocco.domains.kubernetes.agents.reference.targets import Target, targets
from sirocco.domains.kubernetes.agents.reference.understanding import Action, Request, requests

_IF = re.compile(
    r"\b(?:if|in case|should(?= (?:it|they|this|that|the)\b))\b"
    r"(?P<condition>[^,.;:!?]{0,160}(?:\.\d[^,.;:!?]{0,160})?)[,:]\s*(?:then\s+)?(?P<deed>[^.;!?]{1,300})",
    re.IGNORECASE,
)
_ELSE = re.compile(r"\b(?:otherwise|or else|else)\b,?\s*(?P<deed>[^.;!?]{1,300})", re.IGNORECASE)
_CUT = re.compile(r",?\s*\b(?:otherwise|or else|else)\b.*", re.IGNORECASE | re.DOTALL)
_NEGATED = re.compile(
    r"\b(?:not|isn't|doesn't|aren't|unhealthy|unready|fails?|failing|broken|too high|worse|no)\b", re.IGNORECASE
)
_ON_HEALTH = re.compile(r"\b(?:healthy|unhealthy|ready|running|up|available|well)\b", re.IGNORECASE)
_NOTHING = re.compile(r"\b(?:leave|keep|do nothing|nothing|tell me|report)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fork:
    """A condition, a bound on a figure or the health of pods, and what to do when it holds and when not."""

    bound: Bound | None
    if_so: str
    if_not: str


async def take_fork(situation: Situation) -> Outcome | None:
    """Find out how what an order depends on stands, and do what the message says for that case."""
    fork = fork_in(situation.prompt)
    measured = _measured(situation, fork) if fork else None
    if fork is None or measured is None:
        return None
    told, holds = await _condition(situation, measured, fork)
    if holds is None:
        return Outcome((told, "I changed nothing; please tell me how to decide."))
    chosen = fork.if_so if holds else fork.if_not
    deeds = await _do(situation, measured, chosen)
    return Outcome((told, *deeds), (f"{told} So I take this way: {chosen.strip() or 'nothing to do'}.",))


def fork_in(text: str) -> Fork | None:
    """The condition of a message with its two ways; a bound inside of an "if" is what that "if" asks."""
    bound = bound_in(text)
    branches = [(one, _CUT.sub("", one["deed"])) for one in _IF.finditer(text)]
    otherwise = _ELSE.search(text)
    asked = next(
        (one for one in branches if bound and one[0].start("condition") <= bound.place < one[0].end("condition")), None
    )
    if asked:
        others = [deed for one, deed in branches if one is not asked[0]]
        return Fork(bound, asked[1], otherwise["deed"] if otherwise else next(iter(others), ""))
    so = next((deed for one, deed in branches if not _NEGATED.search(one["condition"])), None)
    negated = next((deed for one, deed in branches if _NEGATED.search(one["condition"])), None)
    not_so = negated if negated is not None else otherwise["deed"] if otherwise else None
    if (so is None and negated is None) or (bound and not_so is None):
        return None
    on_health = any(_ON_HEALTH.search(one["condition"]) for one, _ in branches)
    return Fork(bound, so or "", not_so or "") if bound or on_health else None


def _measured(situation: Situation, fork: Fork) -> Target | None:
    """What the condition is about: the one thing that the words around the bound name, or else the message."""
    near = named_in(fork.bound.about, situation) if fork.bound else ()
    for found in (near, subjects(situation)):
        running = [target for target in found if is_workload(target)]
        if len(running) == 1:
            return running[0]
    return None


async def _condition(situation: Situation, target: Target, fork: Fork) -> tuple[str, bool | None]:
    """How the condition stands, in words; None when nothing shows it."""
    if fork.bound is None:
        _, health = await look(situation, target, "what I am to do depends on how it fares")
        state = "healthy" if health.is_well else "unhealthy"
        return f"{target.name} is {state}: {health.ready} of {health.wanted} pods are ready.", health.is_well
    figures = await fresh_figures(situation, target, "what I am to do depends on this figure")
    figure = fork.bound.figure_among(figures)
    if figure is None:
        known = ", ".join(one.words for one in figures) or "none"
        return f"I cannot tell whether the condition holds: of {target} I find these figures: {known}.", None
    return fork.bound.judgement(target.name, figure), fork.bound.holds(figure.value)


async def _do(situation: Situation, measured: Target, order: str) -> list[str]:
    """Carry out the chosen way; what it does not name is the thing that was measured."""
    subject = Thing(measured.noun, measured.name, measured.namespace)
    names = situation.known.surroundings()
    asked = [one for one in requests(order, names, subject=subject) if one.action is not Action.READ]
    if not asked and (not order.strip() or _NOTHING.search(order)):
        return ["So there was nothing to change."]
    if len(asked) != 1:
        return [f"I could not tell what to do then ({order.strip()}); please name one change."]
    target = _target(situation, asked[0], measured)
    request = replace(asked[0], kinds=(target.noun,), name=target.name)
    if request.action is Action.ROLLBACK and previous_template(target, situation.known) is None:
        return await _withdraw(situation, target, request)
    step = await attempt(situation, request, target, "what I measured calls for this way")
    if not step.done or not is_workload(target):
        return [str(step)]
    _, health = await settle(situation, target)
    return [str(step), f"{target.name} has {health.ready} of {health.wanted} pods ready."]


def _target(situation: Situation, request: Request, measured: Target) -> Target:
    """What a way is about: another thing only where it names one that exists and is not a part of the measured name."""
    if request.name is None or request.everything or request.name in measured.name.split("-"):
        return measured
    found = [one for one in targets(request, situation.known, situation.home) if one.item is not None]
    return found[0] if found else measured


async def _withdraw(situation: Situation, target: Target, request: Request) -> list[str]:
    """Going back for something that was never anything else is taking it away, where another does its work."""
    others = [
        name_of(item)
        for noun, item in situation.known.workloads()
        if noun == target.noun and namespace_of(item) == target.namespace
        and target.name.startswith(f"{name_of(item)}-") and replicas_of(item) > 0
    ]  # fmt: skip
    if not others:
        reason = "it has no earlier version; please tell me what to do with it"
        return [f"I did not {described(request, target)}: {reason}."]

    async def send() -> Reply:
        return await situation.cluster.scale(target.noun, target.namespace, target.name, 0)

    what = f"take {target} out by scaling it to zero, while {others[0]} goes on"
    step = await attempt_by(situation, request, target, what, "it has no version to go back to", send)
    if step.done:
        await settle(situation, target)
    return [str(step)]
