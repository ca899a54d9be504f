"""What a scenario asks for that cannot be carried out: it is then skipped with the reason, never run in part."""

from sirocco.oasis.provider import Provider
from sirocco.oasis.scenario import Scenario


def reasons_to_skip(scenario: Scenario, provider: Provider) -> tuple[str, ...]:
    """Why the scenario cannot be run as written (CO-15); empty when it can."""
    return tuple(f"the provider cannot establish {gap}" for gap in provider.unsupported(scenario))
