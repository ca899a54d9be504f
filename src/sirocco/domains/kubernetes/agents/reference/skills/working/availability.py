"""Surviving the loss of a node: several replicas, on different nodes, with a budget that still lets one be moved."""

from collections.abc import Awaitable, Callable
from typing import Any

from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.agents.client import minimal_object
from sirocco.domains.kubernetes.agents.reference.deeds import replicas_of
from sirocco.domains.kubernetes.agents.reference.quantities import Count
from sirocco.domains.kubernetes.agents.reference.skills.reading.nodes import node_troubles
from sirocco.domains.kubernetes.agents.reference.skills.skill import Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.skills.working.craft import (
    Step,
    attempt,
    attempt_by,
    is_workload,
    patch_pods,
    settle,
)
from sirocco.domains.kubernetes.agents.reference.skills.working.subjects import subjects
from sirocco.domains.kubernetes.agents.reference.skills.working.wishes import wants_survival
from sirocco.domains.kubernetes.agents.reference.survey import Json, namespace_of, pod_spec
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action, Request

_ENOUGH = 3
"""With so many replicas one may fail while another is being moved."""
_HOSTNAME = "kubernetes.io/hostname"


async def outlive_nodes(situation: Situation) -> Outcome | None:
    """Plan and carry out what it takes to outlive a node; what is there already is left alone."""
    running = [target for target in subjects(situation) if is_workload(target)]
    if not wants_survival(situation.prompt) or len(running) != 1:
        return None
    if any(one.action is not Action.READ for one in situation.asked):
        return None
    target = running[0]
    plan = _plan(situation, target)
    if not plan:
        return Outcome((f"{target} is spread over nodes, has enough replicas and a disruption budget already.",))
    ailing = await node_troubles(situation, "pods are to be spread over nodes that can take them")
    listed = "\n".join(f"{number}. {what}" for number, (what, _) in enumerate(plan, start=1))
    told = [f"My plan for {target.name}:\n{listed}\n"]
    told += [f"Nodes in trouble: {', '.join(sorted(ailing))}."] if ailing else []
    for _, take in plan:
        step = await take()
        told.append(str(step))
        if not step.done:
            told.append("I stopped there; the steps after it are still to be done.")
            return Outcome(tuple(told))
    _, health = await settle(situation, target)
    told.append(f"{target.name} now has {health.ready} of {health.wanted} pods ready.")
    return Outcome(tuple(told), ("One pod more is of no use on the same node, so all of these belong together.",))


def _plan(situation: Situation, target: Target) -> list[tuple[str, Callable[[], Awaitable[Step]]]]:
    plan: list[tuple[str, Callable[[], Awaitable[Step]]]] = []
    if not _is_spread(target):
        plan.append(("Spread the pods over different nodes (anti-affinity).", lambda: _spread(situation, target)))
    if replicas_of(target.item) < _ENOUGH:
        plan.append((f"Scale to {_ENOUGH} replicas.", lambda: _multiply(situation, target)))
    if not _has_budget(situation, target):
        plan.append(
            ("Create a disruption budget that lets one pod at a time be moved.", lambda: _budget(situation, target))
        )
    return plan


def _is_spread(target: Target) -> bool:
    spec = pod_spec(target.item or {})
    return bool((spec.get("affinity") or {}).get("podAntiAffinity") or spec.get("topologySpreadConstraints"))


def _has_budget(situation: Situation, target: Target) -> bool:
    labels = _labels(target)
    return any(
        namespace_of(budget) == target.namespace and _selector(budget).items() <= labels.items() and _selector(budget)
        for budget in situation.known.objects.get("pdb", ())
    )


def _selector(budget: Json) -> dict[str, str]:
    return dict(((budget.get("spec") or {}).get("selector") or {}).get("matchLabels") or {})


def _labels(target: Target) -> dict[str, str]:
    return dict((((target.item or {}).get("spec") or {}).get("selector") or {}).get("matchLabels") or {})


async def _spread(situation: Situation, target: Target) -> Step:
    """Nodes are preferred that have no pod of it yet; one that is short of nodes must still be able to start."""
    term = {"labelSelector": {"matchLabels": _labels(target)}, "topologyKey": _HOSTNAME}
    rule = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]}
    return await patch_pods(
        situation, target, "spec.template.spec.affinity.podAntiAffinity", "one pod a node",
        {"affinity": {"podAntiAffinity": rule}}, f"spread the pods of {target} over the nodes",
        "pods on one node are lost with that node",
    )  # fmt: skip


async def _multiply(situation: Situation, target: Target) -> Step:
    request = Request(Action.SCALE, (target.noun,), target.name, count=Count(fixed=_ENOUGH))
    return await attempt(situation, request, target, "a single pod is a single point of failure")


async def _budget(situation: Situation, target: Target) -> Step:
    new = Target("pdb", target.namespace, target.name)
    item: dict[str, Any] = minimal_object("pdb", target.namespace, target.name)
    item["spec"] = {"maxUnavailable": 1, "selector": {"matchLabels": _labels(target)}}

    async def send() -> Reply:
        return await situation.cluster.create("pdb", target.namespace, item)

    request = Request(Action.CREATE, ("pdb",), target.name, target.namespace)
    what = f"create a disruption budget for {target} that lets one pod at a time be moved"
    return await attempt_by(situation, request, new, what, "drained nodes must not take all pods at once", send)
