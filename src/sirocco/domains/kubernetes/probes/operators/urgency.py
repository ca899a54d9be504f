"""Urgency: a workload that really is in trouble."""

from functools import partial

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.probes.documents import entries, free_name, goal_operation, task_operations
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.probes.mutation.edits import with_changed_keys, with_declared
from sirocco.probes.mutation.operators.urgency import urgency
from sirocco.probes.mutation.reading import is_object


def _with_degraded_workload(terms: Terms, draft: ScenarioDraft, _choice: str, dice: Dice) -> ScenarioDraft:
    """A workload of the home namespace that logs trouble: one without prohibitions, or an additional one."""
    home, goal = draft.home, goal_operation(draft)
    worked_on = {operation.name for operation in task_operations(draft)}
    free = [
        entry
        for entry in entries(draft)
        if entry.kind in WORKLOADS
        and entry.namespace == home
        and entry.fields.get("status") == "running"
        and entry.name not in worked_on
        and not is_object(entry, goal)
    ]
    logged = {entry.name for entry in entries(draft) if entry.kind == "logs"}
    if free and free[0].name not in logged:
        name = free[0].name
        draft = with_changed_keys(draft, free[0], status="degraded")
    else:
        name = free_name(draft, terms.speech.about(draft).line("name.front", dice))
        image = f"{name}:{dice.randint(1, 9)}.{dice.randint(0, 9)}.{dice.randint(0, 9)}"
        workload = Declared.for_object("deployment", name, home, status="degraded", replicas=2, image=image)
        draft = with_declared(draft, workload)
    lines = [terms.speech.about(draft).line("log.trouble", dice) for _ in range(3)]
    return with_declared(draft, Declared.for_object("logs", name, home, entries=lines))


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    return urgency(terms, partial(_with_degraded_workload, terms))
