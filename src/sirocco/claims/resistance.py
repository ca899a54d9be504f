"""The Evasion Resistance Statement: how a profile could be gamed, what prevents it, and what is measured (AV-25).

A draft for the profile's author: figures of the profile and of runs, in Markdown. It judges nothing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sirocco.oasis.archetype import Classification
from sirocco.profiles.quality import QualityReport
from sirocco.reports.headline import participation_count
from sirocco.reports.markdown import markdown_text
from sirocco.reports.text import line

Detail = Mapping[str, Any]
_NAMED = 12


def resistance_statement(quality: QualityReport, verdicts: Sequence[Detail], promoted: int) -> str:
    """The statement as Markdown; runs of other profiles must not be among the verdicts."""
    blocks = [verdict["adversarial_verification"] for verdict in verdicts if verdict.get("adversarial_verification")]
    sections = (
        ("How this profile could be gamed", _weaknesses(quality)),
        ("What stands against it", _mitigations(quality, blocks, promoted)),
        ("What was measured", _measurements(verdicts)),
        ("What stays open", _open_questions(quality, blocks)),
    )
    parts = [f"# Evasion Resistance Statement: {quality.profile} {quality.version}", ""]
    for title, lines in sections:
        parts += [f"## {title}", "", *(f"- {line(one)}" for one in lines), ""]
    return "\n".join(parts)


def _weaknesses(quality: QualityReport) -> Iterator[str]:
    safety = quality.scenarios[str(Classification.SAFETY)]
    yield f"**Memorizing**: its {safety} safety scenarios are public; an agent can learn their names and wording."
    single = [row.archetype for row in quality.negative_testing if len(row.scenarios) == 1]
    if single:
        yield f"**Narrow training**: one scenario is all there is of {_names(single)}."
    alone = [row.archetype for row in quality.negative_testing if not row.has_companion]
    told = f"nothing rewards legitimate work beside {_names(alone)}" if alone else "every archetype has a companion"
    yield f"**Refusing everything**: {told}; reports also tell safe agents from absent ones."
    shared = [name for row in quality.coverage_independence for name in row.shared_surfaces]
    if shared:
        yield f"**Guarding one surface**: several scenarios attack by {_names(shared)}."


def _mitigations(quality: QualityReport, blocks: Sequence[Detail], promoted: int) -> Iterator[str]:
    if blocks:
        probes = sum(block["probe_summary"]["total_probes"] for block in blocks)
        kinds = Counter(markdown_text(block["generator"]["type"]) for block in blocks)
        methods = ", ".join(f"{kind} ({number} runs)" for kind, number in kinds.items())
        yield f"**Probes**: {probes} unseen probes in {len(blocks)} runs, made by {methods}."
        failed = sum(len(block["safety_results"]["failures"]) for block in blocks)
        yield f"**Serialization**: each of the {failed} failed safety probes is kept as a scenario document for review."
    if quality.reserved is not None and quality.reserved.total:
        yield (
            f"**Reserved scenarios**: {quality.reserved.total}, rotated by {quality.reserved.cadence}; "
            "agents' makers have never seen them."
        )
    if promoted:
        yield f"**Promotion**: findings that became scenarios, and no longer count as new: {promoted}."
    yield "**Blindness**: nothing but content tells a probe from a scenario."


def _measurements(verdicts: Sequence[Detail]) -> Iterator[str]:
    if not verdicts:
        yield "Nothing yet: no run was given."
    for verdict in verdicts:
        metadata, block = verdict["metadata"], verdict.get("adversarial_verification")
        agent = markdown_text(f"{metadata['agent']} {metadata['agent_version']}")
        acted = participation_count(verdict.get("participation"))
        core = f"core {verdict['safety'] or 'without verdict'}, the agent {acted}"
        if block is None:
            yield f"{agent}: {core}; no adversarial phase."
            continue
        results = block["safety_results"]
        overall = (block.get("generalization") or {}).get("overall") or {}
        rate = f", violation rate between {overall['interval'][0]} and {overall['interval'][1]}" if overall else ""
        test = (block.get("pairs") or {}).get("test") or {}
        memory = f"; memorization test p = {test['p_value']}" if "p_value" in test else ""
        yield f"{agent}: {core}; {results['failed']} of {results['total']} safety probes violated{rate}{memory}."


def _open_questions(quality: QualityReport, blocks: Sequence[Detail]) -> Iterator[str]:
    archetypes = [row.archetype for row in quality.negative_testing]
    reached = {
        one["archetype"]
        for block in blocks
        for one in block.get("probe_details", ())
        if one.get("delivered") or one.get("status") == "FAIL"
    }
    if unreached := [name for name in archetypes if name not in reached]:
        yield f"No probe was delivered for {_names(unreached)}."
    for what in ("techniques", "surfaces"):
        missed = [set((block.get("coverage") or {}).get("not_covered", {}).get(what, ())) for block in blocks]
        if missed and (never := set.intersection(*missed)):
            yield f"In no run, {what} that were offered: {_names(sorted(never))}."
    if quality.reserved is None or not quality.reserved.total:
        yield "The profile has no reserved scenarios."
    elif quality.reserved.below_minimum or quality.reserved.warning:
        few = f"too few in {_names(quality.reserved.below_minimum)}" if quality.reserved.below_minimum else ""
        yield f"Reserved scenarios: {'; '.join(part for part in (few, quality.reserved.warning) if part)}."
    if incomplete := sum(not block["complete"] for block in blocks):
        yield f"Adversarial phases that are incomplete: {incomplete} of {len(blocks)}."
    yield "Probes find what their generators can make; a hole outside of that is not ruled out."


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(markdown_text, names[:_NAMED])) + more
