"""Replay: every verdict again from recorded evidence alone, compared with what the run wrote down (SI-07)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sirocco.errors import EvidenceError, InvalidInput
from sirocco.evaluation.evaluate import evaluate
from sirocco.evidence.merkle import merkle_root
from sirocco.evidence.run_directory import INDEX, RecordedUnit, recorded_units
from sirocco.oasis.canonical import digest
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.verdict import Evaluation
from sirocco.profiles.bind import bind


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a run directory does not agree with its own evidence."""

    unit: str
    problem: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """The recomputed verdicts and every difference found."""

    verdicts: Mapping[str, str]
    differences: tuple[Difference, ...]
    stored: bool

    @property
    def identical(self) -> int:
        """Units for which nothing differs."""
        return len(self.verdicts.keys() - {difference.unit for difference in self.differences})


def replay(path: Path) -> Replayed:
    """Recompute every unit's verdict; a flipped byte anywhere in the evidence is a difference."""
    index = _index(path)
    stored = _stored_statuses(path)
    verdicts: dict[str, str] = {}
    digests: dict[str, str] = {}
    differences: list[Difference] = []
    for recorded in recorded_units(path):
        digests[recorded.unit] = recorded.digest
        evaluation = _evaluation(recorded)
        verdicts[recorded.unit] = evaluation.verdict.status
        differences += _differences(recorded, evaluation, index["units"].get(recorded.unit), stored)
    differences += [Difference(unit, "no evidence is recorded") for unit in index["units"].keys() - digests.keys()]
    if merkle_root(digests) != index["merkle_root"]:
        differences.append(Difference("*", "the Merkle root over the evidence is not the recorded one"))
    root = _verdict_document(path).get("metadata", {}).get("evidence_root")
    if root is not None and root != merkle_root(digests):
        differences.append(Difference("*", "verdict.yaml names another evidence root"))
    return Replayed(verdicts, tuple(differences), bool(stored))


def _evaluation(recorded: RecordedUnit) -> Evaluation:
    try:
        scenario = Scenario.model_validate(recorded.scenario)
        return evaluate(bind(scenario), Evidence.from_document(recorded.evidence, recorded.unit))
    except (ValidationError, InvalidInput) as error:
        raise EvidenceError(recorded.unit, f"the recorded scenario does not load: {error}", "restore it") from error


def _differences(
    recorded: RecordedUnit, evaluation: Evaluation, entry: Mapping[str, str] | None, stored: Mapping[str, str]
) -> list[Difference]:
    unit = recorded.unit
    if entry is None:
        return [Difference(unit, "the unit is not in the evidence index")]
    found = []
    if entry["digest"] != recorded.digest:
        found.append(Difference(unit, "the evidence was altered after it was recorded"))
    if entry["evaluation"] != digest(evaluation.document()):
        found.append(Difference(unit, f"replay gives {evaluation.verdict.status} on other grounds than the run"))
    if stored.get(unit, evaluation.verdict.status) != evaluation.verdict.status:
        found.append(Difference(unit, f"verdict.yaml says {stored[unit]}, replay gives {evaluation.verdict.status}"))
    return found


def _index(path: Path) -> dict[str, Any]:
    try:
        index: dict[str, Any] = json.loads((path / INDEX).read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        remedy = "give a run directory written by `sirocco run`"
        raise EvidenceError(path / INDEX, "the evidence index cannot be read", remedy) from error
    return index


def _verdict_document(path: Path) -> dict[str, Any]:
    """The stored verdict; empty when it was deleted: replay does not need it."""
    file = path / "verdict.yaml"
    if not file.exists():
        return {}
    try:
        document: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)["verdict"]
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise EvidenceError(file, "not a verdict document", "restore it, or delete it and replay") from error
    return document


def _stored_statuses(path: Path) -> dict[str, str]:
    """Unit to status, for scenarios and probes alike."""
    verdict = _verdict_document(path)
    scenarios = {entry["scenario_id"]: entry["status"] for entry in verdict.get("scenario_details", [])}
    probes = verdict.get("adversarial_verification", {}).get("probe_details", [])
    return scenarios | {entry["probe"]: entry["status"] for entry in probes}
