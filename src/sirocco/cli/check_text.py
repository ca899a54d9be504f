"""The result of `sirocco profile check`, as a document and as text."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from sirocco.cli.terminal import count_phrase, one_line
from sirocco.oasis.archetype import Classification
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.load import UnboundScenario
from sirocco.runner.witnessing import BandReached, Problem, WitnessReport

_INDENT = " " * 9


@dataclass(frozen=True, slots=True)
class CheckedScenario:
    """One scenario with its truth table; a scenario without a reading has none."""

    id: str
    classification: Classification
    report: WitnessReport | None
    problems: tuple[Problem, ...]

    @classmethod
    def from_witnesses(cls, scenario: Scenario, report: WitnessReport) -> "CheckedScenario":
        """A scenario whose witnesses were run."""
        return cls(scenario.id, scenario.classification, report, report.problems)

    @classmethod
    def from_unbound(cls, unbound: UnboundScenario) -> "CheckedScenario":
        """A scenario that cannot be evaluated (CO-04)."""
        detail = f"no reading for {', '.join(unbound.entries)}"
        return cls(unbound.id, unbound.classification, None, (Problem("not_evaluable", detail),))


def check_document(checked: Sequence[CheckedScenario]) -> dict[str, Any]:
    """The findings as plain data."""
    rows = [_row(one) for one in checked]
    sound = sum(not one.problems for one in checked)
    return {
        "scenarios": rows,
        "summary": {
            "scenarios": len(rows),
            "evaluable": sum(row["evaluable"] for row in rows),
            "can_pass": sum(row["can_pass"] for row in rows),
            "can_fail": sum(row["can_fail"] for row in rows),
            "undecidable": [row["id"] for row in rows if row["undecidable"]],
            "failing_on_silence": _failing_on_silence(checked),
            "sound": sound,
            "unsound": len(rows) - sound,
        },
    }


def _failing_on_silence(checked: Sequence[CheckedScenario]) -> list[str]:
    """The checks of safety scenarios that an agent fails by doing nothing; each is a demand, not a prohibition."""
    return [
        f"{one.id} {check.id}"
        for one in checked
        if one.report is not None and one.classification is Classification.SAFETY
        for check in one.report.checks
        if check.fails_on_silence
    ]


def _row(checked: CheckedScenario) -> dict[str, Any]:
    report = checked.report
    row = {
        "id": checked.id,
        "classification": str(checked.classification),
        "evaluable": report is not None,
        "can_pass": report is not None and report.can_pass,
        "can_fail": report is not None and report.can_fail,
        "checks": [asdict(check) for check in report.checks] if report else [],
        "problems": [asdict(problem) for problem in checked.problems],
        "undecidable": report.undecidable if report else None,
        "equivalent_harm": report.harm if report else None,
    }
    if checked.classification is Classification.SAFETY:
        return row
    highest, lowest = (report.highest, report.lowest) if report else (None, None)
    return row | {"highest_band": highest and asdict(highest), "lowest_band": lowest and asdict(lowest)}


def print_check(checked: Sequence[CheckedScenario], out: Console) -> None:
    """Print the findings."""
    for one in checked:
        state = Text("unsound", style="bold red") if one.problems else Text("sound", style="green")
        out.print(Text.assemble(state, one_line(f"  {one.id}  {_witness_summary(one.report)}")))
        if one.report is not None:
            for check in one.report.checks:
                if check.shadowed:
                    out.print(one_line(f"{_INDENT}{check.id} shadowed: {check.shadowed}"))
                if check.fails_on_silence and one.classification is Classification.SAFETY:
                    out.print(one_line(f"{_INDENT}{check.id} ({check.archetype}): silence fails this"))
            if one.report.undecidable:
                out.print(one_line(f"{_INDENT}not decidable for every agent: {one.report.undecidable}"))
        for problem in one.problems:
            out.print(Text(one_line(f"{_INDENT}{problem.reason}: {problem.detail}"), style="red"))
    sound = sum(not one.problems for one in checked)
    unread = sum(one.report is None for one in checked)
    out.print(f"{sound} of {count_phrase(len(checked), 'scenario')} were seen to pass and to fail"
              + (f"; {unread} cannot be evaluated" if unread else ""))  # fmt: skip


def _witness_summary(report: WitnessReport | None) -> str:
    if report is None:
        return "cannot be evaluated"
    seen = sum(check.seen_pass and check.seen_fail for check in report.checks)
    text = f"{seen} of {len(report.checks)} checks seen both ways"
    if report.harm is not None:
        text = f"{text}; {report.harm}"
    if report.highest is None or report.lowest is None:
        return text
    return f"{text}; bands {_band_text(report.lowest)} to {_band_text(report.highest)}"


def _band_text(reached: BandReached) -> str:
    return f"{reached.band} ({reached.score:g})"
