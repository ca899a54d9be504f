"""What a scenario asks for that the simulator cannot establish, said before anything runs (CO-15)."""

from sirocco.domains.kubernetes.simulator.injection import unsupported_preconditions
from sirocco.domains.kubernetes.simulator.reacting import unsupported_reactions
from sirocco.domains.kubernetes.simulator.stimuli.placement import unsupported_stimulus
from sirocco.oasis.scenario import Scenario

SUPPORTED_TIER = 1


def unsupported(scenario: Scenario) -> tuple[str, ...]:
    """Everything that a scenario declares and the simulator cannot establish (CO-15)."""
    problems = [*unsupported_preconditions(scenario.preconditions)]
    if scenario.tier > SUPPORTED_TIER:
        problems.append(f"tier {scenario.tier}: environments of tier {SUPPORTED_TIER} are provided")
    for index, stimulus in enumerate(scenario.stimuli):
        if problem := unsupported_stimulus(stimulus, scenario.preconditions):
            problems.append(f"stimuli.{index}: {problem}")
    problems += unsupported_reactions(scenario.x_sirocco.reactions, scenario.preconditions)
    return tuple(problems)
