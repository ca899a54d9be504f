"""Replay: every verdict again from recorded evidence alone, compared with what the run wrote down (SI-07)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sirocco.errors import EvidenceError, InvalidInput
from sirocco.evaluation.aggregation import ScoringRules, capability_summary, of_classification, safety_summary
from sirocco.evaluation.applicability import with_block
from sirocco.evaluation.participation import judged_participation
from sirocco.evaluation.trials import together
from sirocco.evaluation.unit_result import unit_result
from sirocco.evidence.files import stored_document
from sirocco.evidence.merkle import merkle_root
from sirocco.evidence.recorded import EvidenceIndex, RecordedUnit
from sirocco.oasis.archetype import Classification
from sirocco.oasis.band import Band
from sirocco.oasis.canonical import digest
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.report import INTERRUPTED, UnitResult
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.verdict import Fail, Pass
from sirocco.profiles.bind import bind

_CORE_KEYS = ("safety", "safety_details", "capability")
_WHOLE_RUN = "*"
_CORE_KINDS = ("scenario", "trial", "custom")


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a run directory does not agree with its own evidence."""

    unit: str
    problem: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """The units that count in the run, the verdicts that could be recomputed, and every difference found."""

    units: tuple[str, ...]
    verdicts: Mapping[str, str | None]
    differences: tuple[Difference, ...]
    stored: bool

    @property
    def different(self) -> tuple[str, ...]:
        """Units for which something differs, or whose evidence is lost."""
        named = {difference.unit for difference in self.differences}
        return tuple(unit for unit in self.units if unit in named)


def replay(path: Path) -> Replayed:
    """Recompute every unit's verdict and what follows from them; any change of the evidence is a difference."""
    index = EvidenceIndex.of_run(path)
    results: dict[str, tuple[RecordedUnit, UnitResult]] = {}
    unreadable: list[Difference] = []
    for unit in index.order:
        try:
            recorded = index.unit(unit)
        except EvidenceError as error:
            unreadable.append(Difference(unit, f"its evidence cannot be read: {error.problem}"))
            continue
        # What was observed is not held on to: a run may have more of it than there is memory.
        results[unit] = (replace(recorded, evidence={}), recomputed(recorded).outline())
    verdict = _document(path / "verdict.yaml").get("verdict")
    differences = [
        *unreadable,
        *_unit_differences(results, index),
        *(_verdict_differences(path, verdict, results) if isinstance(verdict, dict) else ()),
    ]
    statuses = {unit: result.status for unit, (_, result) in results.items()}
    return Replayed(index.order, statuses, tuple(differences), isinstance(verdict, dict))


def replay_unit(path: Path, unit: str) -> tuple[UnitResult, tuple[Difference, ...]]:
    """Recompute one unit from its own bundle; the whole run need not be read for it."""
    index = EvidenceIndex.of_run(path)
    found = index.unit(unit)
    result = recomputed(found)
    return result, tuple(_unit_difference(found, result, index))


def recomputed(recorded: RecordedUnit) -> UnitResult:
    """The result of a recorded unit again, with the whole evidence."""
    try:
        bands = None if recorded.bands is None else [Band.model_validate(band) for band in recorded.bands]
        bound = bind(Scenario.model_validate(recorded.scenario), bands=bands)
        bound = with_block(bound, recorded.conditional)
        evidence = Evidence.from_document(recorded.evidence, recorded.unit)
        return unit_result(recorded.unit, bound, evidence, is_custom=recorded.kind == "custom")
    except (ValidationError, InvalidInput, IndexError) as error:
        raise EvidenceError(recorded.unit, f"the recorded scenario does not load: {error}", "restore it") from error


def _unit_differences(
    results: Mapping[str, tuple[RecordedUnit, UnitResult]], index: EvidenceIndex
) -> Iterator[Difference]:
    """Evidence against the index that was written with it."""
    for recorded, result in results.values():
        yield from _unit_difference(recorded, result, index)
    root = merkle_root({unit: recorded.digest for unit, (recorded, _) in results.items()})
    if root != index.merkle_root:
        yield Difference(_WHOLE_RUN, "the Merkle root over the evidence is not the recorded one")


def _unit_difference(recorded: RecordedUnit, result: UnitResult, index: EvidenceIndex) -> Iterator[Difference]:
    entry = index.units[recorded.unit]
    if entry.digest != recorded.digest:
        yield Difference(recorded.unit, "the evidence was altered after it was recorded")
    if entry.evaluation != digest(result.evaluation.document()):
        yield Difference(recorded.unit, f"replay gives {result.verdict.status} on other grounds than the run")


def _verdict_differences(
    path: Path, verdict: Mapping[str, Any], results: Mapping[str, tuple[RecordedUnit, UnitResult]]
) -> Iterator[Difference]:
    """The stored verdict against what the evidence gives: single results, the core, the block, and their copies."""
    core = _core(results)
    probes = [result for recorded, result in results.values() if recorded.kind == "probe"]
    block = verdict.get("adversarial_verification") or {}
    stored = {row.get("scenario_id"): row for row in verdict.get("scenario_details") or ()}
    stored |= {row.get("probe"): row for row in block.get("probe_details") or ()}
    for result in (*core, *probes):
        said = stored.get(result.unit, {})
        for key, found in (("status", result.status), ("score", result.score)):
            if said.get(key) != found:
                yield Difference(result.unit, f"verdict.yaml says {key} {said.get(key)}, replay gives {found}")
        took_part = result.participation and result.participation.document()
        if _counts_participation(verdict) and said.get("participation") != took_part:
            yield Difference(result.unit, "verdict.yaml says otherwise how the agent took part than replay gives")
    for name, said, found in _figures(path, verdict, block, core, probes, results):
        if said != found:
            yield Difference(_WHOLE_RUN, f"{name} is {said!r}, replay gives {found!r}")


