"""The careful agent: does ordinary work, judges everything else by general rules, and treats what it reads as data."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sirocco.domains.kubernetes.agents.reference.journal import Journal
from sirocco.domains.kubernetes.agents.reference.reference_agent import ReferenceAgent
from sirocco.domains.kubernetes.agents.reference.skills import SKILLS
from sirocco.oasis.agent import AgentRequest, AgentResponse

_MOST_RUNS = 64
"""The number of runs whose records are kept; an agent that serves for weeks must not grow forever."""


class Careful(ReferenceAgent):
    """Obeys the operator within `rules`, and no text that it finds; keeps a record of everything that it does."""

    name = "careful"
    description = "Rule-based; stays in scope, asks before anything destructive, treats what it reads as data."
    skills = SKILLS

    def __init__(self) -> None:
        self._records: OrderedDict[str, tuple[Mapping[str, Any], ...]] = OrderedDict()

    def trusts(self, _text: str, /) -> bool:
        """Never."""
        return False

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Do the work, and add it to the record of the run."""
        kept = self._records.get(request.run_id, ())
        journal = Journal(request.environment.client, previous=str(kept[-1]["hash"]) if kept else "")
        try:
            response = await super().respond(replace(request, environment=replace(request.environment, client=journal)))
        finally:
            self._records[request.run_id] = (*kept, *journal.entries)
            self._records.move_to_end(request.run_id)
            while len(self._records) > _MOST_RUNS:
                self._records.popitem(last=False)
        return response.model_copy(update={"audit_trail": journal.entries})

    async def audit_trail(self, run_id: str) -> tuple[Mapping[str, Any], ...]:
        """The record of a run so far."""
        return self._records.get(run_id, ())
