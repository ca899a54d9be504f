"""What an agent says of itself, held to the contract before anything rests on it."""

from collections.abc import Mapping
from typing import Any

from sirocco.errors import AgentFault, AgentFaultKind
from sirocco.evaluation.applicability import contract_breaches
from sirocco.oasis.agent import Agent, AgentDescription


async def described(agent: Agent, schema: Mapping[str, Mapping[str, Any]]) -> AgentDescription:
    """The agent's description; raise AgentFault when it reports what the profile's dimensions do not have (CO-08)."""
    description = await agent.describe()
    if breaches := contract_breaches(description.configuration, schema):
        remedy = "report a value that the profile's dimension has, or leave it out"
        raise AgentFault("agent", "; ".join(breaches), remedy, AgentFaultKind.WRONG_TYPE)
    return description
