"""What the page shows of a verdict, and how much: it stays readable however many units a run has (CO-11).

Every failure is on it. Whatever does not fit is counted, and the page says so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sirocco.reports.findings import probe_name, probes_to_tell
from sirocco.reports.headline import category_names, category_outcome
from sirocco.reports.story import Story

Detail = Mapping[str, Any]

MOST_FAILURES = 300
"""The number of failures shown with all their evidence; the others are listed with their reason."""
MOST_PASSES = 100
"""The number of passes shown with their evidence."""
MOST_LISTED = 40
"""The number of passes listed per category."""
MOST_PROBES = 100
"""The number of failed probes shown with their evidence."""


@dataclass(frozen=True, slots=True)
class Row:
    """One scenario or probe on the page; `number` makes its anchor, since outside text must not."""

    number: int
    detail: Detail
    story: Story | None
    tone: str
    needs_attention: bool


@dataclass(frozen=True, slots=True)
class Group:
    """The scenarios of one category: shown in full, listed with their reason only, or just counted."""

    id: str
    name: str
    classification: str
    rows: tuple[Row, ...]
    brief: tuple[Detail, ...]
    unlisted: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One archetype in the matrix: the results of its scenarios, and the first of them on the page."""

    archetype: str
    name: str
    tone: str
    passed: int
    total: int
    reason: str
    anchor: int | None


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One category of the safety matrix with its archetypes."""

    id: str
    name: str
    level: Detail
    evaluated: int
    required: int
    cells: tuple[Cell, ...]


def units_to_show(verdict: Detail) -> tuple[str, ...]:
    """The units whose evidence the page shows: failures first, then those that need attention, then passes."""
    details = verdict["scenario_details"]
    failures = [deciding_unit(one) for one in details if _needs_attention(one)]
    passes = [deciding_unit(one) for one in details if not _needs_attention(one)]
    return (*failures[:MOST_FAILURES], *passes[:MOST_PASSES], *_failed_probes(verdict))


def deciding_unit(detail: Detail) -> str:
    """The unit that a scenario's verdict comes from; among several trials, the decisive one."""
    trials = detail.get("trials") or {}
    return str(trials.get("decided_by") or detail["scenario_id"])


def _failed_probes(verdict: Detail) -> Iterator[str]:
    """The probes that explain findings, worst first, then other failed ones, safety before capability."""
    block = verdict.get("adversarial_verification") or {}
    results = (block.get(name) or {} for name in ("safety_results", "capability_results"))
    failed = (probe_name(one) for part in results for one in part.get("failures", ()))
    return islice(dict.fromkeys((*probes_to_tell(verdict), *failed)), MOST_PROBES)


def _needs_attention(detail: Detail) -> bool:
    return detail.get("status") != "PASS" or bool(detail.get("lowest_band")) or bool(detail.get("deviation"))


def _tone(detail: Detail) -> str:
    """How a result looks; a capability score is not a verdict and does not get a verdict's colour."""
    status = detail.get("status")
    if detail.get("classification") == "capability":
        return status if status == "PROVIDER_FAILURE" else ("NONE" if status is None else "")
    return status or "NONE"


def groups(verdict: Detail, stories: Mapping[str, Story]) -> tuple[Group, ...]:
    """The scenarios by category, safety before capability, in each those first that need attention."""
    by_category: dict[tuple[str, str], list[Detail]] = {}
    for detail in verdict["scenario_details"]:
        kind = str(detail.get("classification", "safety"))
        by_category.setdefault((kind, str(detail["category"])), []).append(detail)
    names = category_names(verdict)
    numbers = iter(range(1, len(verdict["scenario_details"]) + 1))
    ordered = sorted(by_category.items(), key=lambda item: item[0][0] != "safety")
    return tuple(
        _group(category, names.get(category, category), kind, details, stories, numbers)
        for (kind, category), details in ordered
    )


def _group(
    category: str,
    name: str,
    kind: str,
    details: Sequence[Detail],
    stories: Mapping[str, Story],
    numbers: Iterator[int],
) -> Group:
    attention = [one for one in details if _needs_attention(one)]
    fine = [one for one in details if not _needs_attention(one)]
    # Without evidence, a failure keeps its checks while there are few; among thousands, the reason has to suffice.
    told = [one for one in attention if deciding_unit(one) in stories] if len(attention) > MOST_FAILURES else attention
    known = {id(one) for one in told}
    rows = (_row(next(numbers), one, stories) for one in (*told, *fine[:MOST_LISTED]))
    brief = tuple(one for one in attention if id(one) not in known)
    return Group(category, name, kind, tuple(rows), brief, max(0, len(fine) - MOST_LISTED))


def _row(number: int, detail: Detail, stories: Mapping[str, Story]) -> Row:
    story = stories.get(deciding_unit(detail))
    return Row(number, detail, story, _tone(detail), _needs_attention(detail))


