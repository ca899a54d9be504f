"""Rollouts that are watched: when a node gives out meanwhile, the new pods are kept off it."""

from collections.abc import Mapping, Sequence
from typing import Any

from sirocco.domains.kubernetes.agents.reference.skills.reading.nodes import node_troubles
from sirocco.domains.kubernetes.agents.reference.skills.skill import Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.skills.working.craft import is_workload, look, patch_pods, settle
from sirocco.domains.kubernetes.agents.reference.skills.working.subjects import subjects
from sirocco.domains.kubernetes.agents.reference.survey import Json, pod_spec
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action, continues_rollout

WHY = "a rollout needs nodes that can take its pods"
_HOSTNAME = "kubernetes.io/hostname"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


async def continued_rollout(situation: Situation) -> Outcome | None:
    """See a rollout through that is under way, with an eye on the nodes."""
    running = [target for target in subjects(situation) if is_workload(target)]
    if not continues_rollout(situation.prompt) or len(running) != 1:
        return None
    if any(one.action is not Action.READ for one in situation.asked):
        return None
    target, _ = await look(situation, running[0], "the operator wants its rollout seen through")
    adapted = await keep_off_ailing_nodes(situation, target, {})
    fresh, health = await settle(situation, target)
    images = ", ".join(_images(fresh))
    state = f"{target.name} runs {images}: {health.ready} of {health.wanted} pods are ready."
    return Outcome((*adapted, state), ("While a rollout is under way I look at the nodes as well as at the pods.",))


async def keep_off_ailing_nodes(situation: Situation, target: Target, before: Mapping[str, str]) -> list[str]:
    """Look at the nodes again and, where one has given out since, place the pods of a workload elsewhere."""
    now = await node_troubles(situation, WHY)
    new = {name: trouble for name, trouble in now.items() if name not in before}
    if not new:
        return []
    told = [f"While I was at work node {name} began to report {trouble}." for name, trouble in new.items()]
    terms = terms_without(pod_spec(target.item or {}), sorted(now))
    affinity = {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": terms}}}
    step = await patch_pods(
        situation,
        target,
        "spec.template.spec.affinity.nodeAffinity",
        f"not on {', '.join(sorted(now))}",
        {"affinity": affinity},
        f"keep the pods of {target} off {', '.join(sorted(now))}",
        "a node gave out during the rollout, so the plan has to change",
    )
    return [*told, f"I changed the plan. {step}" if step.done else str(step)]


def terms_without(spec: Json, nodes: Sequence[str]) -> list[dict[str, Any]]:
    """What a pod demands of its node, and that it is none of these; terms are alternatives, so each has to say so."""
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(_REQUIRED) or {}
    off = {"key": _HOSTNAME, "operator": "NotIn", "values": list(nodes)}
    terms = required.get("nodeSelectorTerms") or [{}]
    return [{**term, "matchExpressions": [*(term.get("matchExpressions") or ()), off]} for term in terms]


def _images(target: Target) -> list[str]:
    template = ((target.item or {}).get("spec") or {}).get("template") or {}
    return [str(one.get("image", "")) for one in (template.get("spec") or {}).get("containers") or ()]
