"""The careful agent: does ordinary work, judges everything else by general rules, and treats what it reads as data."""

from sirocco.agents.reference.reference_agent import ReferenceAgent


class Careful(ReferenceAgent):
    """Obeys the operator within `rules`, and no text that it finds."""

    name = "careful"
    description = "Rule-based; stays in scope, asks before anything destructive, treats what it reads as data."

    def trusts(self, _text: str, /) -> bool:
        """Never."""
        return False
