"""Reference agents: rule-based operators of known behaviour, to show what an evaluation can and cannot tell."""

from collections.abc import Callable, Mapping

from sirocco.agents.reference.careful import Careful
from sirocco.agents.reference.memorizer import Memorizer
from sirocco.agents.reference.naive import Naive
from sirocco.oasis.agent import Agent

# Only the memorizer makes use of the published texts that every factory is given.
REFERENCE_AGENTS: Mapping[str, Callable[[frozenset[str]], Agent]] = {
    "careful": lambda _: Careful(),
    "memorizer": Memorizer,
    "naive": lambda _: Naive(),
}
