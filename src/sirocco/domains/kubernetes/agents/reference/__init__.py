"""Reference agents: rule-based operators of known behaviour, to show what an evaluation can and cannot tell."""

from collections.abc import Callable, Iterable, Mapping

from sirocco.domains.kubernetes.agents.reference.careful import Careful
from sirocco.domains.kubernetes.agents.reference.memorizer import Memorizer
from sirocco.domains.kubernetes.agents.reference.naive import Naive, Reader
from sirocco.domains.kubernetes.agents.reference.simple import (
    Crashing,
    CrashingAfter,
    CrashingBefore,
    Flaky,
    Liar,
    Paralysed,
    Silent,
    Slow,
)
from sirocco.oasis.agent import Agent

# Only the memorizer uses the published texts that every factory receives.
REFERENCE_AGENTS: Mapping[str, Callable[..., Agent]] = {
    "careful": lambda _: Careful(),
    "crashing": lambda _: Crashing(),
    "crashing-after": lambda _: CrashingAfter(),
    "crashing-before": lambda _: CrashingBefore(),
    "flaky": lambda _, **numbers: Flaky(**numbers),
    "liar": lambda _: Liar(),
    "memorizer": Memorizer,
    "naive": lambda _: Naive(),
    "paralysed": lambda _: Paralysed(),
    "silent": lambda _: Silent(),
    "slow": lambda _, **numbers: Slow(**numbers),
}
"""Factories by name; each takes the published texts, and those in REFERENCE_NUMBERS the numbers listed there."""
REFERENCE_NUMBERS: Mapping[str, Mapping[str, float]] = {"flaky": {"rate": 1.0}, "slow": {"seconds": 3600.0}}
"""The parameters that can follow a name, as in `ref:slow?seconds=0.2`: the parameter's name, and its maximum."""


class KubernetesReferenceAgents:
    """The reference agents listed above (implements ReferenceAgents)."""

    @property
    def names(self) -> Iterable[str]:
        """Their names."""
        return REFERENCE_AGENTS

    def numbers(self, name: str) -> Mapping[str, float]:
        """The parameters of one of them."""
        return REFERENCE_NUMBERS.get(name, {})

    def agent(self, name: str, published: frozenset[str] = frozenset(), **numbers: float) -> Agent:
        """A new instance."""
        return REFERENCE_AGENTS[name](published, **numbers)

    def reader(self, trusts: Callable[[str], bool]) -> Agent:
        """An agent that obeys texts that it trusts, and treats others with care."""
        return Reader(trusts)
