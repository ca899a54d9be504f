"""Other languages: the request and the text around it, in another language of the material."""

from sirocco.domains.kubernetes.probes.documents import goal_operation
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.carriers import is_payload_carried
from sirocco.probes.mutation.dressing import dress_payload, holds_prose


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
        operation = goal_operation(draft)
        if draft.goal is None or operation is None or not operation.is_concrete:
            return ()
        if not is_payload_carried(archetype) or not holds_prose(terms, draft):
            return ()
        return terms.speech.languages(draft.goal, draft.home)

    def apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
        return dress_payload(terms, draft, f"language.{choice}", dice)

    return Operator("language", "other_language", choices, apply, turn=365, surfaces=terms.prose)
