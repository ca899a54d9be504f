"""A summary in Markdown, for a CI job's page or a comment on a change; the adversarial phase is kept separate.

All outside text is escaped: it cannot make a link, mention a user, or end a table cell.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sirocco.reports.findings import MOST_TOLD, Rerun, safety_findings
from sirocco.reports.headline import (
    Half,
    category_names,
    category_outcomes,
    cautions,
    core_origin,
    halves,
    is_capability_withheld,
    participation_count,
    probe_count,
    probe_warning,
    rerun_count,
    reserved_count,
    shortcomings,
    statistics_lines,
    twin_count,
    violation_count,
)
from sirocco.reports.text import PASSAGE, line

Detail = Mapping[str, Any]
MOST = 30
"""The number of failures listed; the rest are counted."""
_NO_RUN = Rerun()
_SIGNS = {"PASS": "✅ PASS", "FAIL": "❌ FAIL", "PROVIDER_FAILURE": "⚠️ PROVIDER FAILURE", None: "⚪ no verdict"}
_SPECIAL = re.compile(r"([\\`*_\[\]|~>!])")
_AT_THE_START = re.compile(r"^([-+=]|\d+(?=[.)]))")
_LINKED = re.compile(r"([@#]|://|www(?=\.))", re.IGNORECASE)
_BROKEN = "\u200b"
"""An invisible character that keeps Markdown from making links and mentions."""


def markdown_summary(verdict: Detail, rerun: Rerun = _NO_RUN) -> str:
    """The summary of one verdict (the value under its top key); findings come first."""
    parts = [*_head(verdict), *_findings(verdict, rerun), *_core(verdict), *_capability(verdict)]
    parts += [*_adversarial(verdict), *_provenance(verdict)]
    return "\n\n".join(parts) + "\n"


def _head(verdict: Detail) -> Iterator[str]:
    """What to read first, and the two halves of the result with equal weight."""
    metadata = verdict["metadata"]
    agent = f"{metadata['agent']} {metadata['agent_version']}"
    yield f"## {markdown_text(agent)}"
    if told := list(cautions(verdict)):
        yield "**Read this first**"
        yield "\n".join(f"- {markdown_text(caution, PASSAGE)}" for caution in told)
    rows = [(f"**{half.title}**", _half_sign(half), markdown_text(half.sentence, PASSAGE)) for half in halves(verdict)]
    yield _table(("", "Verdict", "What it means"), rows)
    if origin := core_origin(verdict):
        yield markdown_text(origin, PASSAGE)


def _findings(verdict: Detail, rerun: Rerun) -> Iterator[str]:
    """The worst findings of the adversarial phase, at least one of each archetype, each with a command to rerun it."""
    findings = safety_findings(verdict, {}, rerun)
    if not findings:
        return
    yield f"### What it did in unseen situations ({len(findings)})"
    yield "The worst first. None of these changes the core verdict."
    rows = [
        (
            one.severity,
            markdown_text(f"{one.name} ({one.archetype})" if one.name else one.archetype),
            markdown_text(one.lead),
            f"{one.reproduction['failed']} of {one.reproduction['runs']}",
            _code(one.command),
        )
        for one in findings[:MOST_TOLD]
    ]
    yield _table(("Severity", "Archetype", "What it did", "Came back", "Run it again"), rows)
    if len(findings) > MOST_TOLD:
        yield f"…and {len(findings) - MOST_TOLD} more, in the report."


def _half_sign(half: Half) -> str:
    """The word of a half, with a sign in its colour."""
    return f"{_SIGNS.get(half.tone, _SIGNS[None]).partition(' ')[0]} {half.word}"


def _core(verdict: Detail) -> Iterator[str]:
    details = verdict["safety_details"]
    names = category_names(verdict)
    rows = [
        (markdown_text(names.get(name, name)), _SIGNS.get(status, "—"), told)
        for name, status, told in category_outcomes(verdict)
    ]
    if rows:
        yield _table(("Safety category", "Verdict", "Scenarios"), rows)
        yield markdown_text(f"In the safety scenarios the agent {participation_count(verdict.get('participation'))}.")
    wrong = [one for one in verdict["scenario_details"] if _is_wrong(one)]
    if wrong:
        yield f"### What went wrong ({len(wrong)})"
        rows = [
            (_SIGNS[one["status"]], markdown_text(one["scenario_id"]), markdown_text(_reason_text(one)))
            for one in wrong[:MOST]
        ]
        yield _table(("Verdict", "Scenario", "Why"), rows)
        if len(wrong) > MOST:
            yield f"…and {len(wrong) - MOST} more, in the report."
    if waiting := details.get("human_review"):
        listed = "; ".join(
            f"{markdown_text(one['scenario_id'])} ({markdown_text(one['reason'])})" for one in waiting[:MOST]
        )
        yield f"**Human review required** ({len(waiting)}): {listed}"
    left_out = (("not applicable", verdict.get("excluded_scenarios")), ("skipped", verdict.get("skipped_scenarios")))
    counts = ", ".join(f"{len(units)} {word}" for word, units in left_out if units)
    if counts:
        yield f"Not run: {counts}."


def _is_wrong(detail: Detail) -> bool:
    return detail.get("classification") != "capability" and detail.get("status") != "PASS"


def _reason_text(detail: Detail) -> str:
    trials = detail.get("trials")
    rate = f" ({trials['failed']} of {trials['runs']} trials failed)" if trials else ""
    return f"{detail.get('reason') or ''}{rate}"


def _capability(verdict: Detail) -> Iterator[str]:
    section = verdict.get("capability")
    if section is None:
        if scored := sum(one.get("score") is not None for one in verdict["scenario_details"]):
            yield f"{scored} capability scenarios were scored; without a safety PASS there is no capability score."
        elif is_capability_withheld(verdict):
            yield "Capability was not run, because safety failed."
        return
    yield f"### Capability at tier {section['tier']}"
    if "note" in section:
        yield markdown_text(section["note"])
        return
    names = category_names(verdict)
    scores = [
        (markdown_text(name.replace("_", " ")), value, "dimension")
        for name, value in section["core_dimensions"].items()
    ]
    scores += [
        (markdown_text(names.get(name, name)), row["score"], "category")
        for name, row in section["domain_categories"].items()
    ]
    yield _table(
        (f"Score at tier {section['tier']}", "", ""),
        [(name, "no score" if value is None else f"{value:.2f}", kind) for name, value, kind in scores],
    )
    counts = section["scenarios"]
    yield f"{counts['scored']} of {counts['total']} scenarios scored. {markdown_text(section['statement'])}"


def _adversarial(verdict: Detail) -> Iterator[str]:
    yield "---"
    yield "### Adversarial verification (separate from the core verdict, which it cannot change)"
    block = verdict.get("adversarial_verification")
    if block is None:
        yield "Not performed."
        return
    reserved = block["reserved_scenarios"]
    delivered = f"{block['delivered']} of {block['executed']} probes delivered"
    yield markdown_text(f"{violation_count(block)}. {probe_count(block)}; {delivered}.")
    yield markdown_text(f"In the safety probes the agent {participation_count(block.get('participation'))}.")
    if twins := twin_count(block):
        yield f"{twins}."
    if reruns := rerun_count(block):
        yield f"{reruns}."
    yield from (markdown_text(sentence, PASSAGE) for sentence in statistics_lines(block))
    if reserved["executed"]:
        yield f"Reserved scenarios: {reserved_count(reserved)}."
    if warning := block.get("reserved_warning"):
        yield f"**Warning:** {markdown_text(warning, PASSAGE)}"
    missing = shortcomings(block)
    if (warning := probe_warning(block)) and warning not in missing:
        yield f"**Warning:** {markdown_text(warning, PASSAGE)}"
    for shortcoming in missing:
        yield f"**Not a clean result:** {markdown_text(shortcoming, PASSAGE)}"
    yield f"> {markdown_text(block['interpretation_note'], PASSAGE)}"
    yield markdown_text(block["certification_recommendation"], PASSAGE)


def _provenance(verdict: Detail) -> Iterator[str]:
    metadata = verdict["metadata"]
    profile = f"{metadata['domain_profile']} {metadata['domain_profile_version']}"
    yield "---"
    yield (
        f"{markdown_text(profile)}, tier {metadata['environment']['tier']}, "
        f"agent isolation {markdown_text(metadata['agent_isolation'])}, "
        f"seed `{line(metadata['seed'], 80).replace('`', '')}`, "
        f"core digest `{line(metadata['core_digest'], 80).replace('`', '')}`"
    )
    yield from (markdown_text(statement) for statement in verdict["statements"])


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _code(text: str) -> str:
    """Text as code for a table cell, to be copied: delimited by more backticks than it contains in a row."""
    code = line(text, PASSAGE).replace("|", r"\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", code)), default=0))
    return f"{fence} {code} {fence}" if len(fence) > 1 else f"`{code}`"


def markdown_text(said: object, limit: int = 300) -> str:
    """Outside text as plain text, in one line."""
    text = _SPECIAL.sub(r"\\\1", line(said, limit)).replace("&", "&amp;").replace("<", "&lt;")
    return _LINKED.sub(rf"\1{_BROKEN}", _AT_THE_START.sub(rf"{_BROKEN}\1", text))
