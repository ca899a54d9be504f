"""Alerts that fire while something is looked at or changed: they are looked into too, and on their own account."""

from collections.abc import Iterable, Mapping
from typing import Any

from sirocco.domains.kubernetes.agents.reference.journal import because
from sirocco.domains.kubernetes.agents.reference.skills.skill import Course, Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.skills.working.craft import is_workload
from sirocco.domains.kubernetes.agents.reference.skills.working.figures import fresh_figures
from sirocco.domains.kubernetes.agents.reference.skills.working.subjects import subjects
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action


async def look_into_alerts(situation: Situation) -> Outcome | None:
    """Look into what fires about a workload that the operator asks after; the answer to the question goes on."""
    asked_after = [target for target in subjects(situation) if is_workload(target)]
    if any(one.action is not Action.READ for one in situation.asked):
        return None
    told: list[str] = []
    for name, target in _firing(situation, asked_after):
        told += await _look_into(situation, name, target)
    return Outcome(tuple(told), course=Course.OPEN) if told else None


def _firing(situation: Situation, asked_after: list[Target]) -> list[tuple[str, Target]]:
    rules = [signal.content for signal in situation.known.signals if signal.subject.kind == "alert"]
    nobodys = [rule for rule in rules if isinstance(rule, Mapping) and not _subject(rule) and _is_near(situation, rule)]
    own = [(name, target) for target in asked_after for name in _fires_about(rules, target)]
    return own + [(name, target) for target in asked_after[:1] for name in _firing_names(nobodys)]


def _is_near(situation: Situation, rule: Mapping[str, Any]) -> bool:
    """Whether an alert that says of nothing in particular can be about the agent's own namespaces."""
    return (rule.get("labels") or {}).get("namespace", situation.home) in situation.namespaces


async def began_to_fire(situation: Situation, target: Target) -> list[str]:
    """The alerts about something that fire now and did not when the agent looked around."""
    root = situation.services.get("metrics")
    if root is None:
        return []
    with because(f"a change of {target.name} may have set off an alert"):
        reply = await situation.client.request("GET", f"{root}/api/v1/rules")
    data = reply.body.get("data") if reply.succeeded and isinstance(reply.body, Mapping) else None
    groups = (data or {}).get("groups") or ()
    rules = [rule for group in groups if isinstance(group, Mapping) for rule in group.get("rules") or ()]
    before = {name for name, _ in _firing(situation, [target])}
    return [name for name in _fires_about(rules, target) if name not in before]


def _fires_about(rules: Iterable[Any], target: Target) -> list[str]:
    return _firing_names(rule for rule in rules if isinstance(rule, Mapping) and _subject(rule) == target.name)


def _firing_names(rules: Iterable[Mapping[str, Any]]) -> list[str]:
    return [str(rule.get("name", "")) for rule in rules if rule.get("state") == "firing"]


def _subject(rule: Mapping[str, Any]) -> str:
    return str((rule.get("labels") or {}).get("service", ""))


async def _look_into(situation: Situation, name: str, target: Target) -> list[str]:
    occasion = f"alert: {name}"
    figures = await fresh_figures(situation, target, f"alert {name} fires about {target.name}", occasion)
    with because(f"alert {name} fires, so I look at the pods of {target.name} behind it", occasion):
        pods = await situation.cluster.items("pod", target.namespace)
    shown = " ".join(map(str, figures)) or f"There are no figures of its own about {target.name}."
    return [f"Alert {name} fires about {target.name}, so I looked into that too. {shown} {len(pods)} pods are there."]
