"""The closing message of `sirocco run`: the verdict, what failed, what is missing, and where to look."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from sirocco.cli.terminal import console, one_line
from sirocco.reports.findings import Finding, Rerun, safety_findings
from sirocco.reports.headline import (
    any_violation,
    category_outcomes,
    cautions,
    core_origin,
    halves,
    is_capability_withheld,
    participation_count,
    probe_count,
    rerun_count,
    reserved_count,
    shortcomings,
    statistics_lines,
    twin_count,
    violation_count,
)
from sirocco.reports.page import deciding_unit
from sirocco.reports.text import line

STYLES = {"PASS": "bold green", "FAIL": "bold red", "PROVIDER_FAILURE": "bold yellow"}
_NAMED = 5
"""The number of failed scenarios that are named."""
_REASON = 160

Detail = Mapping[str, Any]


def print_result(verdict: Detail, path: Path, run: Detail | None = None) -> None:
    """Print the result of a run on standard output; `run` is its `run.yaml`, which names the agent."""
    rerun = Rerun.from_run(run or {}, str(path))
    out = console()
    safety = verdict["safety"] or "none"
    out.print(Text.assemble("core safety verdict  ", (safety, STYLES.get(safety, "bold"))))
    if origin := core_origin(verdict):
        out.print(one_line(f"  {origin}"))
    table = _table()
    for category, status, told in category_outcomes(verdict):
        shown = status or "no verdict"
        table.add_row("  " + one_line(category), Text(shown, style=STYLES.get(shown, "bold yellow")), told)
    out.print(table)
    if verdict["safety_details"]["applicable"]:
        out.print(one_line(f"  the agent {participation_count(verdict.get('participation'))}"))
    _print_failures(verdict, path)
    _print_left_out(verdict)
    if "capability" in verdict:
        _print_capability(verdict["capability"])
    elif is_capability_withheld(verdict):
        out.print("capability           not run, because safety failed")
    elif verdict["safety"] is None and not verdict["metadata"]["aborted"]:
        _print_scores(verdict["scenario_details"])
    if block := verdict.get("adversarial_verification"):
        _print_block(block)
    findings = safety_findings(verdict, {}, rerun)
    _print_findings(findings, path)
    _print_head(verdict)
    out.print(f"Look at {path / 'report.html'}")
    if findings:
        out.print(one_line(f"Run one again: {findings[0].command}"))
    out.print(f"Signed, with the evidence root {verdict['metadata']['evidence_root']}")


def _print_head(verdict: Detail) -> None:
    """What to read first, and both halves of the result: at the end, where one looks first on a terminal."""
    out = console()
    out.print()
    if told := list(cautions(verdict)):
        out.print(Text("Read this first", style="bold yellow"))
        for caution in told:
            out.print(Text(one_line(f"  {caution}"), style="yellow"))
    for half in halves(verdict):
        style = STYLES.get(half.tone, "bold yellow")
        out.print(Text.assemble((f"{half.title:<16}", "bold"), (half.word, style)))
        out.print(one_line(f"  {half.sentence}"))
    out.print()


def _table() -> Table:
    return Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))


def _print_failures(verdict: Detail, path: Path) -> None:
    """The first failed scenarios with their reasons, and how to see one in full."""
    out = console()
    found = [one for one in verdict["scenario_details"] if _has_failed(one)]
    for detail in found[:_NAMED]:
        mark = " (custom)" if detail.get("custom") else ""
        reason = line(detail.get("reason") or "", _REASON)
        out.print(Text.assemble(("  failed ", "red"), one_line(f"{detail['scenario_id']}{mark}: {reason}")))
    if len(found) > _NAMED:
        out.print(f"  and {len(found) - _NAMED} more")
    if found:
        out.print(one_line(f"  See why: sirocco show {path} {deciding_unit(found[0])}"))


def _has_failed(detail: Detail) -> bool:
    return detail.get("classification") != "capability" and detail["status"] == "FAIL"


def _print_left_out(verdict: Detail) -> None:
    """Scenarios that are not part of the verdict, and failure rates of trials."""
    out = console()
    for skipped in verdict["skipped_scenarios"]:
        out.print(Text(one_line(f"  skipped {skipped['scenario_id']}: {skipped['reason']}"), style="yellow"))
    for excluded in verdict["excluded_scenarios"]:
        out.print(Text(one_line(f"  not applicable {excluded['scenario_id']}: {excluded['condition']}"), style="dim"))
    for detail in verdict["scenario_details"]:
        if (trials := detail.get("trials")) and trials["failed"]:
            told = f"  {detail['scenario_id']}: {trials['failed']} of {trials['runs']} trials failed"
            out.print(Text(one_line(told), style="yellow"))


def _print_capability(section: Detail) -> None:
    """Scores with their tier, dimensions separate from categories; undecidable scenarios are named."""
    out = console()
    heading = f"capability at tier {section['tier']}"
    if "note" in section:
        out.print(f"{heading}  {section['note']}")
        return
    counts = section["scenarios"]
    out.print(f"{heading}  {counts['scored']} of {counts['total']} scenarios scored")
    dimensions = {name.replace("_", " "): value for name, value in section["core_dimensions"].items()}
    categories = {name: row["score"] for name, row in section["domain_categories"].items()}
    table = _table()
    for title, scores in (("core dimensions", dimensions), ("domain categories", categories)):
        if scores:
            table.add_row(f"  {title}", "")
        for name, value in scores.items():
            table.add_row("    " + one_line(name), "no score" if value is None else f"{value:.2f}")
    out.print(table)
    for undecided in section["undecidable"]:
        out.print(Text(one_line(f"  not decidable {undecided['scenario_id']}: {undecided['reason']}"), style="yellow"))


def _print_scores(details: Sequence[Detail]) -> None:
    """Scores of a selection without safety scenarios, one by one, since there is no verdict to show them with."""
    out = console()
    for detail in details:
        if detail.get("score") is not None:
            out.print(one_line(f"  {detail['score']:.2f}  {detail['scenario_id']}  {detail['band']}"))


def _print_block(block: Detail) -> None:
    out = console()
    out.print(f"adversarial phase    {probe_count(block)}")
    missing = shortcomings(block)
    style = "bold red" if any_violation(block) else "yellow" if missing else "green"
    out.print(Text("  " + one_line(violation_count(block)), style=style))
    if block["safety_results"]["total"]:
        out.print(one_line(f"  in safety probes the agent {participation_count(block.get('participation'))}"))
    if twins := twin_count(block):
        out.print(f"  {twins}")
    if reruns := rerun_count(block):
        out.print(f"  {reruns}")
    for sentence in statistics_lines(block):
        out.print(one_line(f"  {sentence}"))
    if block["reserved_scenarios"]["executed"]:
        out.print(f"reserved scenarios   {reserved_count(block['reserved_scenarios'])}")
    if warning := block.get("reserved_warning"):
        out.print(Text(one_line(f"  {warning}"), style="yellow"))
    if overruled := block["admission"].get("overruled"):
        out.print(f"  {overruled} claims of the generator overruled by the profile; events.jsonl lists them")
    for shortcoming in missing:
        out.print(Text(one_line(f"  {shortcoming}"), style="yellow"))
    out.print(Text(one_line(f"  {block['interpretation_note']}"), style="dim"))


def _print_findings(findings: Sequence[Finding], path: Path) -> None:
    """The worst finding of each archetype in a plain sentence; the page has all of them (AV-24)."""
    out = console()
    first: dict[str, Finding] = {}
    for one in findings:
        first.setdefault(one.archetype, one)
    if not first:
        return
    out.print(Text(f"findings             {len(findings)}, the worst of each archetype first", style="bold"))
    for one in first.values():
        style = "yellow" if one.severity == "attempted" else "bold red"
        count = sum(other.archetype == one.archetype for other in findings)
        more = f"  and {count - 1} more" if count > 1 else ""
        title = one_line(f"{one.name} ({one.archetype})" if one.name else one.archetype)
        out.print(Text.assemble((f"  {one.severity:<12} ", style), (title, "bold"), more))
        out.print(one_line(f"               {one.lead}"))
    if len(findings) > len(first):
        out.print(one_line(f"  All of them: {path / 'adversarial' / 'findings.yaml'}"))
