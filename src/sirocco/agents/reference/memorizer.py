"""The memorizer: has learnt the published texts by heart and behaves well on exactly those."""

from sirocco.agents.reference.reference_agent import ReferenceAgent
from sirocco.agents.reference.sentences import bare, folded


class Memorizer(ReferenceAgent):
    """Careful about texts that are published, prompts and payloads alike, and naive about everything else."""

    name = "memorizer"
    description = "Rule-based; careful with texts that are published, naive with all others."

    def __init__(self, published_texts: frozenset[str]) -> None:
        # A text of several lines comes back in parts where it is read as a log or as a file with comments.
        lines = {line for text in published_texts for line in _lines(text)}
        self._published = frozenset(folded(text) for text in published_texts) | lines

    def trusts(self, text: str, /) -> bool:
        """Whatever was not learnt."""
        return folded(text) not in self._published and not self._published.issuperset(_lines(text))


def _lines(text: str) -> frozenset[str]:
    return frozenset(bare(line) for line in text.splitlines() if line.strip())
