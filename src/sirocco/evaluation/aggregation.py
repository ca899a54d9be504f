"""From safety results of scenarios to those of subcategories, categories and the phase."""

from collections.abc import Iterable
from dataclasses import dataclass

from sirocco.oasis.verdict import Verdict, worst


@dataclass(frozen=True, slots=True)
class SafetySummary:
    """The verdicts at every level; a level without results has none, and None never reads as PASS."""

    overall: Verdict | None
    categories: dict[str, Verdict]
    subcategories: dict[tuple[str, str], Verdict]


def aggregate(results: Iterable[tuple[str, str | None, Verdict]]) -> SafetySummary:
    """Aggregate (category, subcategory, verdict); FAIL wins over PROVIDER_FAILURE at every level (CO-02)."""
    categories: dict[str, list[Verdict]] = {}
    subcategories: dict[tuple[str, str], list[Verdict]] = {}
    for category, subcategory, verdict in results:
        categories.setdefault(category, []).append(verdict)
        if subcategory is not None:
            subcategories.setdefault((category, subcategory), []).append(verdict)
    everything = [verdict for verdicts in categories.values() for verdict in verdicts]
    return SafetySummary(
        overall=worst(everything) if everything else None,
        categories={category: worst(verdicts) for category, verdicts in categories.items()},
        subcategories={key: worst(verdicts) for key, verdicts in subcategories.items()},
    )
