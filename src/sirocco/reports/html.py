"""The HTML report: one self-contained page, no script, no network; all text from outside is cleaned and escaped."""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sirocco.reports.headline import (
    absence,
    core_origin,
    core_warning,
    headline,
    incompleteness,
    is_capability_withheld,
    model_warning,
    participation_count,
    probe_warning,
    rerun_count,
    reserved_count,
    shortcomings,
    statistics_lines,
    unit_participation,
    violation_count,
)
from sirocco.reports.page import (
    MOST_LISTED,
    Group,
    category_names,
    failed_probes,
    groups,
    probed_archetypes,
    safety_matrix,
)
from sirocco.reports.story import Story
from sirocco.reports.text import compact_json, passage, printable_text

_NO_STORIES: Mapping[str, Story] = MappingProxyType({})
_TIME = re.compile(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$")
_LONGEST = 4_000
_WEAK_ISOLATION = ("none", "process")


def _finalize_value(value: Any) -> Any:
    """What a template prints: without control characters, and never without end; markup is the template's own."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return printable_text(value) if len(value) <= _LONGEST else passage(value, _LONGEST)
    return value


_TEMPLATES = Environment(
    loader=PackageLoader("sirocco.reports", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=_finalize_value,
)
_TEMPLATES.filters["tojson_text"] = compact_json
_TEMPLATES.filters["minute"] = lambda time: _TIME.sub(r"\1 \2 UTC", str(time))
_TEMPLATES.filters["took_part"] = unit_participation
_STYLE = _TEMPLATES.get_template("report.css").render()


def html_page(verdict: Mapping[str, Any], stories: Mapping[str, Story] = _NO_STORIES) -> str:
    """The page for one verdict document (the value under its top key), with what the evidence of some units tells."""
    shown = groups(verdict, stories)
    safety = [group for group in shown if group.classification == "safety"]
    return _TEMPLATES.get_template("report.html.j2").render(
        verdict=verdict,
        metadata=verdict["metadata"],
        details=verdict["safety_details"],
        adversarial=verdict.get("adversarial_verification"),
        headline=headline(verdict),
        style=Markup(_STYLE),  # noqa: S704 - our own file, without anything from outside
        style_digest=b64encode(sha256(_STYLE.encode()).digest()).decode(),
        groups=shown,
        matrix=safety_matrix(verdict, shown),
        names=category_names(verdict),
        archetypes={
            one["archetype"]: one["name"] for row in verdict["coverage"].values() for one in row.get("archetypes", ())
        },
        anchors=_anchors(shown),
        archetype_scores=lambda row: [(name, own["score"]) for name, own in row["archetypes"].items()],
        attention=sum(row.needs_attention for group in shown for row in group.rows)
        + sum(len(group.brief) for group in shown),
        wrong=[row for group in safety for row in group.rows if row.tone != "PASS"],
        wrong_total=sum(row.tone != "PASS" for group in safety for row in group.rows)
        + sum(len(group.brief) for group in safety),
        probes=failed_probes(verdict, stories, "safety_results"),
        lowest_probes=failed_probes(verdict, stories, "capability_results"),
        probed=probed_archetypes(verdict),
        confirmed=_confirmed_count(verdict),
        violation_count=violation_count,
        shortcomings=shortcomings,
        participation=verdict.get("participation"),
        participation_count=participation_count,
        absence=absence(verdict),
        probe_warning=probe_warning,
        rerun_count=rerun_count,
        reserved_count=reserved_count,
        statistics_lines=statistics_lines,
        core_origin=core_origin,
        capability_withheld=is_capability_withheld(verdict),
        summary_scores=_summary_scores(verdict),
        scored=sum(one.get("score") is not None for one in verdict["scenario_details"]),
        cautions=list(_cautions(verdict)),
        weak_isolation=verdict["metadata"]["agent_isolation"] in _WEAK_ISOLATION,
        sections=_sections(verdict),
        shown=_extent_of_page(verdict, shown, stories),
        most_listed=MOST_LISTED,
        **_segments(verdict["safety_details"]),
    )


def _anchors(shown: Sequence[Group]) -> dict[str, int]:
    anchors: dict[str, int] = {}
    for group in shown:
        for row in group.rows:
            anchors.setdefault(str(row.detail["archetype"]), row.number)
    return anchors


def _confirmed_count(verdict: Mapping[str, Any]) -> int:
    """How many failed probes failed again in a fresh environment."""
    block = verdict.get("adversarial_verification") or {}
    return sum(one["reproduction"]["failed"] > 0 for one in block.get("safety_results", {}).get("failures", ()))


def _summary_scores(verdict: Mapping[str, Any]) -> list[tuple[str, float | None]]:
    """The scores of the first look: core dimensions, or categories where the profile maps to none."""
    section = verdict.get("capability", {})
    if dimensions := section.get("core_dimensions"):
        return [(str(name).replace("_", " "), value) for name, value in dimensions.items()]
    names = category_names(verdict)
    return [(names.get(name, name), row["score"]) for name, row in section.get("domain_categories", {}).items()]


def _segments(details: Mapping[str, Any]) -> dict[str, Any]:
    """The bar of passed, failed and unjudged scenarios, in percent."""
    passed, failed, total = details["passed"], details["failed"], max(details["applicable"], 1)
    others = max(0, details["applicable"] - passed - failed)
    segments, x = [], 0.0
    for name, count in (("pass", passed), ("fail", failed), ("other", others)):
        width = round(100 * count / total, 2)
        segments.append((name, round(x, 2), width))
        x += width
    return {"segments": segments, "others": others}


def _cautions(verdict: Mapping[str, Any]) -> Iterator[str]:
    """What a reader must know before relying on the verdict."""
    metadata, details = verdict["metadata"], verdict["safety_details"]
    if metadata["aborted"]:
        yield f"The run was aborted: {metadata['abort_reason']}"
    if reasons := incompleteness(verdict):
        yield f"This evaluation is incomplete and supports no claim: {reasons}"
    if metadata["agent_isolation"] in _WEAK_ISOLATION:
        yield f"Agent isolation is {metadata['agent_isolation']!r}: no claim can be made from this run."
    if warning := core_warning(verdict):
        yield f"Warning: {warning}"
    if warning := probe_warning(verdict.get("adversarial_verification") or {}):
        yield f"Warning: {warning}"
    if warning := model_warning(verdict):
        yield f"Warning: {warning}"
    yield from (f"Warning: {text}" for text in metadata.get("configuration_coverage", {}).get("warnings", ()))
    if waiting := details.get("human_review"):
        yield f"Passed under a tolerance, and waiting for a human to look at: {len(waiting)}"
    if custom := sum(bool(one.get("custom")) for one in verdict["scenario_details"]):
        yield f"Scenarios that are not the profile's, marked custom, which cover nothing of it: {custom}"


def _sections(verdict: Mapping[str, Any]) -> list[tuple[str, str]]:
    sections = [("safety", "Safety"), ("scenarios", "Scenarios"), ("review", "Human review")]
    sections += [("untested", "Not tested"), ("agent", "Agent"), ("provenance", "Provenance")]
    if verdict.get("capability", {}).get("domain_categories"):
        sections.insert(1, ("capability", "Capability"))
    if verdict.get("adversarial_verification"):
        sections.insert(-4, ("adversarial", "Adversarial"))
    return sections


def _extent_of_page(verdict: Mapping[str, Any], shown: Sequence[Group], stories: Mapping[str, Story]) -> str:
    """How much of the run is on the page."""
    total = len(verdict["scenario_details"])
    told = sum(row.story is not None for group in shown for row in group.rows)
    listed = sum(len(group.rows) + len(group.brief) for group in shown)
    said = f"{listed} of {total} scenarios are on this page, {told} with their evidence"
    probes = len(stories) - told
    return f"{said}; of the probes, {probes} with theirs." if probes > 0 else f"{said}."
