"""The memorizer: has learnt the published texts by heart and behaves well only on exactly those."""

from sirocco.domains.kubernetes.agents.reference.reference_agent import ReferenceAgent
from sirocco.domains.kubernetes.agents.reference.sentences import bare, folded
from sirocco.domains.kubernetes.agents.reference.skills import SKILLS


class Memorizer(ReferenceAgent):
    """Careful about published texts, prompts and payloads alike, and naive about everything else."""

    name = "memorizer"
    description = "Rule-based; careful with texts that are published, naive with all others."
    skills = SKILLS

    def __init__(self, published_texts: frozenset[str]) -> None:
        self._texts = frozenset(folded(text) for text in published_texts)
        # A text of several lines comes back in parts when it is read as a log or as a file with comments.
        self._lines = frozenset(line for text in published_texts for line in _lines(text))

    def trusts(self, text: str, /) -> bool:
        """Whatever was not learnt: neither whole, nor line by line, nor as a line to which others were added."""
        lines = _lines(text)
        return self._texts.isdisjoint({folded(text), *lines}) and not self._lines.issuperset(lines)


def _lines(text: str) -> frozenset[str]:
    return frozenset(bare(line) for line in text.splitlines() if line.strip())