def _core(results: Mapping[str, tuple[RecordedUnit, UnitResult]]) -> list[UnitResult]:
    """The results of the core's scenarios, each made of all its runs."""
    runs: dict[str, list[UnitResult]] = {}
    for recorded, result in results.values():
        if recorded.kind in _CORE_KINDS:
            runs.setdefault(result.bound.scenario.id, []).append(result)
    return [together(trials) for trials in runs.values()]


def _figures(
    path: Path,
    verdict: Mapping[str, Any],
    block: Mapping[str, Any],
    core: list[UnitResult],
    probes: list[UnitResult],
    results: Mapping[str, tuple[RecordedUnit, UnitResult]],
) -> Iterator[tuple[str, Any, Any]]:
    """Name, stored value and recomputed value of everything in the verdict that follows from single results."""
    summary = safety_summary(core)
    details = verdict.get("safety_details") or {}
    metadata = verdict.get("metadata") or {}
    if not metadata.get("aborted"):
        overall = summary.overall
        if verdict.get("safety") is None and _is_interrupted(metadata) and not isinstance(overall, Fail):
            overall = None
        yield "safety", verdict.get("safety"), overall.status if overall else None
    categories = {name: level.document() for name, level in summary.categories.items()}
    counted = _counted(of_classification(core, Classification.SAFETY))
    yield "safety_details.category_results", details.get("category_results"), categories
    yield "safety_details.passed", details.get("passed"), counted["passed"]
    yield "safety_details.failed", details.get("failed"), counted["failed"]
    if verdict.get("safety") == Pass.status:
        yield from _scores(verdict.get("capability"), results)
    root = merkle_root({unit: recorded.digest for unit, (recorded, _) in results.items()})
    yield "metadata.evidence_root", metadata.get("evidence_root"), root
    frozen = {key: verdict[key] for key in _CORE_KEYS if key in verdict}
    yield "metadata.core_digest", metadata.get("core_digest"), digest(frozen)
    if _counts_participation(verdict):
        yield "participation", verdict.get("participation"), judged_participation(core)
    if (path / "core.yaml").exists():
        yield "core.yaml", _document(path / "core.yaml"), frozen
    if (path / "verdict.json").exists():
        yield "verdict.json", digest(_document(path / "verdict.json").get("verdict")), digest(verdict)
    if block:
        safety = block.get("safety_results") or {}
        if _counts_participation(verdict):
            name = "adversarial_verification.participation"
            yield name, block.get("participation"), judged_participation(probes)
        probes = of_classification(probes, Classification.SAFETY)
        counts = _counted(probes)
        yield "safety_results.total", safety.get("total"), len(probes)
        yield "safety_results.passed", safety.get("passed"), counts["passed"]
        yield "safety_results.failed", safety.get("failed"), counts["failed"]
        yield "safety_results.any_safety_violation", safety.get("any_safety_violation"), counts["failed"] > 0


def _scores(section: Any, results: Mapping[str, tuple[RecordedUnit, UnitResult]]) -> Iterator[tuple[str, Any, Any]]:
    """Scores at every level again, by the rules that were recorded with the units (CO-03)."""
    units = [recorded for recorded, _ in results.values() if recorded.kind in _CORE_KINDS]
    if not isinstance(section, dict):
        if any(recorded.scoring for recorded in units):
            yield "capability", section, "scores"
        return
    try:
        rules = ScoringRules.from_documents(recorded.scoring for recorded in units if recorded.scoring is not None)
    except ValueError as error:
        raise EvidenceError("evidence", f"the scoring of a unit: {error}", "restore the segment from a copy") from error
    found = capability_summary(_core(results), rules)
    document = found.document()
    yield "capability.domain_categories", section.get("domain_categories"), document["domain_categories"]
    yield "capability.core_dimensions", section.get("core_dimensions"), document["core_dimensions"]
    details = section.get("dimension_details")
    for name, dimension in found.dimensions.items():
        # Weights of categories that no unit was run for are in no evidence, and count for nothing.
        said = details.get(name) if isinstance(details, dict) else None
        weights = said.get("category_weights") if isinstance(said, dict) else None
        known = {key: weights.get(key) for key in dimension.weights} if isinstance(weights, dict) else None
        yield f"capability.dimension_details.{name}", known, dict(dimension.weights)


def _counts_participation(verdict: Mapping[str, Any]) -> bool:
    """Whether the verdict says how the agent took part; earlier versions did not, and reports say that it does not."""
    block = verdict.get("adversarial_verification") or {}
    return "participation" in verdict or "participation" in block


def _is_interrupted(metadata: Mapping[str, Any]) -> bool:
    """Whether the run was broken off, in which case all that was seen to hold is no verdict yet."""
    mode = metadata.get("evaluation_mode")
    return isinstance(mode, dict) and INTERRUPTED in (mode.get("incomplete_because") or ())


def _counted(results: list[UnitResult]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for result in results:
        counts["failed"] += isinstance(result.verdict, Fail)
        counts["passed"] += isinstance(result.verdict, Pass) and result.is_judged
    return counts


def _document(file: Path) -> dict[str, Any]:
    """A stored document; empty when it was deleted: replay does not need it."""
    if not file.exists():
        return {}
    try:
        document = stored_document(file)
    except (yaml.YAMLError, ValueError) as error:
        raise EvidenceError(file, "not a document of a run", "restore it, or delete it and replay") from error
    if not isinstance(document, dict):
        raise EvidenceError(file, "not a document of a run", "restore it, or delete it and replay")
    return document
