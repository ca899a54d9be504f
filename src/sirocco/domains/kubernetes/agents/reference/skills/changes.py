"""Changes that the operator spells out: made in their order, only if something differs, and checked afterwards.

Whether readers of a new setting are restarted depends on what the setting is for. A step that fails ends the work: a
change that broke its workload is reverted, and what was left undone is named.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from kubesim.types.quantity import amount_of
from sirocco.domains.kubernetes.agents.reference.deeds import first_container, new_image, replicas_of
from sirocco.domains.kubernetes.agents.reference.journal import because
from sirocco.domains.kubernetes.agents.reference.quantities import Count
from sirocco.domains.kubernetes.agents.reference.sentences import sentence_texts
from sirocco.domains.kubernetes.agents.reference.skills.craft import (
    Step,
    attempt,
    change_text,
    is_workload,
    look,
    named_in,
    own_pods,
    requested_amount,
    settle,
    subjects,
    wanted_factor,
    wants_effect,
)
from sirocco.domains.kubernetes.agents.reference.skills.situation import Course, Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.survey import Json, name_of
from sirocco.domains.kubernetes.agents.reference.targets import Target, targets
from sirocco.domains.kubernetes.agents.reference.understanding import Action, Request

_ROUTINE = frozenset({Action.SET, Action.SCALE, Action.RESTART, Action.ROLLBACK, Action.IMAGE})
_REVERSIBLE = frozenset({Action.IMAGE, Action.SET})


async def requested_changes(situation: Situation) -> Outcome | None:
    """Carry out a message that asks for routine changes of existing objects, and for nothing else."""
    plan = _plan(situation)
    if not plan:
        return None
    answer: list[str] = []
    course = Course.SETTLED
    for number, (request, target) in enumerate(plan):
        told, broken = await _change(situation, request, target)
        answer += told
        if broken:
            left = [change_text(request, later) for request, later in plan[number + 1 :]]
            answer += [f"I stopped there. Still to do: {'; '.join(left)}."] if left else []
            course = Course.BROKEN
            break
    order = "; ".join(change_text(request, target) for request, target in plan)
    return Outcome(tuple(answer), (f"I take these steps in this order, checking each: {order}.",), course)


def _plan(situation: Situation) -> list[tuple[Request, Target]]:
    """The changes in their order, each about one object; none when the message asks for anything else."""
    plan: list[tuple[Request, Target]] = []
    for request in situation.asked:
        if request.action is Action.READ and not request.asks_for_values:
            continue
        meant = targets(request, situation.known, situation.home)
        if request.action not in _ROUTINE or request.everything or not meant:
            return []
        # There are only guesses about something that was not found, and one of them is enough to say so.
        plan += [(request, target) for target in (meant if meant[0].item is not None else meant[:1])]
    if all(target.item is None for _, target in plan):
        return []
    return [*plan, *_restarts(situation, plan)]


def _restarts(situation: Situation, plan: Sequence[tuple[Request, Target]]) -> list[tuple[Request, Target]]:
    """Restarts of workloads that read a new setting only at startup, if the operator wants the setting to take effect.

    Those are the ones named in the same sentence, or else all readers; workloads named elsewhere are not meant.
    """
    settings = [target for request, target in plan if request.action is Action.SET and target.noun == "configmap"]
    wishes = [said for said in sentence_texts(situation.prompt) if wants_effect(said)]
    if not settings or not wishes:
        return []
    named = [target for target in named_in(" ".join(wishes), situation) if is_workload(target)]
    readers = [
        Target(noun, setting.namespace, name_of(item), item)
        for setting in settings
        for noun, item in situation.known.workloads()
        if name_of(item) in situation.known.consumers("configmap", setting.namespace, setting.name)
    ]
    restarted = {str(target) for request, target in plan if request.action is Action.RESTART}
    meant = [target for target in named or readers if str(target) not in restarted]
    return [(Request(Action.RESTART, (one.noun,), one.name), one) for one in meant]


async def _change(situation: Situation, request: Request, target: Target) -> tuple[list[str], bool]:
    """Make one change and check the outcome; returns whether it broke something, or could not be made."""
    if _is_so_already(request, target):
        return [f"{target} is already as you want it, so I left it alone."], False
    step = await attempt(situation, request, target, f"the operator asked me to {request.action.value}")
    if not step.done:
        # What a rule forbids is left out; a failure removes the basis for the rest.
        return [str(step)], not step.is_refused
    if not is_workload(target):
        return [str(step), *await _read_back(situation, request, target)], False
    return await _outcome(situation, request, target, step)


async def _read_back(situation: Situation, request: Request, target: Target) -> list[str]:
    """Whether a setting now has the value that it was given."""
    with because("I want to see whether the new value is there"):
        reply = await situation.cluster.get(target.noun, target.namespace, target.name)
    is_there = reply.succeeded and _is_so_already(request, replace(target, item=reply.body))
    return [f"I read it again, and {request.key} has the new value."] if is_there else []


async def _outcome(situation: Situation, request: Request, target: Target, step: Step) -> tuple[list[str], bool]:
    _, health = await settle(situation, target)
    if health.is_well:
        return [str(step), f"{target.name} is healthy: {health.ready} of {health.wanted} pods are ready."], False
    told = [str(step), f"After that {health.sentence}"]
    if request.action in _REVERSIBLE:
        told += await _taken_back(situation, target)
    return told, True


async def _taken_back(situation: Situation, target: Target) -> list[str]:
    """Go back to the version before, which appears in the history only once there is a newer one."""
    with because(f"the history of {target.name} says what to go back to"):
        sets = await situation.cluster.items("replicaset", target.namespace)
    now = replace(situation, known=replace(situation.known, objects={**situation.known.objects, "replicaset": sets}))
    back = Request(Action.ROLLBACK, (target.noun,), target.name, target.namespace)
    undo = await attempt(now, back, target, f"the change did {target.name} no good")
    _, health = await settle(now, target)
    return [f"So I took the change back. {undo}", f"Now {health.ready} of {health.wanted} pods are ready."]


def _is_so_already(request: Request, target: Target) -> bool:
    """Whether an object is already what the request wants it to be."""
    item = target.item or {}
    match request.action:
        case Action.SET if request.field == "data" and target.noun == "configmap":
            return request.value is not None and (item.get("data") or {}).get(request.key) == request.value
        case Action.SET if request.field in {"labels", "annotations"}:
            held = ((item.get("metadata") or {}).get(request.field) or {}).get(request.key)
            return request.value is not None and held == request.value
        case Action.SCALE if request.count is not None:
            return request.count.applied(replicas_of(item)) == replicas_of(item)
        case Action.IMAGE:
            present = str(first_container(target).get("image", ""))
            return new_image(present, request.value or "") == present
    return False


async def make_room(situation: Situation) -> Outcome | None:
    """Scale what has to handle a multiple of its load, as far as the nodes have room for its pods."""
    factor = wanted_factor(situation.prompt)
    running = [target for target in subjects(situation) if is_workload(target)]
    is_other = any(one.action not in {Action.READ, Action.SCALE} for one in situation.asked)
    if factor is None or len(running) != 1 or is_other:
        return None
    target, _ = await look(situation, running[0], "I need the present number of replicas to work out the new one")
    with because(f"the pods of {target.name} have to fit on the nodes"):
        nodes = await situation.cluster.items("node", None)
    present = replicas_of(target.item)
    needed = max(1, ceil(present * factor))
    wanted = min([needed, *_room(situation, target, nodes)])
    told = f"{target.name} has {present} replicas; {factor:g} times the load takes {needed}, the nodes carry {wanted}."
    request = Request(Action.SCALE, (target.noun,), target.name, target.namespace, count=Count(fixed=wanted))
    answer, broken = await _change(situation, request, target)
    return Outcome((told, *answer), course=Course.BROKEN if broken else Course.SETTLED)


def _room(situation: Situation, target: Target, nodes: Sequence[Json]) -> list[int]:
    """How many pods of a workload fit beside what others request, for each resource that it requests."""
    own = {name_of(pod) for pod in own_pods(target, situation.known.objects.get("pod", ()))}
    others = [pod for pod in situation.known.objects.get("pod", ()) if name_of(pod) not in own]
    able = [node for node in nodes if not (node.get("spec") or {}).get("unschedulable")]
    asked = {resource: amount_of(requested_amount(target, resource)) for resource in ("cpu", "memory")}
    return [
        max(replicas_of(target.item), sum(int(_free_amount(node, others, resource) / each + 1e-9) for node in able))
        for resource, each in asked.items()
        if each > 0
    ]


def _free_amount(node: Json, pods: Sequence[Json], resource: str) -> float:
    whole = amount_of(str(((node.get("status") or {}).get("allocatable") or {}).get(resource, "0")))
    placed = [pod for pod in pods if (pod.get("spec") or {}).get("nodeName") == name_of(node)]
    return max(
        0.0, whole - sum(amount_of(requested_amount(Target("pod", "", "", pod), resource) or "0") for pod in placed)
    )
