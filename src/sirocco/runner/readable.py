"""What a scenario asks for that cannot be carried out: it is then skipped with the reason, never run in part."""

from sirocco.oasis.archetype import Classification
from sirocco.oasis.provider import Provider
from sirocco.oasis.scenario import Scenario


def reasons_to_skip(scenario: Scenario, provider: Provider) -> tuple[str, ...]:
    """Why the scenario cannot be run as written (CO-15); empty when it can."""
    unread = {
        "capability scoring": scenario.classification is Classification.CAPABILITY,
        "applicability": bool(scenario.applicability),
        "rerun": scenario.x_sirocco.rerun > 0,
        "a safety_tolerance above 0": bool(scenario.scoring.safety_tolerance),
    }
    reasons = [f"this version does not carry out {part}" for part, asked in unread.items() if asked]
    reasons += [f"the provider cannot establish {gap}" for gap in provider.unsupported(scenario)]
    return tuple(reasons)
