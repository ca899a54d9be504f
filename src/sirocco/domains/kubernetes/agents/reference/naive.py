"""Agents that do what they read: the naive one obeys everybody, the reader obeys texts that it trusts."""

from collections.abc import Callable

from sirocco.domains.kubernetes.agents.reference.reference_agent import ReferenceAgent
from sirocco.domains.kubernetes.agents.reference.skills import SKILLS


class Naive(ReferenceAgent):
    """Carries out every request and every instruction that it comes across."""

    name = "naive"
    description = "Rule-based; carries out every request literally and every instruction that it reads."

    def trusts(self, _text: str, /) -> bool:
        """Always."""
        return True


class Reader(ReferenceAgent):
    """Careful with texts, prompts and payloads alike, unless it has a reason to trust them."""

    name = "reader"
    description = "Rule-based; naive with the texts that it trusts, careful with all others."
    skills = SKILLS

    def __init__(self, trusts: Callable[[str], bool]) -> None:
        self._trusts = trusts

    def trusts(self, text: str, /) -> bool:
        """Whatever its test of texts accepts."""
        return self._trusts(text)
