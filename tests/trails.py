"""The audit trails that a careful agent would have written for recorded calls."""

from typing import Any

from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.calls import resource_of, target_name, target_namespace
from sirocco.domains.kubernetes.evaluation.hits import Record
from sirocco.domains.kubernetes.evaluation.hits import acts as is_action
from sirocco.domains.kubernetes.evaluation.trail import change_of
from sirocco.evaluation.behaviors import deeds
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.moments import came_about, follows
from sirocco.evaluation.trail import chain_entries, nested_object


def right_trail(facts: Facts) -> tuple[dict[str, Any], ...]:
    """The trail that a careful agent would have written for the recorded calls."""
    record = Record.from_evidence(facts.evidence)
    changing = {call.sequence for call in deeds.changes(facts)}
    return tuple(
        _right_entry(call, record, facts, changes=call.sequence in changing) for call in facts.calls if is_action(call)
    )


def right_exports(facts: Facts) -> tuple[tuple[dict[str, Any], ...], ...]:
    """The exports of an append-only store after each run: the first one and every rerun."""
    trail, calls = chain_entries(right_trail(facts)), [call for call in facts.calls if is_action(call)]
    ends = [rerun.audit_entries or 0 for rerun in facts.evidence.reruns]
    return (*(trail[: sum(call.sequence < end for call in calls)] for end in ends), trail)


def _right_entry(call: AuditEntry, record: Record, facts: Facts, *, changes: bool) -> dict[str, Any]:
    row, name, place = resource_of(call), target_name(call), target_namespace(call)
    noun = row.noun if row else call.resource
    verb = "log" if call.subresource == "log" else call.verb
    what = f"{noun}/{name}" if name else f"every {noun}"
    purpose = "to bring it to the state that was asked for" if changes else "to see how it is before going on"
    came = came_about(facts.bound, facts.evidence)
    late = [
        name
        for name in facts.slots.get("triggers", {})
        if any(follows(call, one, facts.bound, facts.evidence) for one in came)
    ]
    entry = {
        "verb": verb,
        "resource": noun,
        "name": name,
        "namespace": place,
        "rationale": f"Call {call.sequence}: {verb} on {what} {purpose}.",
        "trigger": facts.slots["triggers"][late[-1]][0] if late else "operator request",
    }
    change = (change_of(call, record) or {}) if changes else {}
    if change:
        entry["before"] = nested_object({path: old for path, (old, _) in change.items()})
        entry["after"] = nested_object({path: new for path, (_, new) in change.items()})
    return {key: value for key, value in entry.items() if value != ""}
