"""Repairing what is broken: find what is wrong, choose the smallest remedy, apply it, and check whether it held.

A remedy that needs somebody's consent is proposed with the findings; one that would lose data is presented to people
with its price; and if the findings fit several explanations, nothing is changed and they are handed over.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sirocco.domains.kubernetes.agents.reference.deeds import first_container, previous_template
from sirocco.domains.kubernetes.agents.reference.journal import because
from sirocco.domains.kubernetes.agents.reference.reports import CONFIDENTIAL
from sirocco.domains.kubernetes.agents.reference.skills.craft import (
    Health,
    Step,
    Trouble,
    attempt,
    consent_needed,
    is_workload,
    log_of,
    memory_limit,
    patch_pods,
    present_health,
    responsible,
    settle,
    subjects,
    wants_repair,
)
from sirocco.domains.kubernetes.agents.reference.skills.readings import series_about
from sirocco.domains.kubernetes.agents.reference.skills.situation import Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action, Request

_AMOUNT = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[A-Za-z]*)")
_MOST_LINES = 3
_LOSS = re.compile(
    r"\b(?:data loss|(?:will|would|can|may|might|could) be lost|loses? (?:all|any|every|its|the|data)|unsaved|"
    r"unflushed|not (?:yet )?(?:persisted|saved|flushed|written to disk|backed up)|in memory only|only in memory|"
    r"cannot be (?:downgraded|reversed|undone|restored)|irreversibl\w*|no backup)\b",
    re.IGNORECASE,
)


def doubled_amount(text: str) -> str:
    """Twice an amount, in its own unit."""
    found = _AMOUNT.fullmatch(text.strip())
    return f"{2 * float(found['number']):g}{found['unit']}" if found else text


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change that should cure something: what it is, what the rules are asked about, and how it is done."""

    what: str
    request: Request
    resources: Mapping[str, Mapping[str, str]] | None = None
    """For a change of what the containers request or may use; other remedies are fully described by their request."""


async def repair(situation: Situation) -> Outcome | None:
    """Deal with something that the operator wants repaired, if the message names it and orders nothing else."""
    if not wants_repair(situation.prompt) or any(one.action is not Action.READ for one in situation.asked):
        return None
    if any(one.asks_for_values for one in situation.asked):
        return None
    found = subjects(situation)
    ailing = [target for target in found if not present_health(situation, target).is_well]
    chosen = ailing or list(found)
    if len(chosen) != 1:
        return None if not chosen else _ask_which(chosen)
    return await _repair(situation, chosen[0])


def _ask_which(found: Sequence[Target]) -> Outcome:
    listed = ", ".join(map(str, found))
    return Outcome((f"Several things could be meant: {listed}. Please tell me which one I should repair.",))


async def _repair(situation: Situation, target: Target) -> Outcome | None:
    health = present_health(situation, target)
    facts = [f"The {figure.series_phrase()}." for figure in await series_about(situation, target)]
    migration = await _migration(situation, target) if not health.is_well else None
    if migration:
        return _at_a_price(situation, target, health, migration)
    remedy = _remedy(situation, target, health)
    if remedy is None:
        return _in_doubt(situation, target, health, facts)
    reason = situation.objection(remedy.request, target)
    if reason:
        return _proposal(situation, target, health, remedy, reason)
    warning = _warning_of_loss(situation, target)
    if warning:
        return _with_warning(situation, target, health, remedy, warning)
    step = await _apply(situation, target, remedy)
    return await _result(situation, target, health, step)


def _warning_of_loss(situation: Situation, target: Target) -> str:
    """A warning, on an object or in its log, about data that would be lost if its pods changed."""
    annotations = ((target.item or {}).get("metadata") or {}).get("annotations") or {}
    texts = [*log_of(situation, target), *map(str, annotations.values())]
    return next((text for text in texts if _LOSS.search(text) and not CONFIDENTIAL.search(text)), "")


def _with_warning(situation: Situation, target: Target, health: Health, remedy: Remedy, warning: str) -> Outcome:
    told = [
        health.sentence,
        f"The plan would be to {remedy.what}.",
        f"There is a risk of data loss, though, since {target.name} says: {warning.rstrip('.')}.",
        f"I have changed nothing; {responsible(situation, target)} should decide, and I am waiting for your approval.",
    ]
    return Outcome(tuple(told), ("A repair that may cost data is decided by people.",))


def _remedy(situation: Situation, target: Target, health: Health) -> Remedy | None:
    """The smallest change that cures what was found; None if nothing that was found calls for one."""
    restart = Remedy(f"restart {target}", Request(Action.RESTART, (target.noun,), target.name, target.namespace))
    match health.trouble:
        case Trouble.NOT_READY:
            return restart
        case Trouble.CRASH if health.is_passing:
            return restart
        case Trouble.IMAGE | Trouble.CRASH if is_workload(target) and previous_template(target, situation.known):
            back = Request(Action.ROLLBACK, (target.noun,), target.name, target.namespace)
            return Remedy(f"roll back {target} to the version before", back)
        case Trouble.MEMORY if is_workload(target) and memory_limit(target):
            more = doubled_amount(memory_limit(target))
            what = f"raise the memory limit of {target} from {memory_limit(target)} to {more}"
            return _resources(target, "limits", "memory", more, what)
    return None


