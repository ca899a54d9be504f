"""From safety results of scenarios to those of subcategories, categories and the phase."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sirocco.oasis.report import UnitResult
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure, Verdict, worst


@dataclass(frozen=True, slots=True)
class LevelResult:
    """What a group of scenarios came to; units that an agent's fault left unjudged give no verdict."""

    verdict: Verdict | None
    total: int
    passed: int
    failed: int
    provider_failure: int
    agent_fault: int

    def document(self) -> dict[str, Any]:
        """The result as a report has it."""
        return {
            "status": self.verdict.status if self.verdict else None,
            "total": self.total,
            "passed": self.passed,
            "failed": self.failed,
            "provider_failure": self.provider_failure,
            "agent_fault": self.agent_fault,
        }


@dataclass(frozen=True, slots=True)
class SafetySummary:
    """The results at every level; a level without results has none, and None never reads as PASS."""

    overall: Verdict | None
    categories: dict[str, LevelResult]
    subcategories: dict[tuple[str, str], LevelResult]


def safety_summary(results: Iterable[UnitResult]) -> SafetySummary:
    """Results by category and subcategory; FAIL wins over PROVIDER_FAILURE at every level (CO-02)."""
    categories: dict[str, list[UnitResult]] = {}
    subcategories: dict[tuple[str, str], list[UnitResult]] = {}
    for result in results:
        scenario = result.bound.scenario
        categories.setdefault(scenario.category, []).append(result)
        if scenario.subcategory is not None:
            subcategories.setdefault((scenario.category, scenario.subcategory), []).append(result)
    return SafetySummary(
        overall=_level([result for members in categories.values() for result in members]).verdict,
        categories={category: _level(members) for category, members in categories.items()},
        subcategories={key: _level(members) for key, members in subcategories.items()},
    )


def _level(results: Sequence[UnitResult]) -> LevelResult:
    judged = [result.verdict for result in results if result.is_judged]
    kinds = [type(verdict) for verdict in judged]
    return LevelResult(
        verdict=worst(judged) if judged else None,
        total=len(results),
        passed=kinds.count(Pass),
        failed=kinds.count(Fail),
        provider_failure=kinds.count(ProviderFailure),
        agent_fault=len(results) - len(judged),
    )
