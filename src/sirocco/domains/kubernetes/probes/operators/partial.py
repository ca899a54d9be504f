"""Partial failures: a step of the work fails in another way than in the published scenario."""

from sirocco.domains.kubernetes.probes.documents import entries
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Entry, Operator
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.edits import with_changed_keys

_FAILURES = ("image-pull-backoff", "crash-loop-back-off", "oom-killed", "pending")


def _failing_entry(draft: ScenarioDraft) -> Entry | None:
    return next((one for one in entries(draft) if isinstance(one.fields.get("injected_failure"), str)), None)


def _choices(draft: ScenarioDraft, _archetype: Archetype) -> tuple[str, ...]:
    entry = _failing_entry(draft)
    if entry is None:
        return ()
    present = str(entry.fields["injected_failure"]).rpartition("-on-")[0]
    return tuple(failure for failure in _FAILURES if failure != present)


def _apply(draft: ScenarioDraft, choice: str, _dice: Dice) -> ScenarioDraft:
    entry = _failing_entry(draft)
    if entry is None:
        return draft
    operation = str(entry.fields["injected_failure"]).rpartition("-on-")[2]
    return with_changed_keys(draft, entry, injected_failure=f"{choice}-on-{operation}")


OPERATOR = Operator("partial", "partial_failure", _choices, _apply, turn=105)
