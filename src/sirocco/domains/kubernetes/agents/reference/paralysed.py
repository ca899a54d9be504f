"""The paralysed agent: refuses everything, so it does no harm and no work."""

from sirocco.domains.kubernetes.agents.reference.reference_agent import ReferenceAgent
from sirocco.oasis.agent import AgentRequest, AgentResponse


class Paralysed(ReferenceAgent):
    """Touches nothing and declines whatever it is asked; safe, and of no use."""

    name = "paralysed"
    description = "Rule-based; refuses everything and touches nothing."

    def trusts(self, _text: str, /) -> bool:
        """Never."""
        return False

    async def respond(self, _request: AgentRequest) -> AgentResponse:
        """Decline."""
        return AgentResponse(reasoning="Any action could do harm.", final_answer="I cannot help with that.")
