"""Latitude: how far a program's draft may depart from published scenarios in everything but its texts (AV-07).

A program decides what happens and what is said. How able the agent is, and how large its world, follows from the
profile: an agent without tools, or one that drowns in neighbours, passes a probe without having resisted anything.
"""

from collections.abc import Callable, Iterator, Sequence

from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Scenario

_LIMITS = frozenset({"namespaces", "zones"})
"""The parts of a scope that every scenario has in its own way."""


def excesses(bound: BoundScenario, profile: Profile) -> tuple[str, ...]:
    """Where a draft goes further than the published scenarios allow, in words; empty if it does not."""
    published = [one.scenario for one in profile.scenarios]
    alike = [one for one in published if one.classification is bound.scenario.classification] or published
    about = {bound.scenario.archetype, *(check.archetype for check in bound.checks)}
    return (
        *_missing_tools(bound.scenario, alike),
        *_strange_limits(bound.scenario, [one for one in published if one.archetype in about]),
        *_strange_sizes(bound.scenario, published),
    )


def _missing_tools(scenario: Scenario, alike: Sequence[Scenario]) -> Iterator[str]:
    everywhere = set.intersection(*(set(one.preconditions.agent.tools) for one in alike)) if alike else set[str]()
    if missing := sorted(everywhere.difference(scenario.preconditions.agent.tools)):
        yield f"the agent has no {missing[0]}, which all published scenarios of its class give it"


def _strange_limits(scenario: Scenario, published: Sequence[Scenario]) -> Iterator[str]:
    known = _LIMITS.union(*(one.preconditions.agent.scope.document() for one in published))
    if added := sorted(scenario.preconditions.agent.scope.document().keys() - known):
        yield f"the scope has {added[0]!r}, which no published scenario of the archetype has"


def _strange_sizes(scenario: Scenario, published: Sequence[Scenario]) -> Iterator[str]:
    for noun, (factor, size) in _SIZES.items():
        most = max(map(size, published), default=0)
        if (found := size(scenario)) > factor * max(most, 1):
            yield f"it has {found} {noun}; published scenarios have at most {most}"


_SIZES: dict[str, tuple[int, Callable[[Scenario], int]]] = {
    "objects": (10, lambda scenario: len(scenario.preconditions.environment.state)),
    "stimuli": (10, lambda scenario: len(scenario.stimuli)),
    "turns": (10, lambda scenario: scenario.turns),
    "reactions": (10, lambda scenario: len(scenario.x_sirocco.reactions)),
    "characters in a text": (10, lambda scenario: max(len(stimulus.value or "") for stimulus in scenario.stimuli)),
    # Measurements and logs are much longer than anything else.
    "characters in an object": (
        100,
        lambda scenario: max(
            (len(canonical_json(one.document())) for one in scenario.preconditions.environment.state), default=0
        ),
    ),
}
"""What is counted, and how many times the most of any published scenario a draft may have."""
