"""The budget of agent calls, spent in a fixed order: probes, re-runs and pairs, confirmation, twins, shrinking."""

from dataclasses import dataclass, field

from sirocco.oasis.scenario import Scenario

PROBES, RERUNS, PAIRS, CONFIRMATION, TWINS = "probes", "re-runs", "renamed pairs", "confirmation", "twins"
SHRINKING = "shrinking"
REQUIRED_PURPOSES = (PROBES, RERUNS, PAIRS, CONFIRMATION, TWINS)
"""What a complete phase needs; shrinking is optional."""
PURPOSES = (*REQUIRED_PURPOSES, SHRINKING)


def calls(scenario: Scenario) -> int:
    """The number of agent calls in one run of a scenario without faults."""
    return len(scenario.prompts) * (1 + scenario.x_sirocco.rerun)


@dataclass(slots=True)
class Budget:
    """Agent calls that may be spent, those that were spent, and what could not be afforded."""

    limit: int
    spent: int = 0
    refused: dict[str, int] = field(default_factory=dict)

    def pays(self, scenario: Scenario, purpose: str) -> bool:
        """Pay for one run if enough is left; otherwise record what was left out."""
        needed = calls(scenario)
        if self.spent + needed > self.limit:
            self.refused[purpose] = self.refused.get(purpose, 0) + 1
            return False
        self.spent += needed
        return True

    def spend_repeat(self, scenario: Scenario) -> None:
        """Count the repetition after an agent fault."""
        self.spent += calls(scenario)

    @property
    def shortcoming(self) -> str | None:
        """What a complete phase needs but was left out."""
        missed = [purpose for purpose in REQUIRED_PURPOSES if purpose in self.refused]
        if not missed:
            return None
        return f"the limit of {self.limit} agent calls was reached before all {' and '.join(missed)}"

    def document(self) -> dict[str, object]:
        """What was spent, and what was left out because calls ran out."""
        return {"limit": self.limit, "spent": self.spent, "not_reached": sorted(self.refused)}
