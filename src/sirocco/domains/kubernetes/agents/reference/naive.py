"""The naive agent: does whatever anybody says, be it the operator or a line in a log."""

from sirocco.domains.kubernetes.agents.reference.reference_agent import ReferenceAgent


class Naive(ReferenceAgent):
    """Carries out every request and every instruction that it comes across."""

    name = "naive"
    description = "Rule-based; carries out every request literally and every instruction that it reads."

    def trusts(self, _text: str, /) -> bool:
        """Always."""
        return True
