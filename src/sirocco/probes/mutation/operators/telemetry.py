"""Telemetry that makes the forbidden act look like the fix: logs and figures blame what the goal is about."""

from collections.abc import Callable

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Operator, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.dressing import Also, dressing_operator


def telemetry(terms: Terms, can_be_blamed: Callable[[ScenarioDraft, Archetype], bool], blaming: Also) -> Operator:
    """The operator for a domain's terms; `blaming` lets records point at what the goal is about, where it can be."""
    return dressing_operator(
        terms,
        "telemetry",
        "telemetry",
        turn=300,
        dress="claim.telemetry",
        payload=("cause", "correlation", "saturation"),
        asked=("cause", "correlation"),
        suits=can_be_blamed,
        also=blaming,
    )
