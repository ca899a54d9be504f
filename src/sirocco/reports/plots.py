"""The figures behind the adversarial phase's plots, from a verdict: counts and positions, no markup (SI-04)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sirocco.reports.findings import probe_name
from sirocco.reports.headline import archetype_names, archetype_title, category_names

Detail = Mapping[str, Any]
_NO_TECHNIQUE = "other"


@dataclass(frozen=True, slots=True)
class HeatCell:
    """The safety probes of one archetype by one technique; `share` is the share of judged ones that violated it."""

    technique: str
    run: int
    failed: int
    share: float


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One archetype of the heat map."""

    archetype: str
    name: str
    run: int
    failed: int
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Safety archetypes by techniques, as far as probes were run for both."""

    techniques: tuple[str, ...]
    rows: tuple[HeatRow, ...]


@dataclass(frozen=True, slots=True)
class RateRow:
    """A category's violation rate under probes with its interval, and that of the published scenarios."""

    name: str
    core: tuple[int, int]
    probes: tuple[int, int]
    interval: tuple[float, float]

    @property
    def core_rate(self) -> float:
        """The share of published scenarios that were violated."""
        return self.core[0] / self.core[1] if self.core[1] else 0.0

    @property
    def rate(self) -> float:
        """The share of probes that were violated."""
        return self.probes[0] / self.probes[1] if self.probes[1] else 0.0


@dataclass(frozen=True, slots=True)
class BudgetCurve:
    """How many different findings there were after each number of agent calls spent on probes.

    `points` are the corners of the steps, and `first` is the call that produced the first finding.
    """

    points: tuple[tuple[int, int], ...]
    first: int
    calls: int
    findings: int
    spent: int
    """Agent calls of the whole phase: re-runs, confirmation and shrinking are not on the curve."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the way from a draft to a confirmed violation."""

    name: str
    count: int
    share: float


def heat_map(verdict: Detail) -> HeatMap:
    """The results of each technique against each safety archetype; an undelivered probe counts only as run."""
    counts: dict[str, dict[str, list[bool | None]]] = {}
    for one in _safety_details(verdict):
        outcome = (
            None if one.get("status") == "PASS" and not one.get("delivered", True) else one.get("status") == "FAIL"
        )
        technique = str(one.get("technique") or _NO_TECHNIQUE)
        counts.setdefault(str(one["archetype"]), {}).setdefault(technique, []).append(outcome)
    techniques = tuple(sorted({technique for row in counts.values() for technique in row}))
    names = archetype_names(verdict)
    rows = []
    for archetype, row in sorted(counts.items()):
        cells = tuple(_heat_cell(technique, row.get(technique, ())) for technique in techniques)
        run, failed = sum(one.run for one in cells), sum(one.failed for one in cells)
        rows.append(HeatRow(archetype, names.get(archetype, archetype), run, failed, cells))
    return HeatMap(tuple(one.replace("_", " ") for one in techniques), tuple(rows))


def _heat_cell(technique: str, outcomes: Sequence[bool | None]) -> HeatCell:
    failed = sum(one is True for one in outcomes)
    share = failed / len(outcomes) if outcomes else 0.0
    return HeatCell(technique.replace("_", " "), len(outcomes), failed, share)


def _safety_details(verdict: Detail) -> Iterator[Detail]:
    """The lines about safety probes; a line about a capability probe has a score."""
    block = verdict.get("adversarial_verification") or {}
    return (one for one in block.get("probe_details", ()) if "score" not in one)


def category_rates(verdict: Detail) -> tuple[RateRow, ...]:
    """The violation rates per category; none where the figures are withheld."""
    figures = (verdict.get("adversarial_verification") or {}).get("generalization") or {}
    names = category_names(verdict)
    return tuple(
        RateRow(
            names.get(category, category),
            (row["core"]["failed"], row["core"]["scenarios"]),
            (row["probes"]["failed"], row["probes"]["run"]),
            (row["probes"]["interval"][0], row["probes"]["interval"][1]),
        )
        for category, row in (figures.get("categories") or {}).items()
        if "interval" in row["probes"]
    )


def budget_curve(verdict: Detail) -> BudgetCurve | None:
    """Findings against agent calls, in the order in which probes were run; None if nothing was found."""
    block = verdict.get("adversarial_verification") or {}
    finding_of = {
        probe_name({"probe_serialized": file}): number
        for number, one in enumerate(block.get("findings", ()))
        for file in one["probes"]
    }
    calls, seen, points = 0, set[int](), [(0, 0)]
    safety = {str(one["probe"]) for one in _safety_details(verdict)}
    for one in block.get("probe_details", ()):
        calls += int(one.get("agent_calls", 1))
        found = finding_of.get(str(one["probe"]))
        if found is not None and found not in seen and str(one["probe"]) in safety:
            points += [(calls, len(seen)), (calls, len(seen) + 1)]
            seen.add(found)
    if not seen:
        return None
    spent = int((block.get("agent_calls") or {}).get("spent", calls))
    return BudgetCurve((*points, (calls, len(seen))), points[1][0], calls, len(seen), max(spent, calls))


def admission_funnel(verdict: Detail) -> tuple[Step, ...]:
    """From drafts to reproduced violations; each step is a part of the one before."""
    block = verdict.get("adversarial_verification")
    if block is None:
        return ()
    results = block["safety_results"]
    failures = results.get("failures", ())
    counts = (
        ("drafted", block["admission"]["drafted"]),
        ("admitted", block["admission"]["admitted"]),
        ("run", block["executed"]),
        ("delivered to the agent", block["delivered"]),
        ("safety violated", results["failed"]),
        ("reproduced", sum(one["reproduction"]["failed"] > 0 for one in failures)),
    )
    widest = max(*(count for _, count in counts), 1)
    return tuple(Step(name, count, count / widest) for name, count in counts)


def pair_shares(verdict: Detail) -> tuple[Step, ...]:
    """The results of renamed scenarios against their originals; empty if none were compared."""
    pairs = (verdict.get("adversarial_verification") or {}).get("pairs") or {}
    total = sum(int(pairs.get(name, 0)) for name in ("worse", "same", "better", "undecided"))
    if not total:
        return ()
    return tuple(
        Step(name, int(pairs.get(name, 0)), int(pairs.get(name, 0)) / total)
        for name in ("worse", "same", "better", "undecided")
    )


def unreached(verdict: Detail) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What the probes left untested, by kind, with archetypes by name."""
    block, names = verdict.get("adversarial_verification") or {}, archetype_names(verdict)
    covered = block.get("coverage") or {}
    missing = covered.get("not_covered") or {}
    found = (
        ("safety archetypes without a delivered probe", block.get("archetypes_without_delivered_probe") or ()),
        ("archetypes not probed", missing.get("archetypes") or ()),
        ("archetypes that the generator has nothing for", covered.get("not_offered") or ()),
        ("archetypes whose drafts ran out", covered.get("exhausted") or ()),
        ("archetypes with few probes", tuple(covered.get("thin") or ())),
        ("techniques", missing.get("techniques") or ()),
        ("surfaces", missing.get("surfaces") or ()),
        ("because agent calls ran out", (block.get("agent_calls") or {}).get("not_reached") or ()),
    )
    return tuple((kind, tuple(_readable(str(one), names) for one in parts)) for kind, parts in found if parts)


def _readable(part: str, names: Mapping[str, str]) -> str:
    return archetype_title(names, part) if part in names else part.replace("_", " ")
