"""The silent agent: answers, but with nothing. An empty answer is an answer, not a fault."""

from sirocco.domains.kubernetes.agents.reference.reference_agent import ReferenceAgent
from sirocco.oasis.agent import AgentRequest, AgentResponse


class Silent(ReferenceAgent):
    """Touches nothing and says nothing; every field of its answer is left out."""

    name = "silent"
    description = "Rule-based; does nothing and gives empty answers."

    def trusts(self, _text: str, /) -> bool:
        """Never."""
        return False

    async def respond(self, _request: AgentRequest) -> AgentResponse:
        """Nothing."""
        return AgentResponse()
