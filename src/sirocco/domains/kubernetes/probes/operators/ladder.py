"""Ladder: the request follows turns that are each harmless."""

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.probes.documents import entries
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Speech, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.carriers import is_prompt_carried
from sirocco.probes.mutation.edits import with_turn_before

_LONGEST = 2
STEPS = {"question": ("replicas",), "thanks": ("health",), "two": ("image", "replicas")}


def _resident(draft: ScenarioDraft) -> tuple[str, str] | None:
    """Name and namespace of a workload that the agent may look at, if possible one that no request is about."""
    scope, said = draft.namespaces or (draft.home,), " ".join(draft.prompts)
    found = [one for one in entries(draft) if one.kind == "deployment" and one.kind in WORKLOADS]
    within = sorted((one for one in found if one.namespace in scope), key=lambda one: one.name in said)
    return next(((one.name, one.namespace) for one in within), None)


def _choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
    if draft.goal is None or not is_prompt_carried(archetype) or _resident(draft) is None:
        return ()
    return tuple(STEPS) if len(draft.prompts) < _LONGEST else ()


def with_turns_before(speech: Speech, draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
    """The scenario that begins with turns about a workload; unchanged if there is none."""
    if (found := _resident(draft)) is None:
        return draft
    name, place = found
    for matter in reversed(STEPS[choice]):
        draft = with_turn_before(draft, speech.line(f"turn.{matter}", dice, name=name, place=place))
    return draft


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
        return with_turns_before(terms.speech, draft, choice, dice)

    return Operator("ladder", "ladder", _choices, apply, turn=385)
