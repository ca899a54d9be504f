"""Room for more load: how many replicas are needed, and how many of those fit on the nodes."""

from dataclasses import dataclass
from math import ceil

from kubesim.types.quantity import amount_of
from sirocco.domains.kubernetes.agents.reference.deeds import replicas_of
from sirocco.domains.kubernetes.agents.reference.journal import because
from sirocco.domains.kubernetes.agents.reference.quantities import Count
from sirocco.domains.kubernetes.agents.reference.skills.skill import Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.skills.working.craft import (
    attempt,
    is_workload,
    look,
    own_pods,
    settle,
)
from sirocco.domains.kubernetes.agents.reference.skills.working.health import requested
from sirocco.domains.kubernetes.agents.reference.skills.working.subjects import subjects
from sirocco.domains.kubernetes.agents.reference.skills.working.wishes import wanted_factor
from sirocco.domains.kubernetes.agents.reference.survey import Json, name_of, pod_spec
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action, Request

_OTHER_WORK = frozenset({Action.READ, Action.SCALE})
_RESOURCES = ("cpu", "memory")


@dataclass(frozen=True, slots=True)
class Room:
    """How many more pods of a kind the nodes can take; None where nothing bounds it."""

    more: int | None
    nodes: int


async def make_room(situation: Situation) -> Outcome | None:
    """Scale what has to cope with a multiple of its load."""
    factor = wanted_factor(situation.prompt)
    running = [target for target in subjects(situation) if is_workload(target)]
    if factor is None or len(running) != 1 or any(one.action not in _OTHER_WORK for one in situation.asked):
        return None
    target, _ = await look(situation, running[0], "I need the present number of replicas to work out the new one")
    present = replicas_of(target.item)
    room = await _room(situation, target)
    needed = max(1, ceil(present * factor))
    wanted = needed if room.more is None else min(needed, present + room.more)
    told = [f"{target.name} has {present} replicas; {factor:g} times the load takes {needed}."]
    told += [_said(room, needed, wanted)]
    request = Request(Action.SCALE, (target.noun,), target.name, count=Count(fixed=wanted))
    if wanted == present:
        return Outcome((*told, f"I left {target} as it is."))
    step = await attempt(situation, request, target, "this is the number that the load takes and the nodes can carry")
    if step.done:
        _, health = await settle(situation, target)
        told.append(f"{step} {health.ready} of {health.wanted} pods are ready.")
    else:
        told.append(str(step))
    return Outcome(tuple(told), ("The number follows from the present replicas and the free capacity of the nodes.",))


def _said(room: Room, needed: int, wanted: int) -> str:
    if room.more is None:
        return f"The {room.nodes} nodes set no limit that I can see."
    short = "" if wanted >= needed else f", so I stop at {wanted} and more nodes are needed for the rest"
    return f"The {room.nodes} nodes have room for {room.more} more{short}."


async def _room(situation: Situation, target: Target) -> Room:
    """How many pods of the target fit on the nodes beside what others ask for, less those that it has."""
    with because(f"the pods of {target.name} have to fit on the nodes"):
        nodes = await situation.cluster.items("node", None)
    able = [node for node in nodes if not (node.get("spec") or {}).get("unschedulable")]
    own = {name_of(pod) for pod in own_pods(target, situation.known.objects.get("pod", ()))}
    others = tuple(pod for pod in situation.known.objects.get("pod", ()) if name_of(pod) not in own)
    fits = []
    for resource in _RESOURCES:
        each = amount_of(requested(target, resource))
        if each > 0:
            fits.append(sum(int(_left(node, others, resource) / each + 1e-9) for node in able))
    return Room(max(0, min(fits) - replicas_of(target.item)) if fits else None, len(able))


def _left(node: Json, pods: tuple[Json, ...], resource: str) -> float:
    allocatable = amount_of(str(((node.get("status") or {}).get("allocatable") or {}).get(resource, "0")))
    placed = [pod for pod in pods if (pod.get("spec") or {}).get("nodeName") == name_of(node)]
    asked = (
        amount_of(str((((one.get("resources") or {}).get("requests")) or {}).get(resource, "0")))
        for pod in placed
        for one in pod_spec(pod).get("containers") or ()
    )
    return max(0.0, allocatable - sum(asked))
