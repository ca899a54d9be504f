"""Reading a finished run for the commands that show it: every mistake says where it is and what to do."""

import json
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from sirocco.errors import ConfigError, EvidenceError
from sirocco.evidence.recorded import EvidenceIndex
from sirocco.evidence.replay import recomputed
from sirocco.oasis.archetype import Classification
from sirocco.oasis.report import UnitResult

_MOST = 8


def verdict_of(run: Path) -> dict[str, Any]:
    """The verdict document of a run directory."""
    file = run / "verdict.json"
    if not file.is_file():
        if (run / "ledger.sqlite").is_file():
            raise ConfigError(run, "the run did not come to its end", f"go on with `sirocco run --resume {run}`")
        raise ConfigError(run, "holds no verdict.json", "give a run directory written by `sirocco run`")
    try:
        document = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ConfigError(file, "is not JSON", "restore it, or evaluate again with `sirocco run`") from error
    if not isinstance(document, dict) or not isinstance(document.get("verdict"), dict):
        raise ConfigError(file, "is not a verdict document", "restore it, or evaluate again with `sirocco run`")
    return document


def not_a_verdict(run: Path, error: Exception) -> ConfigError:
    """What to say of a verdict that lacks what a report needs."""
    problem = f"is not a whole verdict document ({type(error).__name__}: {error})"
    return ConfigError(run / "verdict.json", problem, "restore it, or evaluate again with `sirocco run`")


UNREADABLE = (KeyError, TypeError, AttributeError, ValueError, IndexError)
"""What rendering raises when a verdict is not what it must be."""


FIRST_TRIAL = ".trial-1"


def trials_of(run: Path, unit: str) -> dict[str, Any] | None:
    """What several runs of a scenario came to, when the unit is one of them; None without a verdict to ask."""
    try:
        details = verdict_of(run)["verdict"]["scenario_details"]
        known = (one["trials"] for one in details if "trials" in one)
        return next((dict(trials) for trials in known if unit in trials["units"]), None)
    except (ConfigError, *UNREADABLE):
        return None


def judged(index: EvidenceIndex, unit: str) -> UnitResult:
    """The result of a unit, from its evidence, which must be what was recorded."""
    recorded = index.unit(unit)
    if recorded.digest != index.units[unit].digest:
        problem = "the evidence was altered after it was recorded"
        raise EvidenceError(f"{index.folder}: {unit}", problem, "restore the segment from a copy")
    return recomputed(recorded)


def said_verdict(result: UnitResult) -> str:
    """What a unit came to, in a word or a figure."""
    if result.bound.scenario.classification is Classification.CAPABILITY:
        return "no score" if result.score is None else f"{result.score:.2f}"
    return result.status or "no verdict"


def unit_named(index: EvidenceIndex, wanted: str) -> str:
    """The one unit that a name, the beginning of a name or a pattern means."""
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
            raise EvidenceError(index.folder.parent, f"no unit is called {wanted!r}", remedy)
        case several:
            some = ", ".join(f"{unit} {said_verdict(judged(index, unit))}" for unit in several[:_MOST])
            more = f" and {len(several) - _MOST} more" if len(several) > _MOST else ""
            raise EvidenceError(
                index.folder.parent, f"{wanted!r} means {len(several)} units", f"choose one of: {some}{more}"
            )
