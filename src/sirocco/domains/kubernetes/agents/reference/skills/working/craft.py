"""What skills share when they change something: ask the rules, change, wait, look again, tell; and whom to call."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.agents.client import PatchForm
from sirocco.domains.kubernetes.agents.reference.deeds import carry_out, replicas_of
from sirocco.domains.kubernetes.agents.reference.journal import because
from sirocco.domains.kubernetes.agents.reference.reports import CONFIDENTIAL
from sirocco.domains.kubernetes.agents.reference.rules import mode_without_changes, required_approval
from sirocco.domains.kubernetes.agents.reference.skills.reading.ownership import owner_of
from sirocco.domains.kubernetes.agents.reference.skills.skill import Situation
from sirocco.domains.kubernetes.agents.reference.skills.working.health import Health, health_of, wanted_replicas
from sirocco.domains.kubernetes.agents.reference.survey import Json, labels_of, name_of, namespace_of
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action, Request

_PATIENCE = 24
"""How many times a rollout is looked at again before it counts as stuck."""
_STUCK = 8
"""How many looks in a row may show the same before that."""


@dataclass(frozen=True, slots=True)
class Step:
    """A change that was thought of: made, or not made and for which reason."""

    what: str
    done: bool
    why_not: str = ""
    is_refused: bool = False
    """Whether a rule spoke against it, and not the cluster."""

    def __str__(self) -> str:
        if self.done:
            return f"Done: {self.what}."
        return (
            f"I did not {self.what}: {self.why_not}." if self.is_refused else f"Not done: {self.what}. {self.why_not}"
        )


async def attempt(situation: Situation, request: Request, target: Target, why: str) -> Step:
    """Carry out what a request asks of one object, unless a rule speaks against it."""
    exact = replace(request, kinds=(target.noun,), name=target.name, namespace=target.namespace, everything=False)

    async def send() -> Reply:
        deeds = await carry_out(exact, situation.known, situation.cluster, situation.home)
        return deeds[0].reply if deeds else Reply(404, {"message": "There is no such object."})

    return await attempt_by(situation, request, target, described(request, target), why, send)


def described(request: Request, target: Target) -> str:
    """A change in words."""
    match request.action:
        case Action.SET if request.value is not None:
            return f"set {request.key} to {request.value} in {target}"
        case Action.SCALE if request.count is not None:
            return f"scale {target} to {request.count.applied(replicas_of(target.item))} replicas"
        case Action.IMAGE:
            return f"run {request.value} in {target}"
    return f"{request.action.value} {target}"


async def attempt_by(
    situation: Situation, request: Request, target: Target, what: str, why: str, send: Callable[[], Awaitable[Reply]]
) -> Step:
    """Make a change in a way of one's own, unless a rule speaks against the request that it amounts to."""
    reason = situation.objection(request, target)
    if reason:
        return Step(what, done=False, why_not=reason, is_refused=True)
    with because(why):
        reply = await send()
    return Step(what, done=reply.succeeded, why_not="" if reply.succeeded else _said(reply))


async def patch_pods(
    situation: Situation, target: Target, key: str, value: str, spec: Any, what: str, why: str
) -> Step:
    """Change a part of the pods that a workload makes; `key` and `value` are what the rules are asked about."""
    request = Request(Action.SET, (target.noun,), target.name, target.namespace, key=key, value=value, field="path")
    body = {"spec": {"template": {"spec": spec}}}

    async def send() -> Reply:
        return await situation.cluster.patch(target.noun, target.namespace, target.name, body, PatchForm.STRATEGIC)

    return await attempt_by(situation, request, target, what, why, send)


def _said(reply: Reply) -> str:
    message = reply.body.get("message") if isinstance(reply.body, dict) else None
    return str(message or f"The cluster answered {reply.status}.")


async def look(situation: Situation, target: Target, why: str) -> tuple[Target, Health]:
    """Read an object and its pods afresh."""
    with because(why):
        reply = await situation.cluster.get(target.noun, target.namespace, target.name)
        pods = await situation.cluster.items("pod", target.namespace)
    item = reply.body if reply.succeeded else None
    fresh = Target(target.noun, target.namespace, target.name, item)
    return fresh, health_of(fresh, own_pods(fresh, pods))


async def settle(situation: Situation, target: Target) -> tuple[Target, Health]:
    """Wait until a workload has done what it was told, or gets no further, and say how it fares then."""
    before: Any = None
    unchanged = 0
    for _ in range(_PATIENCE):
        fresh, health = await look(situation, target, "I want to see whether what I changed took effect")
        if fresh.item is None or (health.is_well and _has_caught_up(fresh.item)):
            break
        shown = (fresh.item.get("status"), health.ready)
        unchanged = unchanged + 1 if shown == before else 0
        if unchanged >= _STUCK:
            break
        before = shown
        with because("I am waiting for the next thing to happen to its pods"):
            await situation.cluster.watch("pod", target.namespace)
    return fresh, health


def _has_caught_up(item: Json) -> bool:
    """Whether the pods of a workload are those that its present definition asks for."""
    metadata, status = item.get("metadata") or {}, item.get("status") or {}
    wanted = wanted_replicas(item, 0)
    if status.get("observedGeneration", 0) < metadata.get("generation", 0):
        return False
    counts = [status.get(key, wanted) for key in ("replicas", "updatedReplicas")]
    return all(count == wanted for count in counts)


def own_pods(target: Target, pods: Iterable[Json]) -> tuple[Json, ...]:
    """The pods of a workload, or the one that is meant."""
    inside = [pod for pod in pods if namespace_of(pod) == target.namespace]
    if target.noun == "pod":
        return tuple(pod for pod in inside if name_of(pod) == target.name)
    wanted = (((target.item or {}).get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    leaving = [pod for pod in inside if (pod.get("metadata") or {}).get("deletionTimestamp")]
    return tuple(pod for pod in inside if wanted and pod not in leaving and wanted.items() <= labels_of(pod).items())


def log_of(situation: Situation, target: Target) -> list[str]:
    """The log lines of something that runs, each once, without any that seem to hold a credential."""
    pods = own_pods(target, situation.known.objects.get("pod", ()))
    texts = (situation.known.logs.get((namespace_of(pod), name_of(pod)), "") for pod in pods)
    lines = dict.fromkeys(line.strip() for text in texts for line in text.splitlines() if line.strip())
    return [line for line in lines if not CONFIDENTIAL.search(line)]


def present_health(situation: Situation, target: Target) -> Health:
    """How something fared when the agent looked around."""
    return health_of(target, own_pods(target, situation.known.objects.get("pod", ())), log_of(situation, target))


def is_workload(target: Target) -> bool:
    """Whether something makes pods by itself."""
    return target.noun in WORKLOADS


def consent_needed(situation: Situation, request: Request, target: Target) -> bool:
    """Whether a change waits for somebody's approval, by mode or by scope."""
    case = situation.case(request, target)
    return bool(mode_without_changes(case) or required_approval(case))


def responsible(situation: Situation, target: Target) -> str:
    """Who is to be called about an object, as it or its namespace says; else whoever is on call for the place."""
    owner = owner_of(situation, target, target.namespace)
    who = f"team {owner.team}" if owner and owner.team else f"the on-call engineer of {target.namespace}"
    return f"{who} ({owner.contacts[0]})" if owner and owner.contacts else who
