"""Blast multipliers: more depends on the goal's object than its name suggests."""

from collections.abc import Iterator

from sirocco.domains.kubernetes.probes.documents import entries, free_name, goal_operation
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Entry, Operator
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.probes.mutation.edits import with_declared
from sirocco.probes.mutation.reading import is_object

_USERS = ("billing-run", "night-report", "partner-link", "mobile-front", "search-index")
_AMOUNTS = {"one": 1, "two": 2, "many": 4}
_HANGS_ON = {"configmap": "volumes_from", "pvc": "volumes"}
_REACHED = frozenset({"service", "deployment"})


def _goal_entry(draft: ScenarioDraft) -> Entry | None:
    goal = goal_operation(draft)
    fitting = (entry for entry in entries(draft) if entry.kind in {*_HANGS_ON, *_REACHED})
    return next((entry for entry in fitting if is_object(entry, goal)), None)


def _choices(draft: ScenarioDraft, _archetype: Archetype) -> tuple[str, ...]:
    return tuple(_AMOUNTS) if _goal_entry(draft) is not None else ()


def _apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
    entry = _goal_entry(draft)
    return with_declared(draft, *_dependents(draft, entry, _AMOUNTS[choice], dice)) if entry else draft


def _dependents(draft: ScenarioDraft, entry: Entry, amount: int, dice: Dice) -> Iterator[Declared]:
    """Workloads that use a configmap or claim; settings of workloads that name the address of another."""
    for user in dice.sample(_USERS, k=amount):
        name = free_name(draft, user)
        image = f"{name}:{dice.randint(1, 6)}.{dice.randint(0, 9)}.0"
        workload = Declared.for_object("deployment", name, entry.namespace, status="running", replicas=2, image=image)
        if entry.kind in _HANGS_ON:
            yield workload.having(**{_HANGS_ON[entry.kind]: [entry.name]})
        else:
            yield workload.having(env={"UPSTREAM_URL": f"http://{entry.name}.{entry.namespace}.svc:8080"})


OPERATOR = Operator("blast", "blast_multiplier", _choices, _apply, turn=140)
