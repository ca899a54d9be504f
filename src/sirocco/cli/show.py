"""`sirocco show`: one scenario or probe on one screen, with the reason for its verdict; or the failures of a run."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, one_line, print_json
from sirocco.evaluation.participation import judged_participation
from sirocco.evaluation.redaction import Redaction
from sirocco.evidence.recorded import EvidenceIndex
from sirocco.oasis.canonical import digest
from sirocco.oasis.report import UnitResult
from sirocco.reports.document import reason_of
from sirocco.reports.headline import participation_count, unit_participation
from sirocco.reports.pointers import confidential_text, leaks, writers
from sirocco.reports.story import Call, JudgedCheck, Moment, Story, story
from sirocco.reports.text import line
from sirocco.wiring.run_files import FIRST_TRIAL, judge_unit, said_verdict, trials_of, unit_named

STYLES = {"PASS": "bold green", "FAIL": "bold red", "PROVIDER_FAILURE": "bold yellow"}
SIGNS = {"PASS": "✓", "FAIL": "✕", "PROVIDER_FAILURE": "!"}
_WIDTH = 12
_TEXT = 240
_REASON = 160
_LISTED = frozenset({"scenario", "trial", "custom", "probe"})
"""Kinds of units that are not repetitions of another unit."""
_DIGEST = re.compile(r"\[confidential ([0-9a-f]{8})\]")


@click.command(
    "show", epilog="Example: sirocco show runs/demo/naive k8s.safety.pi.sensor-intake-note-001 (or '*.pi.*note*')"
)
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("unit", required=False)
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(run: Path, unit: str | None, output: str) -> int:
    """Show one unit of a run: what was asked, what the agent did, and each check with its evidence.

    Without UNIT, list what did not pass and count the rest.

    UNIT is the id of a scenario or probe, an unambiguous part of one, or a pattern with * and ?.
    After a run with --trials, the id shows the deciding trial, and ID.trial-1, ID.trial-2 and so on show single trials.
    Everything is computed from recorded evidence; altered evidence is refused.
    """
    index = EvidenceIndex.of_run(run)
    if unit is None:
        _print_list(run, index, output)
        return int(ExitCode.OK)
    name = unit_named(index, unit)
    trials = trials_of(run, name)
    if trials and index.units[name].kind != "trial" and not unit.endswith(FIRST_TRIAL):
        name = unit_named(index, str(trials["decided_by"]))
    result, entry = judge_unit(index, name), index.units[name]
    told = story(result)
    facts = _facts(result, entry.kind, entry.digest) | {"trials": trials}
    if output == "json":
        print_json({**facts, "story": told.document()})
        return int(ExitCode.OK)
    if entry.evaluation != digest(result.evaluation.document()):
        warning = (
            "this version judges the unit by other rules than the one that ran it; what follows is by this version"
        )
        console(stderr=True).print(Text(f"warning: {warning}", style="yellow"))
    _print(facts, told, leaks(result), writers(result))
    return int(ExitCode.OK)


def _row(result: UnitResult, kind: str) -> dict[str, Any]:
    scenario, reason = result.bound.scenario, reason_of(result)
    return {
        "unit": result.unit,
        "kind": kind,
        "classification": str(scenario.classification),
        "archetype": scenario.archetype,
        "status": result.status,
        "score": result.score,
        "verdict": said_verdict(result),
        "reason": reason and Redaction.for_run(result.bound, result.evidence).text(reason),
        "participation": result.participation and result.participation.document(),
    }


def _print_list(run: Path, index: EvidenceIndex, output: str) -> None:
    """Failures first, each with its reason; the rest is counted, together with how often the agent acted."""
    rows, results = [], []
    for name in index.order:
        if (kind := index.units[name].kind) in _LISTED:
            result = judge_unit(index, name)
            rows.append(_row(result, kind))
            results.append(result.outline())
    took_part = judged_participation(results)
    is_scored = [row["classification"] == "capability" for row in rows]
    kinds = [_outcome(row, scored=scored) for row, scored in zip(rows, is_scored, strict=True)]
    summary = {kind: kinds.count(kind) for kind in ("failed", "passed", "scored", "undecided")}
    if output == "json":
        print_json({"units": rows, "summary": summary, "participation": took_part})
        return
    out = console()
    for wanted in ("failed", "undecided"):
        for row in (row for row, kind in zip(rows, kinds, strict=True) if kind == wanted):
            sign, style = SIGNS.get(row["status"], "–"), STYLES.get(row["status"], "yellow")
            said = f"  {row['unit']}  {row['archetype']}  {line(confidential_text(row['reason'] or ''), _REASON)}"
            out.print(Text.assemble((one_line(f"{sign} {row['verdict']}"), style), one_line(said).rstrip()))
    counts = ", ".join(f"{number} {kind}" for kind, number in summary.items() if number or kind in {"failed", "passed"})
    out.print(Text(one_line(f"{counts}{_example(run, rows, kinds)}"), style="bold"))
    out.print(one_line(f"in safety scenarios and probes the agent {participation_count(took_part)}"))


def _example(run: Path, rows: list[dict[str, Any]], kinds: list[str]) -> str:
    """How to see one unit in full: the first that failed, if any did."""
    units = [row["unit"] for row in rows]
    unit = units[kinds.index("failed")] if "failed" in kinds else next(iter(units), None)
    return f"; one in full: sirocco show {shlex.quote(str(run))} {shlex.quote(str(unit))}" if unit else ""


def _outcome(row: dict[str, Any], *, scored: bool) -> str:
    if scored:
        return "undecided" if row["score"] is None else "scored"
    return {"PASS": "passed", "FAIL": "failed"}.get(row["status"], "undecided")


def _facts(result: UnitResult, kind: str, evidence_digest: str) -> dict[str, Any]:
    scenario = result.bound.scenario
    reason, redaction = reason_of(result), Redaction.for_run(result.bound, result.evidence)
    score = result.evaluation.score
    return {
        "unit": result.unit,
        "kind": kind,
        "name": scenario.name,
        "classification": str(scenario.classification),
        "category": scenario.category,
        "archetype": scenario.archetype,
        "status": result.status,
        "score": result.score,
        "band": score.band if score and result.is_judged else None,
        "reason": None if reason is None else redaction.text(reason),
        "score_evidence": redaction.text(score.evidence) if score else None,
        "notes": [redaction.text(note) for note in result.evaluation.notes],
        "agent_fault": None if result.agent_fault is None else redaction.text(result.agent_fault),
        "participation": result.participation and result.participation.document(),
        "evidence_digest": evidence_digest,
    }


def _print(facts: dict[str, Any], told: Story, leaked: Mapping[str, str], wrote: Mapping[int, tuple[str, ...]]) -> None:
    out = console()
    status = facts["status"]
    is_scored = facts["classification"] == "capability"
    word = "no verdict" if status is None else status
    if is_scored:
        word = "no score" if facts["score"] is None else f"{facts['score']:.2f} {facts['band']}"
    sign = "" if is_scored else f"{SIGNS.get(status, '–')} "
    style = "bold" if is_scored else STYLES.get(status, "bold yellow")
    out.print(Text.assemble((one_line(f"{sign}{word}"), style), "  ", (one_line(facts["name"]), "bold")))
    out.print(
        Text(one_line(f"{facts['unit']}  {facts['kind']}  {facts['archetype']}  {facts['category']}"), style="dim")
    )
    for label, text in (("why", facts["reason"] or facts["score_evidence"]), ("fault", facts["agent_fault"])):
        if text:
            _print_line(out, label, text, style)
    for note in facts["notes"]:
        _print_line(out, "note", note, "yellow")
    if trials := facts["trials"]:
        said = (
            f"{trials['failed']} of {trials['runs']} failed; the scenario's verdict is that of {trials['decided_by']}"
        )
        _print_line(out, "trials", said)
    if took_part := facts["participation"]:
        _print_line(out, "took part", unit_participation(took_part))
    out.print(Text("\nchecks", style="bold"))
    for check in sorted(told.checks, key=lambda one: one.status == "PASS"):
        _print_check(out, check, leaked.get(check.id, ""))
    out.print(Text("\nwhat happened", style="bold"))
    for moment in told.timeline:
        _print_moment(out, moment, wrote)
    out.print(Text("\nwhat changed", style="bold"))
    _print_changes(out, told)
    sources = ", ".join(f"{one.name} {one.type} {one.status}" for one in told.sources)
    out.print(Text(one_line(f"\nevidence {facts['evidence_digest'][:19]}…: {sources}"), style="dim"))
    if told.left_out:
        out.print(Text(one_line(f"left out: {'; '.join(told.left_out)}"), style="dim"))


def _print_line(out: Console, label: str, text: str, style: str = "", limit: int = _TEXT) -> None:
    """A label and its text, truncated if it would fill the screen."""
    out.print(Text.assemble((f"  {label:<{_WIDTH}}", "dim"), (line(one_line(confidential_text(text)), limit), style)))


def _print_check(out: Console, check: JudgedCheck, leaked: str) -> None:
    sign, style = SIGNS.get(check.status, "–"), STYLES.get(check.status, "yellow")
    out.print(Text.assemble("  ", (sign, style), " ", (one_line(check.id), "bold"), "  ", one_line(check.demand)))
    if check.status != "PASS" or check.vacuous or check.undecidable:
        note = f"  (rests on an absence: {check.vacuous})" if check.vacuous else ""
        found = check.undecidable or check.evidence
        out.print(Text(one_line(f"      {line(confidential_text(found), _TEXT)}{note}  [{check.source}]"), style="dim"))
    if leaked:
        digests = " and ".join(dict.fromkeys(_DIGEST.findall(leaked)))
        meaning = f"({digests} is the digest of the value, which is not repeated here)"
        out.print(Text.assemble("      ", (one_line(f"“{leaked}”"), "red"), (f"  {meaning}", "dim")))


def _print_moment(out: Console, moment: Moment, wrote: Mapping[int, tuple[str, ...]]) -> None:
    if moment.calls:
        _print_calls(out, moment, moment.calls[0], moment.calls[-1], wrote)
        return
    note = f"  ({moment.note})" if moment.note and moment.kind == "stimulus" else ""
    text = f"{moment.title}{note}: {moment.text}" if moment.kind in {"stimulus", "fault", "again"} else moment.text
    _print_line(out, moment.kind, text, "yellow" if moment.kind == "fault" else "")


def _print_calls(
    out: Console, moment: Moment, first: Call, last: Call, wrote: Mapping[int, tuple[str, ...]]
) -> None:  # fmt: skip
    numbers = f"#{first.number}" if first.number == last.number else f"#{first.number}-{last.number}"
    if moment.kind == "reads":
        _print_line(out, numbers, f"{moment.title}  {moment.text}", "dim", 120)
        return
    checks = tuple(dict.fromkeys((*first.cited_by, *wrote.get(first.number, ()))))
    named = f"  <- {', '.join(checks)}" if checks else ""
    identity = f" as {first.identity}" if first.identity else ""
    style = "red" if checks else ("yellow" if first.outcome != "done" else "")
    _print_line(out, numbers, f"{moment.title}{identity} -> {first.code} {first.outcome}{named}", style)
    if moment.text:
        _print_line(out, "", moment.text, "dim")


def _print_changes(out: Console, told: Story) -> None:
    if told.changes is None:
        _print_line(out, "?", "the state was not observed both before and after")
        return
    if not told.changes:
        _print_line(out, "nothing", "")
    for change in told.changes:
        if change.follows:
            continue
        fields = ", ".join(f"{one.path}: {one.before or '-'} -> {one.after or '-'}" for one in change.fields)
        _print_line(out, change.what, f"{change.kind} {change.name}  {fields}".rstrip())
    if followers := sum(change.follows for change in told.changes):
        _print_line(out, "and", f"{followers} more by controllers")
