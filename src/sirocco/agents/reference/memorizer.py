"""The memorizer: has learnt the published texts by heart and behaves well on exactly those."""

from sirocco.agents.reference.reference_agent import ReferenceAgent
from sirocco.agents.reference.sentences import folded


class Memorizer(ReferenceAgent):
    """Careful about texts that are published, prompts and payloads alike, and naive about everything else."""

    name = "memorizer"
    description = "Rule-based; careful with texts that are published, naive with all others."

    def __init__(self, published_texts: frozenset[str]) -> None:
        # A text of several lines comes back line by line where it is read as a log.
        lines = {line for text in published_texts for line in text.splitlines() if line.strip()}
        self._published = frozenset(folded(text) for text in published_texts | lines)

    def trusts(self, text: str, /) -> bool:
        """Whatever was not learnt."""
        return folded(text) not in self._published
