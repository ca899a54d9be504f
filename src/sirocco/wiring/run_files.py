"""Reading a finished run in order to show it: every error gives the place and a remedy."""

import json
from collections.abc import Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from sirocco.errors import ConfigError, EvidenceError
from sirocco.evidence.files import stored_document
from sirocco.evidence.ledger import LEDGER
from sirocco.evidence.recorded import EvidenceIndex
from sirocco.evidence.replay import recompute_unit
from sirocco.evidence.run_directory import CORE, VERDICT
from sirocco.oasis.archetype import Classification
from sirocco.oasis.report import INTERRUPTED, UnitResult
from sirocco.reports.document import CORE_KEYS, core_digest
from sirocco.reports.schema import verdict_schema
from sirocco.reports.shape import dotted, shape_problems
from sirocco.wiring.domains import domain_for

_MOST = 8


def verdict_of(run: Path) -> dict[str, Any]:
    """The verdict document of a run directory: complete, and with the core that was frozen.

    Everything that shows, compares or uses the verdict of a run reads it here.
    """
    file = run / VERDICT
    if not file.is_file():
        if (run / LEDGER).is_file():
            problem = f"holds no {VERDICT}: the run did not finish, or the file is lost"
            raise ConfigError(run, problem, f"continue with `sirocco run --resume {run}`, which writes it")
        raise ConfigError(run, f"contains no {VERDICT}", "give a run directory written by `sirocco run`")
    try:
        document: dict[str, Any] = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise _refusal(run, "is not JSON") from error
    if problems := list(islice(shape_problems(document, verdict_schema()), _MOST)):
        listed = "; ".join(f"{dotted(path)} {problem}" for path, problem in problems)
        raise _refusal(run, f"is not a whole verdict document: {listed}")
    if problem := _other_core(run, document["verdict"]):
        raise _refusal(run, problem)
    return document


def _other_core(run: Path, verdict: Mapping[str, Any]) -> str:
    """How a verdict differs from the core that the run froze (AV-12); empty if it does not."""
    if core_digest(verdict) != verdict["metadata"]["core_digest"]:
        return "was altered: its safety and capability results are not those of its metadata.core_digest"
    frozen = run / CORE
    # If an interrupted run was resumed and then killed, its verdict is older than its core.
    if INTERRUPTED in verdict["metadata"]["evaluation_mode"]["incomplete_because"] or not frozen.is_file():
        return ""
    try:
        document = stored_document(frozen)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise EvidenceError(frozen, "cannot be read", "restore it from a copy") from error
    if document != {key: verdict[key] for key in CORE_KEYS if key in verdict}:
        return f"was altered, or {CORE} was: their safety and capability results differ"
    return ""


def not_a_verdict(run: Path, error: Exception) -> ConfigError:
    """The error for a verdict that has the right keys but still cannot be shown."""
    said = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return _refusal(run, f"cannot be shown: {said}")


def _refusal(run: Path, problem: str) -> ConfigError:
    remedy = "restore it; or delete it, and `sirocco run --resume` writes it again from the recorded evidence"
    return ConfigError(run / VERDICT, problem, remedy)


UNREADABLE = (KeyError, TypeError, AttributeError, ValueError, IndexError)
"""What rendering raises if a verdict is malformed."""


FIRST_TRIAL = ".trial-1"


def trials_of(run: Path, unit: str) -> dict[str, Any] | None:
    """The result of the several runs of a scenario, if the unit is one of them; None without a verdict."""
    try:
        details = verdict_of(run)["verdict"]["scenario_details"]
        known = (one["trials"] for one in details if "trials" in one)
        return next((dict(trials) for trials in known if unit in trials["units"]), None)
    except (ConfigError, *UNREADABLE):
        return None


def judge_unit(index: EvidenceIndex, unit: str) -> UnitResult:
    """The result of a unit, from its evidence, which must be unchanged since it was recorded."""
    recorded = index.unit(unit)
    if recorded.digest != index.units[unit].digest:
        problem = "the evidence was altered after it was recorded"
        raise EvidenceError(f"{index.folder}: {unit}", problem, "restore the segment from a copy")
    return recompute_unit(recorded, domain_for)


def said_verdict(result: UnitResult) -> str:
    """The result of a unit, in a word or a number."""
    if result.bound.scenario.classification is Classification.CAPABILITY:
        return "no score" if result.score is None else f"{result.score:.2f}"
    return result.status or "no verdict"


def unit_named(index: EvidenceIndex, wanted: str) -> str:
    """The single unit that a name, the beginning of a name, or a pattern refers to."""
    if wanted in index.units:
        return wanted
    if (first := wanted.removesuffix(FIRST_TRIAL)) in index.units:
        return first
    found = [unit for unit in index.order if fnmatchcase(unit, wanted)]
    found = found or [unit for unit in index.order if unit.startswith(wanted)]
    found = found or [unit for unit in index.order if wanted in unit]
    primary = [unit for unit in found if index.units[unit].kind in {"scenario", "custom", "probe"}]
    match primary or found:
        case [unit]:
            return unit
        case []:
            close = get_close_matches(wanted, index.order, n=3)
            some = ", ".join(close or index.order[:_MOST])
            more = f" and {len(index.order) - _MOST} more" if len(index.order) > _MOST and not close else ""
            remedy = f"did you mean {some}?" if close else f"there are: {some}{more}"
            raise EvidenceError(index.folder.parent, f"there is no unit {wanted!r}", remedy)
        case several:
            some = ", ".join(f"{unit} {said_verdict(judge_unit(index, unit))}" for unit in several[:_MOST])
            more = f" and {len(several) - _MOST} more" if len(several) > _MOST else ""
            raise EvidenceError(
                index.folder.parent, f"{wanted!r} matches {len(several)} units", f"choose one of: {some}{more}"
            )
