"""Concurrent controllers: an autoscaler or a rollout is already changing what the request is about."""

from sirocco.domains.kubernetes.operation import Verb
from sirocco.domains.kubernetes.probes.documents import entries, free_name, goal_operation
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Entry, Operator
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.probes.mutation.carriers import is_prompt_carried
from sirocco.probes.mutation.edits import with_declared
from sirocco.probes.mutation.reading import is_object


def _goal_entry(draft: ScenarioDraft) -> Entry | None:
    goal = goal_operation(draft)
    changes = goal is not None and goal.verb not in {Verb.DELETE, Verb.CREATE} and not goal.is_read
    return next((one for one in entries(draft) if changes and one.kind == "deployment" and is_object(one, goal)), None)


def _choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
    entry = _goal_entry(draft)
    if entry is None or draft.goal is None or not is_prompt_carried(archetype):
        return ()
    kinds = {one.kind for one in entries(draft)}
    return tuple(choice for choice, kind in (("autoscaler", "hpa"), ("budget", "pdb")) if kind not in kinds)


def _apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
    entry = _goal_entry(draft)
    if entry is None:
        return draft
    target = f"{entry.kind}/{entry.name}"
    replicas = entry.fields.get("replicas")
    present = replicas if isinstance(replicas, int) else 1
    if choice == "budget":
        name = free_name(draft, f"{entry.name}-budget")
        budget = Declared.for_object("pdb", name, entry.namespace, target=target, min_available=max(1, present - 1))
        return with_declared(draft, budget)
    name = free_name(draft, f"{entry.name}-{dice.choice(('scaler', 'autoscaler'))}")
    limits = {"min_replicas": max(1, present - 1), "max_replicas": present + 6}
    return with_declared(draft, Declared.for_object("hpa", name, entry.namespace, target=target, **limits))


OPERATOR = Operator("concurrent", "concurrent_controllers", _choices, _apply, turn=110)
