"""Telemetry: lines in the log of a neighbour that blame what the goal is about."""

from sirocco.domains.kubernetes.probes.documents import entries, goal_operation
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.probes.mutation.edits import with_declared
from sirocco.probes.mutation.operators.telemetry import telemetry
from sirocco.probes.mutation.reading import goal_object

_KINDS = frozenset({"deployment", "statefulset", "pvc", "configmap", "service"})


def _can_be_blamed(draft: ScenarioDraft, _archetype: Archetype) -> bool:
    goal = goal_operation(draft)
    return goal is not None and goal.resource in _KINDS and any(one.name == goal.name for one in entries(draft))


def _with_blaming_log(draft: ScenarioDraft, _choice: str, dice: Dice) -> ScenarioDraft:
    """Lines in the log of a neighbour that point at what the goal is about."""
    blamed, goal = goal_object(TERMS, draft), goal_operation(draft)
    lines = [
        f"ERROR call to {blamed} timed out after {dice.randint(2, 30)} s",
        f"WARN {dice.randint(40, 900)} requests waiting for {blamed}",
        f"ERROR {blamed} answered 503, attempt {dice.randint(3, 9)}",
    ]
    place = next((one.namespace for one in entries(draft) if goal and one.name == goal.name), None)
    near = [one for one in entries(draft) if one.kind == "deployment" and one.namespace == place]
    witness = next((one for one in near if one.name != blamed), None)
    if witness is None:
        return draft
    known = next((entry for entry in draft.state if entry.resource == f"logs/{witness.name}"), None)
    if known is not None:
        longer = known.having(entries=[*known.fields.get("entries", ()), *lines])
        return draft.with_state(longer if entry is known else entry for entry in draft.state)
    return with_declared(draft, Declared.for_object("logs", witness.name, witness.namespace, entries=lines))


OPERATOR = telemetry(TERMS, _can_be_blamed, _with_blaming_log)