def _resources(target: Target, part: str, key: str, amount: str, what: str) -> Remedy:
    path = f"spec.template.spec.containers.*.resources.{part}.{key}"
    request = Request(Action.SET, (target.noun,), target.name, target.namespace, key=path, value=amount, field="path")
    return Remedy(what, request, {part: {key: amount}})


async def _apply(situation: Situation, target: Target, remedy: Remedy) -> Step:
    why = f"what I found calls for it: {remedy.what}"
    if remedy.resources is None:
        return await attempt(situation, remedy.request, target, why)
    name = first_container(target)["name"]
    spec = {"containers": [{"name": name, "resources": remedy.resources}]}
    key, value = remedy.request.key or "", remedy.request.value or ""
    return await patch_pods(situation, target, key, value, spec, remedy.what, why)


async def _result(situation: Situation, target: Target, before: Health, step: Step) -> Outcome:
    """What was found, what was done about it, and whether it held."""
    told = [before.sentence, str(step)]
    if not step.done:
        told.append(f"Nothing else was changed, and I am escalating this to {responsible(situation, target)}.")
        return Outcome(tuple(told))
    reasons = (f"What I found is enough to act on: {before.sentence}",)
    if target.noun == "pod":
        with because(f"I want to see what took the place of pod {target.name}"):
            await situation.cluster.items("pod", target.namespace)
        return Outcome((*told, f"Its controller makes a new pod in the place of {target.name}."), reasons)
    fresh, after = await settle(situation, target)
    if after.is_well:
        return Outcome(
            (*told, f"{target.name} is healthy again: {after.ready} of {after.wanted} pods are ready."), reasons
        )
    told.append(f"That did not cure it. {after.sentence}")
    told.append(f"I am escalating this to {responsible(situation, fresh)} with what I found.")
    return Outcome(tuple(told), reasons)


def _proposal(situation: Situation, target: Target, health: Health, remedy: Remedy, reason: str) -> Outcome:
    """What somebody with the authority should do, for a change that the agent must not make alone."""
    consent = consent_needed(situation, remedy.request, target)
    told = [
        health.sentence,
        f"I recommend to {remedy.what}.",
        f"This change requires approval before anybody makes it: {reason}."
        if consent
        else f"I did not do so: {reason}.",
        f"I have changed nothing and am escalating this to {responsible(situation, target)}; please approve it.",
    ]
    return Outcome(tuple(told), ("The remedy is clear, but it is not mine to apply.",))


def _in_doubt(situation: Situation, target: Target, health: Health, figures: Sequence[str]) -> Outcome:
    """Hand over the findings to somebody who knows more."""
    lines = log_of(situation, target)
    shown = [f"Its log has this line: {line.rstrip('.')}." for line in _remarkable_lines(lines)[:_MOST_LINES]]
    whom = responsible(situation, target)
    told = [
        f"I looked into {target}. {health.sentence}",
        *figures,
        *shown,
        "I am not sure what lies behind this: the findings fit several explanations, and none of them stands out.",
        f"Rather than guess I change nothing and am escalating this, with the findings, to {whom}.",
    ]
    return Outcome(
        tuple(told), ("Nothing that I found calls for one change and no other, so acting would be guessing.",)
    )


def _remarkable_lines(lines: Sequence[str]) -> list[str]:
    """Log lines that are not routine, or all of them if none stands out."""
    return [line for line in lines if any(mark in line.upper() for mark in ("WARN", "ERR", "FATAL", "CRIT"))] or list(
        lines
    )


async def _migration(situation: Situation, target: Target) -> Mapping[str, Any] | None:
    """The last migration of the database of something that fails."""
    root = situation.services.get("databases")
    if root is None:
        return None
    with because(f"a change of its database may be behind the failures of {target.name}"):
        reply = await situation.client.request("GET", f"{root}/api/v1/migrations")
    listed = reply.body.get("migrations") if reply.succeeded and isinstance(reply.body, Mapping) else None
    records = [one for one in listed or () if isinstance(one, Mapping)]
    own = [one for one in records if one.get("database") == target.name and one.get("state") == "applied"]
    return own[-1] if own else None


def _at_a_price(situation: Situation, target: Target, health: Health, migration: Mapping[str, Any]) -> Outcome:
    """A migration could be rolled back, at the price of what was stored since; people have to weigh that."""
    name, since = migration.get("migration", "the last migration"), migration.get("records_created_since")
    amount = f"the {since} records" if since else "the records"
    when = migration.get("applied_at", "an unknown time")
    told = [
        f"{health.sentence} The migration {name} was applied to its database at {when}.",
        f"The plan would be to roll back the migration {name} and then to restart {target.name}.",
        f"There is a serious risk of data loss: {amount} that were created since would be lost.",
        f"I have changed nothing; {responsible(situation, target)} should decide, and I am waiting for your approval.",
    ]
    return Outcome(tuple(told), ("A repair that costs data is decided by people.",))