def safety_matrix(verdict: Detail, shown: Iterable[Group]) -> tuple[MatrixRow, ...]:
    """Safety categories with their archetypes, including those that were not evaluated."""
    details, coverage = verdict["safety_details"], verdict["coverage"].get("safety", {})
    anchors: dict[str, int] = {}
    for group in shown:
        for row in group.rows:
            anchors.setdefault(str(row.detail["archetype"]), row.number)
    names = category_names(verdict)
    reasons = {str(one["archetype"]): str(one["reason"]) for one in coverage.get("skipped_archetypes", ())}
    known = _archetypes(verdict, "safety")
    levels = {name: _level_outcome(verdict, name, level) for name, level in details["category_results"].items()}
    return tuple(
        MatrixRow(
            category,
            names.get(category, category),
            levels.get(category, {}),
            int(coverage.get("by_category", {}).get(category, 0)),
            int(coverage.get("required_by_category", {}).get(category, 0)),
            tuple(_cell(verdict, one, reasons, anchors) for one in known if one["category"] == category),
        )
        for category in dict.fromkeys((*(str(one["category"]) for one in known), *levels))
    )


def _level_outcome(verdict: Detail, category: str, level: Detail) -> Detail:
    """The outcome of a level as a reader may understand it."""
    status, told = category_outcome(verdict, category, level)
    return {**level, "status": status, "told": told}


def _archetypes(verdict: Detail, kind: str) -> list[Detail]:
    """The archetypes of a classification in the profile's order; those that ran if the verdict does not list them."""
    listed = verdict["coverage"].get(kind, {}).get("archetypes")
    if listed is not None:
        return list(listed)
    ran = (one for one in verdict["scenario_details"] if one.get("classification", "safety") == kind)
    found = {one["archetype"]: {"archetype": one["archetype"], "name": "", "category": one["category"]} for one in ran}
    return list(found.values())


def _cell(verdict: Detail, archetype: Detail, reasons: Mapping[str, str], anchors: Mapping[str, int]) -> Cell:
    name = str(archetype["archetype"])
    own = [one.get("status") for one in verdict["scenario_details"] if one["archetype"] == name]
    order = ("FAIL", "PROVIDER_FAILURE", None, "PASS")
    tone = next((status or "NONE" for status in order if status in own), "") if own else ""
    passed, anchor = own.count("PASS"), anchors.get(name)
    return Cell(name, str(archetype["name"]), tone, passed, len(own), reasons.get(name, ""), anchor)


@dataclass(frozen=True, slots=True)
class Probed:
    """The results of one archetype's safety probes."""

    archetype: str
    run: int
    passed: int
    failed: int


def probed_archetypes(verdict: Detail) -> tuple[Probed, ...]:
    """Safety archetypes under probes; a capability probe has a score instead, and an undelivered one no pass."""
    block = verdict.get("adversarial_verification") or {}
    found: dict[str, list[str | None]] = {}
    for one in block.get("probe_details", ()):
        if "score" not in one:
            is_open = one.get("status") == "PASS" and not one.get("delivered", True)
            found.setdefault(str(one["archetype"]), []).append(None if is_open else one.get("status"))
    return tuple(Probed(name, len(own), own.count("PASS"), own.count("FAIL")) for name, own in sorted(found.items()))


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """One probe on the page that failed, or during which safety was violated; `number` makes its anchor."""

    number: int
    archetype: str
    category: str
    failure: Detail
    story: Story | None
    is_safety: bool


def probe_rows(verdict: Detail, stories: Mapping[str, Story]) -> tuple[ProbeRow, ...]:
    """Failed probes, safety first, then violations by probes aimed at something else."""
    block = verdict.get("adversarial_verification") or {}
    safety, capability = (
        (block.get(results) or {}).get("failures", ()) for results in ("safety_results", "capability_results")
    )
    known = {probe_name(one) for one in (*safety, *capability)}
    beside = [_failure_beside(one) for one in block.get("secondary_violations") or ()]
    ordered = [(one, True) for one in (*safety, *(one for one in beside if probe_name(one) not in known))]
    ordered += [(one, False) for one in capability]
    categories = {
        str(one["archetype"]): str(one["category"])
        for row in verdict["coverage"].values()
        for one in row.get("archetypes", ())
    }
    return tuple(
        ProbeRow(
            number,
            str(one["primary_archetype"]),
            categories.get(str(one["primary_archetype"]), ""),
            one,
            stories.get(probe_name(one)),
            is_safety,
        )
        for number, (one, is_safety) in enumerate(ordered, start=1)
    )


def _failure_beside(violation: Detail) -> Detail:
    """A violation by a probe aimed at something else, in the form of a failure."""
    return {
        "primary_archetype": violation.get("archetype", ""),
        "description": violation.get("evidence", ""),
        "probe_serialized": violation.get("probe_serialized", ""),
        "lineage": [],
        "reproduction": {"runs": 0, "failed": 0},
    }
