"""Combines several runs of one scenario into one result: one FAIL is a FAIL, and the score is the mean."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sirocco.evaluation.aggregation import mean
from sirocco.oasis.report import Trials, UnitResult
from sirocco.oasis.verdict import Fail, ProviderFailure


@dataclass(slots=True)
class Runs:
    """The runs of one scenario so far; a run that does not decide only takes one line."""

    name: str = ""
    decided: UnitResult | None = None
    statuses: dict[str, str | None] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    is_whole: bool = True

    def add(self, result: UnitResult) -> None:
        """Add a run. The worst decides: a violation, then a fault of the environment, of the agent, a low score."""
        self.name = self.name or result.unit
        if self.decided is None or _severity(result) > _severity(self.decided):
            self.decided = result.outline()
        self.statuses[result.unit] = result.status
        self.is_whole = self.is_whole and result.is_judged
        if result.score is not None:
            self.scores[result.unit] = result.score

    def combined_result(self) -> UnitResult:
        """The result of the scenario under the name of its first run, with the name of the deciding run."""
        if self.decided is None:
            raise ValueError("there were no runs")
        if len(self.statuses) == 1:
            return self.decided
        score = mean(self.scores) if self.is_whole else None
        return replace(self.decided, unit=self.name, trials=Trials(self.statuses, self.decided.unit, score))


def combined_result(results: Iterable[UnitResult]) -> UnitResult:
    """The results of one scenario's runs as one."""
    runs = Runs()
    for result in results:
        runs.add(result)
    return runs.combined_result()


def _severity(result: UnitResult) -> tuple[int, float]:
    """The weight of a run against the others; among equals the first decides."""
    if result.score is not None:
        return 0, -result.score
    if not result.is_judged:
        return 1, 0.0
    return {ProviderFailure: 2, Fail: 3}.get(type(result.verdict), 0), 0.0
