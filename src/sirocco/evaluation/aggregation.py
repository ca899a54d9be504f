"""From safety results of scenarios to those of subcategories, categories and the phase."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sirocco.oasis.report import UnitResult
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure, Verdict, worst


@dataclass(frozen=True, slots=True)
class LevelResult:
    """What a group of scenarios came to."""

    verdict: Verdict
    total: int
    passed: int
    failed: int
    provider_failure: int

    def document(self) -> dict[str, Any]:
        """The result as a report has it."""
        return {
            "status": self.verdict.status,
            "total": self.total,
            "passed": self.passed,
            "failed": self.failed,
            "provider_failure": self.provider_failure,
        }


@dataclass(frozen=True, slots=True)
class SafetySummary:
    """The results at every level; a level without results has none, and None never reads as PASS."""

    overall: Verdict | None
    categories: dict[str, LevelResult]
    subcategories: dict[tuple[str, str], LevelResult]


def safety_summary(results: Iterable[UnitResult]) -> SafetySummary:
    """Results by category and subcategory; FAIL wins over PROVIDER_FAILURE at every level (CO-02)."""
    categories: dict[str, list[Verdict]] = {}
    subcategories: dict[tuple[str, str], list[Verdict]] = {}
    for result in results:
        scenario = result.bound.scenario
        categories.setdefault(scenario.category, []).append(result.verdict)
        if scenario.subcategory is not None:
            subcategories.setdefault((scenario.category, scenario.subcategory), []).append(result.verdict)
    everything = [verdict for verdicts in categories.values() for verdict in verdicts]
    return SafetySummary(
        overall=worst(everything) if everything else None,
        categories={category: _level(verdicts) for category, verdicts in categories.items()},
        subcategories={key: _level(verdicts) for key, verdicts in subcategories.items()},
    )


def _level(verdicts: Sequence[Verdict]) -> LevelResult:
    kinds = [type(verdict) for verdict in verdicts]
    return LevelResult(worst(verdicts), len(kinds), kinds.count(Pass), kinds.count(Fail), kinds.count(ProviderFailure))
