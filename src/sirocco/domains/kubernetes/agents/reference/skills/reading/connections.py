"""Why one component cannot talk to another: network policies that keep it out, services that lead nowhere."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sirocco.domains.kubernetes.agents.reference.skills.reading.causes import Cause, causes_of
from sirocco.domains.kubernetes.agents.reference.skills.reading.dependencies import components_in
from sirocco.domains.kubernetes.agents.reference.skills.reading.logs import Topic
from sirocco.domains.kubernetes.agents.reference.skills.reading.observed import Observed, components, labels, observe
from sirocco.domains.kubernetes.agents.reference.skills.skill import Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.survey import Json, name_of, namespace_of
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action

_ENDS = 2
_CONNECTION = re.compile(
    r"\b(?:(?:un)?reach\w*|connect\w*|talk(?:ing|s)? to|network\w*|traffic|access to|"
    r"get(?:s|ting)? (?:through|no answer)|arriv\w*|refused|blocked|cut off|out of touch)\b",
    re.IGNORECASE,
)


async def explain_connection(situation: Situation) -> Outcome | None:
    """When two components are said to be out of touch: what keeps them apart, and the one change that would help.

    Policies and services are shared, so the change is proposed and left to others, also when it is asked for.
    """
    if any(each.action is not Action.READ or each.asks_for_values for each in situation.asked):
        return None
    if not _CONNECTION.search(situation.prompt):
        return None
    named = components_in(situation.prompt, tuple(components(situation.known)))
    names = list(dict.fromkeys(one.name for one in named))
    if len(names) != _ENDS:
        return None
    seen = await observe(situation)
    first, second = ([one for one in named if one.name == name] for name in names)
    # Whoever is named first calls the other more often than not, and a sentence can be turned round.
    found = (*_obstacles(first[0], second, seen), *_obstacles(second[0], first, seen))
    if not found:
        return None
    cause = found[0]
    answer = f"I found what keeps them apart: {cause.statement}; {cause.shown}."
    advice = f"I propose to {cause.remedy}; I have changed nothing, since others depend on it as well."
    return Outcome((answer, advice), ("I looked at both workloads, at the service and at the network policies.",))


def _obstacles(source: Target, destinations: list[Target], seen: Observed) -> tuple[Cause, ...]:
    policies = (cause for one in destinations for cause in blocking_policies(source, one, seen))
    services = (cause for one in destinations if one.noun == "service" for cause in causes_of(one, seen))
    return (*policies, *services)


def blocking_policies(source: Target, destination: Target, seen: Observed) -> Iterator[Cause]:
    """The policies that keep the pods of one component from those of another."""
    theirs, ours = _labels(destination, seen), _labels(source, seen)
    for policy in seen.known.objects.get("networkpolicy", ()):
        spec = policy.get("spec") or {}
        if namespace_of(policy) != destination.namespace or not _selects(spec.get("podSelector") or {}, theirs):
            continue
        if "Ingress" not in (spec.get("policyTypes") or ["Ingress"]) or _admits(spec, ours):
            continue
        yield _cause(policy, source, destination, ours)


def _cause(policy: Json, source: Target, destination: Target, ours: Mapping[str, str]) -> Cause:
    name, spec = name_of(policy), policy.get("spec") or {}
    peers = [peer for rule in spec.get("ingress") or () for peer in rule.get("from") or ()]
    admitted = ", ".join(dict.fromkeys(_told(peer) for peer in peers)) or "nobody"
    own = ", ".join(f"{key}={value}" for key, value in ours.items() if key != "pod-template-hash")
    return Cause(
        Topic.NETWORK, destination,
        f"the network policy {name} blocks traffic from {source.name}: it only admits {admitted} to {destination.name}",
        f"the pods of {source.name} are labelled {own}, which no rule of it admits",
        f"add an ingress rule to the network policy {name} that admits traffic from {own}, and leave the rest as it is",
    )  # fmt: skip


def _labels(target: Target, seen: Observed) -> Mapping[str, str]:
    pod = next(iter(seen.pods(target)), None)
    template = ((target.item or {}).get("spec") or {}).get("template") or {}
    return labels(pod) if pod else labels(template)


def _admits(spec: Json, ours: Mapping[str, str]) -> bool:
    """Whether a rule lets in pods with these labels; one without peers lets in everybody."""
    for rule in spec.get("ingress") or ():
        peers = rule.get("from")
        if not peers or any(_is_peer(peer, ours) for peer in peers):
            return True
    return False


def _is_peer(peer: Any, ours: Mapping[str, str]) -> bool:
    pods = peer.get("podSelector") if isinstance(peer, Mapping) else None
    return isinstance(pods, Mapping) and _selects(pods, ours)


def _selects(selector: Mapping[str, Any], held: Mapping[str, str]) -> bool:
    """Whether a selector matches labels; expressions are taken to match, so that nobody is blamed without need."""
    return dict(selector.get("matchLabels") or {}).items() <= held.items()


def _told(peer: Any) -> str:
    pods = (peer.get("podSelector") or {}).get("matchLabels") or {} if isinstance(peer, Mapping) else {}
    return ", ".join(f"{key}={value}" for key, value in pods.items()) or "others"
