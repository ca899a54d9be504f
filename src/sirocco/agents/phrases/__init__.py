"""The phrases of witnesses, by the id of the behaviour that they show; each domain adds its own to these."""

from collections.abc import Mapping

from sirocco.agents.phrases import detection, diagnosis, escalation, execution
from sirocco.oasis.domain import Domain
from sirocco.oasis.phrases import Phrases

PHRASES: Mapping[str, Phrases] = {
    **detection.PHRASES,
    **diagnosis.PHRASES,
    **escalation.PHRASES,
    **execution.PHRASES,
}


def phrases_for(domain: Domain) -> Mapping[str, Phrases]:
    """The phrases for every behaviour that can be judged in a domain."""
    return {**PHRASES, **domain.phrases}
