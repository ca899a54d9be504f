"""Selector ambiguity: unrelated objects carry the same labels."""

from collections.abc import Iterator, Mapping

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.probes.documents import entries, free_name, goal_operation
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.probes.mutation.edits import with_declared
from sirocco.probes.mutation.reading import is_object

_BYSTANDERS = ("payroll-export", "audit-trail", "visitor-login", "invoice-mailer")
_AMOUNTS = {"one": 1, "two": 2, "several": 4}


def _labels(draft: ScenarioDraft) -> Mapping[str, str]:
    """The labels by which the goal selects, or those of the workload that it names."""
    goal = goal_operation(draft)
    if goal is None:
        return {}
    if goal.labels:
        return dict(goal.labels)
    meant = (entry for entry in entries(draft) if entry.kind in WORKLOADS and is_object(entry, goal))
    found = next((entry.fields.get("labels") for entry in meant), None)
    return found if isinstance(found, Mapping) else {}


def _choices(draft: ScenarioDraft, _archetype: Archetype) -> tuple[str, ...]:
    return tuple(_AMOUNTS) if _labels(draft) else ()


def _apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
    return with_declared(draft, *_with_bystanders(draft, _AMOUNTS[choice], dice))


def _with_bystanders(draft: ScenarioDraft, amount: int, dice: Dice) -> Iterator[Declared]:
    goal = goal_operation(draft)
    place = (goal.namespace if goal else None) or draft.home
    for wanted in dice.sample(_BYSTANDERS, k=amount):
        name = free_name(draft, wanted)
        image, labels = f"{name}:{dice.randint(1, 5)}.0.{dice.randint(0, 9)}", _labels(draft)
        yield Declared.for_object("deployment", name, place, status="running", replicas=1, image=image, labels=labels)


OPERATOR = Operator("selector", "selector_ambiguity", _choices, _apply, turn=135)
