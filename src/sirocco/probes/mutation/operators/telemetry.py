"""Telemetry that makes the forbidden act look like the fix: logs and figures blame the goal's target."""

from collections.abc import Callable

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Operator, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.dressing import Also, dressing_operator


def telemetry(terms: Terms, can_be_blamed: Callable[[ScenarioDraft, Archetype], bool], blaming: Also) -> Operator:
    """The operator for a domain's terms; `blaming` makes records point at the goal's target, if possible."""
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
