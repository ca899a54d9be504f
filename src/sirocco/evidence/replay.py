"""Replay: every verdict again from recorded evidence alone, compared with what the run wrote down (SI-07)."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sirocco.errors import EvidenceError, InvalidInput
from sirocco.evaluation.aggregation import safety_summary
from sirocco.evaluation.evaluate import evaluate
from sirocco.evidence.merkle import merkle_root
from sirocco.evidence.run_directory import INDEX, RecordedUnit, recorded_units
from sirocco.oasis.canonical import digest
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.verdict import Fail, Pass
from sirocco.profiles.bind import bind

_CORE_KEYS = ("safety", "safety_details", "capability")
_WHOLE_RUN = "*"


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a run directory does not agree with its own evidence."""

    unit: str
    problem: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """The recomputed verdicts and every difference found."""

    verdicts: Mapping[str, str | None]
    differences: tuple[Difference, ...]
    stored: bool

    @property
    def identical(self) -> int:
        """Units for which nothing differs."""
        return len(self.verdicts.keys() - {difference.unit for difference in self.differences})


def replay(path: Path) -> Replayed:
    """Recompute every unit's verdict and what follows from them; any change of the evidence is a difference."""
    index = _index(path)
    results: dict[str, tuple[RecordedUnit, UnitResult]] = {}
    for recorded in recorded_units(path):
        results[recorded.unit] = (recorded, _result(recorded))
    verdict = _document(path / "verdict.yaml").get("verdict")
    differences = [
        *_unit_differences(results, index),
        *(_verdict_differences(path, verdict, results) if isinstance(verdict, dict) else ()),
    ]
    statuses = {unit: result.status for unit, (_, result) in results.items()}
    return Replayed(statuses, tuple(differences), isinstance(verdict, dict))


def _result(recorded: RecordedUnit) -> UnitResult:
    try:
        bound = bind(Scenario.model_validate(recorded.scenario))
        evidence = Evidence.from_document(recorded.evidence, recorded.unit)
        fault = next((turn.fault for turn in evidence.turns if turn.fault), None)
        return UnitResult(recorded.unit, bound, evidence, evaluate(bound, evidence), fault)
    except (ValidationError, InvalidInput) as error:
        raise EvidenceError(recorded.unit, f"the recorded scenario does not load: {error}", "restore it") from error


def _unit_differences(
    results: Mapping[str, tuple[RecordedUnit, UnitResult]], index: Mapping[str, Any]
) -> Iterator[Difference]:
    """Evidence against the index that was written with it."""
    for unit, (recorded, result) in results.items():
        entry = index["units"].get(unit)
        if entry is None:
            yield Difference(unit, "the unit is not in the evidence index")
            continue
        if entry["digest"] != recorded.digest:
            yield Difference(unit, "the evidence was altered after it was recorded")
        if entry["evaluation"] != digest(result.evaluation.document()):
            yield Difference(unit, f"replay gives {result.verdict.status} on other grounds than the run")
    for unit in sorted(index["units"].keys() - results.keys()):
        yield Difference(unit, "no evidence is recorded")
    root = merkle_root({unit: recorded.digest for unit, (recorded, _) in results.items()})
    if root != index["merkle_root"]:
        yield Difference(_WHOLE_RUN, "the Merkle root over the evidence is not the recorded one")


def _verdict_differences(
    path: Path, verdict: Mapping[str, Any], results: Mapping[str, tuple[RecordedUnit, UnitResult]]
) -> Iterator[Difference]:
    """The stored verdict against what the evidence gives: single results, the core, the block, and their copies."""
    core = [result for recorded, result in results.values() if recorded.kind == "scenario"]
    probes = [result for recorded, result in results.values() if recorded.kind == "probe"]
    block = verdict.get("adversarial_verification") or {}
    stored = {row.get("scenario_id"): row.get("status") for row in verdict.get("scenario_details") or ()}
    stored |= {row.get("probe"): row.get("status") for row in block.get("probe_details") or ()}
    for result in (*core, *probes):
        if stored.get(result.unit) != result.status:
            yield Difference(result.unit, f"verdict.yaml says {stored.get(result.unit)}, replay gives {result.status}")
    for name, said, found in _figures(path, verdict, block, core, probes, results):
        if said != found:
            yield Difference(_WHOLE_RUN, f"{name} is {said!r}, replay gives {found!r}")


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
        yield "safety", verdict.get("safety"), summary.overall.status if summary.overall else None
    categories = {name: level.document() for name, level in summary.categories.items()}
    yield "safety_details.category_results", details.get("category_results"), categories
    yield "safety_details.passed", details.get("passed"), _counted(core)["passed"]
    yield "safety_details.failed", details.get("failed"), _counted(core)["failed"]
    root = merkle_root({unit: recorded.digest for unit, (recorded, _) in results.items()})
    yield "metadata.evidence_root", metadata.get("evidence_root"), root
    frozen = {key: verdict[key] for key in _CORE_KEYS if key in verdict}
    yield "metadata.core_digest", metadata.get("core_digest"), digest(frozen)
    if (path / "core.yaml").exists():
        yield "core.yaml", _document(path / "core.yaml"), frozen
    if (path / "verdict.json").exists():
        yield "verdict.json", digest(_document(path / "verdict.json").get("verdict")), digest(verdict)
    if block:
        safety = block.get("safety_results") or {}
        counts = _counted(probes)
        yield "safety_results.total", safety.get("total"), len(probes)
        yield "safety_results.passed", safety.get("passed"), counts["passed"]
        yield "safety_results.failed", safety.get("failed"), counts["failed"]
        yield "safety_results.any_safety_violation", safety.get("any_safety_violation"), counts["failed"] > 0


def _counted(results: list[UnitResult]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for result in results:
        counts["failed"] += isinstance(result.verdict, Fail)
        counts["passed"] += isinstance(result.verdict, Pass) and result.is_judged
    return counts


def _index(path: Path) -> dict[str, Any]:
    remedy = "give a run directory written by `sirocco run`"
    try:
        index = json.loads((path / INDEX).read_bytes())
        entries = index["units"].values()
        if all(entry.keys() >= {"digest", "evaluation"} for entry in entries) and "merkle_root" in index:
            return dict(index)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(path / INDEX, "the evidence index cannot be read", remedy) from error
    raise EvidenceError(path / INDEX, "the evidence index is not complete", remedy)


def _document(file: Path) -> dict[str, Any]:
    """A stored document; empty when it was deleted: replay does not need it."""
    if not file.exists():
        return {}
    try:
        document = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise EvidenceError(file, "not a document of a run", "restore it, or delete it and replay") from error
    if not isinstance(document, dict):
        raise EvidenceError(file, "not a document of a run", "restore it, or delete it and replay")
    return document
