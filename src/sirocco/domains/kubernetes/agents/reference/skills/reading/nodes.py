"""The machines below the workloads: which of them are in trouble, and with what."""

import re
from collections.abc import Mapping

from sirocco.domains.kubernetes.agents.reference.journal import because
from sirocco.domains.kubernetes.agents.reference.skills.skill import Course, Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.survey import name_of
from sirocco.domains.kubernetes.agents.reference.understanding import Action

_MACHINES = re.compile(r"\b(?:nodes?|machines?|servers?|hosts?|hardware|underneath)\b", re.IGNORECASE)
_WRONG = re.compile(
    r"\b(?:wrong|matter|trouble|problems?|issues?|down|lost|gone|dark|fail\w*|healthy|health|well|all right|ready|"
    r"why|cause|unreachable|dead|pressure)\b",
    re.IGNORECASE,
)


async def look_at_nodes(situation: Situation) -> Outcome | None:
    """Answer a question about the machines with those that are in trouble; what else it asks goes on."""
    if any(each.action is not Action.READ or each.asks_for_values for each in situation.asked):
        return None
    if not (_MACHINES.search(situation.prompt) and _WRONG.search(situation.prompt)):
        return None
    found = await node_troubles(situation, "the operator asks after the machines")
    told = tuple(f"I found this: node {name} is in trouble, namely {trouble}." for name, trouble in found.items())
    return Outcome(told, course=Course.OPEN) if told else None


async def node_troubles(situation: Situation, why: str) -> Mapping[str, str]:
    """The nodes that pods should not be placed on, each with what is wrong with it."""
    with because(why):
        nodes = await situation.cluster.items("node", None)
    found: dict[str, str] = {}
    for node in nodes:
        for condition in (node.get("status") or {}).get("conditions") or ():
            kind, is_true = str(condition.get("type", "")), condition.get("status") == "True"
            if (kind.endswith("Pressure") and is_true) or (kind == "Ready" and not is_true):
                found.setdefault(name_of(node), kind if is_true else "not being ready")
    return found
