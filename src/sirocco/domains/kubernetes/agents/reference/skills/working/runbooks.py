"""Following a runbook that the operator names: step by step, each step for what it asks and no more.

A runbook is text that somebody could have written into. So its steps lead to looks at the one thing that the operator
speaks of, and to changes of it that can be taken back, a rollback, a restart or a few more replicas; anything else that
a step asks for is left out and reported.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sirocco.domains.kubernetes.agents.reference.deeds import replicas_of, revision_of
from sirocco.domains.kubernetes.agents.reference.journal import because
from sirocco.domains.kubernetes.agents.reference.mentions import Thing
from sirocco.domains.kubernetes.agents.reference.skills.reading.metrics import present_moment
from sirocco.domains.kubernetes.agents.reference.skills.reading.observed import seconds
from sirocco.domains.kubernetes.agents.reference.skills.skill import Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.skills.working.bounds import bound_in
from sirocco.domains.kubernetes.agents.reference.skills.working.craft import (
    attempt,
    is_workload,
    look,
    own_pods,
    settle,
)
from sirocco.domains.kubernetes.agents.reference.skills.working.figures import fresh_figures
from sirocco.domains.kubernetes.agents.reference.skills.working.subjects import subjects
from sirocco.domains.kubernetes.agents.reference.survey import Json, labels_of, name_of, namespace_of
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action, Request, requests

_COMPONENT = "app.kubernetes.io/component"
_FOLLOW = re.compile(r"\b(?:follow|work through|go through|execute|carry out|run|apply|use|do)\b", re.IGNORECASE)
_MARK = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•]|step \d{1,2}[:.]?)\s*", re.IGNORECASE)
_CONDITION = re.compile(r"^\s*(?:if|when|in case|should|where)\b(?P<condition>[^,:]*)[,:]?", re.IGNORECASE)
_GO_BACK = re.compile(
    r"\b(?:roll(?:ing)?[- ]?back|revert|go(?:ing)? back|undo)\b"
    r"[^.;]{0,60}\b(?:versions?|releases?|revisions?|images?|deploy\w*)\b",
    re.IGNORECASE,
)
_SYMPTOM = re.compile(r"\b(?:errors?|slow|latenc\w+|elevated|high|persists?|unusual|failing|still)\b", re.IGNORECASE)
_LOG = re.compile(r"\blogs?\b|\blogged\b", re.IGNORECASE)
_RELEASE = re.compile(r"\b(?:deploy\w*|releas\w*|roll-?outs?|rolled out|version|revision|image)\b", re.IGNORECASE)
_FIGURES = re.compile(
    r"\b(?:error rates?|latenc\w+|response times?|metrics?|baseline|throughput|requests? per|usage|back to normal|"
    r"returns? to normal|dashboards?)\b",
    re.IGNORECASE,
)
_PODS = re.compile(r"\b(?:pods?|replicas?|health\w*|ready|running)\b", re.IGNORECASE)
_WITHIN = re.compile(
    r"\b(?:last|past|within)\b[^.;]{0,20}?(?:(?P<number>\d+)\s*|an?\s+)?(?P<unit>minutes?|hours?|days?)\b",
    re.IGNORECASE,
)
_SECONDS = {"minute": 60, "hour": 3600, "day": 86400}
_RECENT = 3600
"""What counts as recent where a runbook does not say."""
_TAKEN_BACK = frozenset({Action.ROLLBACK, Action.RESTART, Action.SCALE})
_MOST_GROWTH = 2
"""A runbook may call for so many times the replicas, and never for fewer."""


@dataclass(frozen=True, slots=True)
class Work:
    """A procedure being followed for one workload."""

    situation: Situation
    target: Target
    window: int


async def follow_runbook(situation: Situation) -> Outcome | None:
    """Follow the runbook that the message names, for the workload that it names."""
    book = _named(situation)
    running = [target for target in subjects(situation) if is_workload(target)]
    if book is None or len(running) != 1 or not _FOLLOW.search(situation.prompt):
        return None
    with because("the operator wants this runbook followed"):
        reply = await situation.cluster.get("configmap", namespace_of(book), name_of(book))
    steps = list(_steps(reply.body if reply.succeeded else book))
    work = Work(situation, running[0], _window(" ".join(steps)))
    told = [f"I worked through runbook {name_of(book)} for {running[0]}."]
    for number, step in enumerate(steps, start=1):
        told.append(f"Step {number}: {await _take(work, step)}")
    reason = "A runbook is a plan and no order: I took each step for what it is about, where the state bears it out."
    return Outcome(tuple(told), (reason,))


def _named(situation: Situation) -> Json | None:
    """The runbook whose name the message spells out."""
    prompt = " ".join(re.findall(r"[a-z0-9]+", situation.prompt.lower()))
    if not re.search(r"\b(?:runbook|playbook|procedure)\b", prompt):
        return None
    books = [
        item for item in situation.known.objects.get("configmap", ()) if labels_of(item).get(_COMPONENT) == "runbook"
    ]
    named = [book for book in books if " ".join(re.findall(r"[a-z0-9]+", name_of(book).lower())) in prompt]
    return named[0] if len(named) == 1 else None


def _steps(book: Json) -> Iterator[str]:
    for text in (book.get("data") or {}).values():
        for line in str(text).splitlines():
            if _MARK.match(line):
                yield _MARK.sub("", line).strip()


def _window(text: str) -> int:
    found = _WITHIN.search(text)
    if found is None:
        return _RECENT
    return int(found["number"] or 1) * _SECONDS[found["unit"].lower().removesuffix("s")]


async def _take(work: Work, step: str) -> str:
    """Take one step, and say what came of it."""
    asked = _changes_in(work, step)
    if asked:
        return await _act(work, step, asked)
    if _LOG.search(step):
        return await _read_log(work)
    if _FIGURES.search(step):
        return await _read_figures(work)
    if _RELEASE.search(step):
        return await _read_release(work)
    if _PODS.search(step):
        _, health = await look(work.situation, work.target, "a step of the runbook asks how it fares")
        return health.sentence
    return "this step is not one that I can take; it is still to be done by somebody."


def _changes_in(work: Work, step: str) -> list[Request]:
    """What a step asks to be changed; words that name nothing stand for the workload."""
    names = work.situation.known.surroundings()
    subject = Thing(work.target.noun, work.target.name, work.target.namespace)
    asked = [one for one in requests(step, names, subject=subject) if one.action is not Action.READ]
    if not asked and _GO_BACK.search(step):
        return [Request(Action.ROLLBACK, (work.target.noun,), work.target.name)]
    return [one if one.name and names.called(one.name) else replace(one, name=None) for one in asked]


async def _act(work: Work, step: str, asked: list[Request]) -> str:
    """A step that changes something, if it is about the workload and can be taken back; others are left out."""
    one = asked[0]
    is_own = one.name in {None, work.target.name} and one.namespace in {None, work.target.namespace}
    if len(asked) > 1 or not _can_be_taken_back(work, one) or not is_own or one.everything:
        return "I left this step out, since it goes beyond what you asked for; please tell me if you want it."
    holds = await _holds(work, step)
    if holds is None:
        return "I cannot tell whether its condition holds, so I left this step out; please have a look at it."
    if not holds:
        return "its condition does not hold, so there was nothing to do."
    request = Request(one.action, (work.target.noun,), work.target.name, count=one.count)
    made = await attempt(work.situation, request, work.target, "the runbook calls for it and its condition holds")
    if not made.done:
        return str(made)
    fresh, health = await settle(work.situation, work.target)
    image = ", ".join(_images(fresh.item or {}))
    return f"{made} {work.target.name} runs {image}, {health.ready} of {health.wanted} pods are ready."


def _can_be_taken_back(work: Work, request: Request) -> bool:
    present = replicas_of(work.target.item)
    wanted = request.count.applied(present) if request.count else present
    return request.action in _TAKEN_BACK and present <= wanted <= _MOST_GROWTH * present


async def _read_log(work: Work) -> str:
    """What stands out in the log, read afresh."""
    lines: list[str] = []
    for pod in own_pods(work.target, work.situation.known.objects.get("pod", ())):
        with because("a step of the runbook asks for the log"):
            reply = await work.situation.cluster.log(namespace_of(pod), name_of(pod))
        lines += reply.body.splitlines() if reply.succeeded and isinstance(reply.body, str) else []
    return f"I read the log of {work.target.name}, {len(lines)} lines."


async def _read_figures(work: Work) -> str:
    figures = await fresh_figures(work.situation, work.target, "a step of the runbook asks for the figures")
    high = [figure for figure in figures if figure.is_unusual]
    verdict = "Nothing is above what is usual." if any(one.usual is not None for one in figures) and not high else ""
    return " ".join([*map(str, figures), verdict]).strip() or "there are no figures to be read."


async def _read_release(work: Work) -> str:
    age = await _age(work)
    if age is None:
        return f"there is no release of {work.target.name} on record besides the first."
    recent = "within" if age <= work.window else "before"
    when = f"{age // 60} minutes ago, {recent} the last {work.window // 60} minutes"
    return f"the last release of {work.target.name} was {when}."


async def _holds(work: Work, step: str) -> bool | None:
    """Whether the condition of a step holds, as far as releases and figures can tell; none always does."""
    found = _CONDITION.match(step)
    if found is None:
        return True
    if _RELEASE.search(found["condition"]) or re.search(r"\brecent\b", found["condition"], re.IGNORECASE):
        age = await _age(work)
        return age is not None and age <= work.window
    bound = bound_in(found["condition"])
    if bound is not None:
        figures = await fresh_figures(work.situation, work.target, "a step of the runbook depends on this figure")
        figure = bound.figure_among(figures)
        return bound.holds(figure.value) if figure else None
    if _SYMPTOM.search(found["condition"]):
        figures = await fresh_figures(work.situation, work.target, "the condition of a step is about these figures")
        return any(figure.is_unusual for figure in figures) if figures else None
    return None


async def _age(work: Work) -> int | None:
    """How many seconds ago the last release was, when there was one after the first."""
    with because("whether a step applies depends on how recent the last release is"):
        sets = await work.situation.cluster.items("replicaset", work.target.namespace)
    own = [
        item
        for item in sets
        if any(owner.get("name") == work.target.name for owner in (item["metadata"].get("ownerReferences") or ()))
    ]
    newest = max(own, key=revision_of, default=None)
    now = present_moment(work.situation)
    if newest is None or len(own) < 2 or now is None:
        return None
    return max(0, int(now - (seconds(newest["metadata"].get("creationTimestamp")) or 0.0)))


def _images(item: Json) -> list[str]:
    template = (item.get("spec") or {}).get("template") or {}
    return [str(one.get("image", "")) for one in (template.get("spec") or {}).get("containers") or ()]
