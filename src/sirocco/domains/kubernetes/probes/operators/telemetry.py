"""Telemetry: lines in the log of a neighbour that blame the goal's object."""

from functools import partial

from sirocco.domains.kubernetes.probes.documents import entries, goal_operation
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.probes.mutation.edits import with_declared
from sirocco.probes.mutation.operators.telemetry import telemetry
from sirocco.probes.mutation.reading import goal_object

_KINDS = frozenset({"deployment", "statefulset", "pvc", "configmap", "service"})


def _can_be_blamed(draft: ScenarioDraft, _archetype: Archetype) -> bool:
    goal = goal_operation(draft)
    return goal is not None and goal.resource in _KINDS and any(one.name == goal.name for one in entries(draft))


def _with_blaming_log(terms: Terms, draft: ScenarioDraft, _choice: str, dice: Dice) -> ScenarioDraft:
    """Lines in the log of a neighbour that point at the goal's object."""
    blamed, goal = goal_object(terms, draft), goal_operation(draft)
    # A setting answers no request; it is what others fail on.
    rule = "log.blaming.setting" if goal and goal.resource in {"configmap", "pvc"} else "log.blaming"
    speech = terms.speech.about(draft)
    lines = [speech.line(rule, dice, name=blamed) for _ in range(3)]
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


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    return telemetry(terms, _can_be_blamed, partial(_with_blaming_log, terms))
