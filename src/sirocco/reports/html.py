"""The HTML report: one self-contained page without scripts or requests; all outside text is cleaned and escaped."""

import re
import sys
from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from sirocco.reports.findings import MOST_TOLD, SEVERITIES, Rerun, probe_name, safety_findings
from sirocco.reports.headline import (
    archetype_names,
    category_names,
    cautions,
    core_origin,
    halves,
    is_capability_withheld,
    is_weakly_isolated,
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
    Detail,
    Group,
    ProbeRow,
    Row,
    groups,
    probe_rows,
    probed_archetypes,
    safety_matrix,
)
from sirocco.reports.plots import admission_funnel, budget_curve, category_rates, heat_map, pair_shares, unreached
from sirocco.reports.story import Story
from sirocco.reports.text import compact_json, passage, printable_text

_NO_STORIES: Mapping[str, Story] = MappingProxyType({})
_TIME = re.compile(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$")
_OTHER = re.compile(r"[^a-z0-9]+")
_LONGEST = 4_000
MOST_BYTES = 1_000_000
"""The maximum size of a page; a larger report is split into several."""
_ROOM = 780_000
"""The part of a category's page used for units with their evidence; the rest is for those without."""
_MOST_LEFT = 400
"""The number of units that a category's page lists without their evidence."""
_NO_RUN = Rerun()
_BLOCKS: Mapping[str, Any] = {"trim_blocks": True, "lstrip_blocks": True}


def _finalize_value(value: Any) -> Any:
    """The printed form of a template's value: no control characters, limited length; markup is the template's own."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return printable_text(value) if len(value) <= _LONGEST else passage(value, _LONGEST)
    return value


class _BesideModules(FileSystemBytecodeCache):
    """Compiled templates, kept where Python keeps this module compiled; where it may keep nothing, nothing is kept."""

    def __init__(self) -> None:
        folder, _, module = str(__spec__.cached).rpartition("/")
        super().__init__(folder, f"{module.removesuffix('pyc')}%s.pyc")

    def get_source_checksum(self, source: str) -> str:
        """What is compiled depends on the settings, too."""
        return super().get_source_checksum(f"{_BLOCKS} {source}")

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template, unless Python was told not to, or may not write there."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                super().dump_bytecode(bucket)


def page_environment(*loaders: BaseLoader) -> Environment:
    """The template environment for reports and anything else that shows these facts: escapes and cleans everything."""
    templates = Environment(
        loader=ChoiceLoader([*loaders, PackageLoader("sirocco.reports", "templates")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize_value,
        bytecode_cache=_BesideModules(),
        **_BLOCKS,
    )
    templates.filters["tojson_text"] = compact_json
    templates.filters["minute"] = lambda time: _TIME.sub(r"\1 \2 UTC", str(time))
    templates.filters["took_part"] = unit_participation
    return templates


_TEMPLATES = page_environment()
STYLE = _TEMPLATES.get_template("report.css").render()
"""The style sheet of every page."""


def html_page(verdict: Mapping[str, Any], stories: Mapping[str, Story] = _NO_STORIES, rerun: Rerun = _NO_RUN) -> str:
    """One page with everything, for a verdict document (the value under its top key) and the evidence of some units."""
    return Report(verdict, stories, rerun).page()


def html_pages(
    verdict: Mapping[str, Any], stories: Mapping[str, Story], rerun: Rerun, name: str = "report"
) -> dict[str, str]:
    """The report's pages by file name: a single page if small, else a summary and a page for each category.

    None of them is larger than `MOST_BYTES`, however many probes there were (CO-11).
    """
    report = Report(verdict, stories, rerun)
    whole = report.page()
    if len(whole.encode()) <= MOST_BYTES:
        return {f"{name}.html": whole}
    return report.pages(name)


class Report:
    """One verdict to be rendered as one page or several; holds what every page shows."""

    def __init__(self, verdict: Mapping[str, Any], stories: Mapping[str, Story], rerun: Rerun) -> None:
        self.verdict, self.stories = verdict, stories
        self.run = rerun.directory or "RUN"
        self.groups = groups(verdict, stories)
        self.probes = probe_rows(verdict, stories)
        self.findings = safety_findings(verdict, stories, rerun)
        self.shared: dict[str, Any] = {
            "metadata": verdict["metadata"],
            "archetypes": archetype_names(verdict),
            "halves": halves(verdict),
            "run": self.run,
            "style": Markup(STYLE),  # noqa: S704 - our own file, without anything from outside
            "style_digest": b64encode(sha256(STYLE.encode()).digest()).decode(),
        }

    def page(self) -> str:
        """Everything on one page."""
        return self._summary({}, ())

    def pages(self, name: str) -> dict[str, str]:
        """The summary, and a page for each category with its scenarios and failed probes."""
        pages: dict[str, str] = {}
        places: dict[str, str] = {}
        links = []
        for category, title, rows, probes, brief, unlisted in self._categories():
            file = _file_name(name, category, pages)
            page, shown = self._category_page(f"{name}.html", title, rows, probes, brief, unlisted)
            pages[file] = page
            anchors = [*(f"u{row.number}" for row in rows), *(f"p{row.number}" for row in probes)]
            places |= {anchor: f"{file}#{anchor}" if anchor in shown else file for anchor in anchors}
            failed = sum(row.needs_attention for row in rows) + len(brief)
            links.append((file, title, len(rows) + len(brief) + unlisted, failed, len(probes)))
        return {f"{name}.html": self._summary(places, tuple(links)), **pages}

    def _categories(self) -> Iterator[tuple[str, str, Sequence[Row], Sequence[ProbeRow], Sequence[Detail], int]]:
        names = category_names(self.verdict)
        for group in self.groups:
            own = [row for row in self.probes if row.category == group.id]
            yield group.id, group.name, group.rows, own, group.brief, group.unlisted
        known = {group.id for group in self.groups}
        for category in dict.fromkeys(row.category for row in self.probes if row.category not in known):
            own = [row for row in self.probes if row.category == category]
            yield category or "probes", names.get(category, category) or "Other probes", (), own, (), 0

    def _category_page(
        self,
        summary: str,
        title: str,
        rows: Sequence[Row],
        probes: Sequence[ProbeRow],
        brief: Sequence[Detail],
        unlisted: int,
    ) -> tuple[str, set[str]]:
        """A category's page, and the anchors on it; units that do not fit are listed with their reason only."""
        parts = _TEMPLATES.get_template("parts.html.j2").make_module(self.shared)
        first = {finding.probe for finding in self.findings}
        ranked = sorted(probes, key=lambda row: (row.story is None, probe_name(row.failure) not in first))
        attention = [row for row in rows if row.needs_attention]
        fine = [row for row in rows if not row.needs_attention]
        room, shown, failed, passed, told, left = _ROOM, set[str](), [], [], [], list[tuple[str, str]]()
        for row in attention:
            text = parts.unit(row, self.run)  # type: ignore[attr-defined]
            if (room := room - len(text.encode())) > 0:
                failed.append(text)
                shown.add(f"u{row.number}")
            else:
                left.append((str(row.detail["scenario_id"]), str(row.detail.get("reason") or "")))
        for probe in ranked:
            text = parts.probe(probe, self.run)  # type: ignore[attr-defined]
            if (room := room - len(text.encode())) > 0:
                told.append(text)
                shown.add(f"p{probe.number}")
            else:
                left.append((probe_name(probe.failure), str(probe.failure["description"])))
        for row in fine:
            text = parts.unit(row, self.run)  # type: ignore[attr-defined]
            if (room := room - len(text.encode())) > 0:
                passed.append(text)
                shown.add(f"u{row.number}")
            else:
                unlisted += 1
        left += [(str(one["scenario_id"]), str(one.get("reason") or "")) for one in brief]
        page = _TEMPLATES.get_template("category.html.j2").render(
            self.shared, title=title, summary=summary, failed=failed, passed=passed, told=told,
            left=left[:_MOST_LEFT], more=max(0, len(left) - _MOST_LEFT), unlisted=unlisted,
        )  # fmt: skip
        return page, shown

    def _summary(self, places: Mapping[str, str], links: Sequence[tuple[str, str, int, int, int]]) -> str:
        """The page to read first; `places` says which other page a unit is on, if not this one."""
        values = self.values(lambda anchor: places.get(anchor, f"#{anchor}"), links)
        return _TEMPLATES.get_template("report.html.j2").render(values)

    def values(
        self,
        place: Callable[[str], str],
        links: Sequence[tuple[str, str, int, int, int]],
        elsewhere: tuple[str, str] = ("#scenarios", "the pages of their categories"),
        section: Callable[[str], str] = "#{}".format,
    ) -> dict[str, Any]:
        """What the sections of a report show.

        `place` is where a unit is, `elsewhere` where failed probes are shown, `section` where a section is.
        """
        verdict, shown = self.verdict, self.groups
        safety = [group for group in shown if group.classification == "safety"]
        numbers = {probe_name(row.failure): row.number for row in self.probes}
        return dict(
            self.shared,
            verdict=verdict,
            details=verdict["safety_details"],
            adversarial=verdict.get("adversarial_verification"),
            groups=shown,
            links=links,
            place=place,
            elsewhere=elsewhere,
            section=section,
            numbers=numbers,
            findings=self.findings,
            most_told=MOST_TOLD,
            severities=SEVERITIES,
            matrix=safety_matrix(verdict, shown),
            names=category_names(verdict),
            anchors=_anchors(shown),
            archetype_scores=lambda row: [(name, own["score"]) for name, own in row["archetypes"].items()],
            attention=sum(row.needs_attention for group in shown for row in group.rows)
            + sum(len(group.brief) for group in shown),
            wrong=[row for group in safety for row in group.rows if row.tone != "PASS"],
            wrong_total=sum(row.tone != "PASS" for group in safety for row in group.rows)
            + sum(len(group.brief) for group in safety),
            probes=self.probes,
            probed=probed_archetypes(verdict),
            confirmed=_confirmed_count(verdict),
            violation_count=violation_count,
            shortcomings=shortcomings,
            participation=verdict.get("participation"),
            participation_count=participation_count,
            probe_warning=probe_warning,
            rerun_count=rerun_count,
            reserved_count=reserved_count,
            statistics_lines=statistics_lines,
            core_origin=core_origin,
            capability_withheld=is_capability_withheld(verdict),
            scored=sum(one.get("score") is not None for one in verdict["scenario_details"]),
            cautions=list(cautions(verdict)),
            weak_isolation=is_weakly_isolated(verdict),
            sections=_sections(verdict, has_findings=bool(self.findings)),
            shown=_extent_of_page(verdict, shown, self.stories),
            most_listed=MOST_LISTED,
            heat=heat_map(verdict),
            rates=category_rates(verdict),
            curve=budget_curve(verdict),
            funnel=admission_funnel(verdict),
            pairs=pair_shares(verdict),
            unreached=unreached(verdict),
            **_segments(verdict["safety_details"]),
        )


def _file_name(name: str, category: str, taken: Collection[str]) -> str:
    """A category's file name; letters and digits only, whatever the profile calls it."""
    word = _OTHER.sub("-", category.lower()).strip("-")[:60] or "category"
    file, number = f"{name}-{word}.html", 2
    while file in taken:
        file, number = f"{name}-{word}-{number}.html", number + 1
    return file


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


def _sections(verdict: Mapping[str, Any], *, has_findings: bool) -> list[tuple[str, str]]:
    sections = [("findings", "Findings")] if has_findings else []
    sections += [("adversarial", "Generalization")] if verdict.get("adversarial_verification") else []
    sections += [("safety", "Safety"), ("capability", "Capability"), ("scenarios", "Scenarios")]
    return [*sections, ("review", "Human review"), ("untested", "Not tested"), ("agent", "Agent"),
            ("provenance", "Provenance")]  # fmt: skip


def _extent_of_page(verdict: Mapping[str, Any], shown: Sequence[Group], stories: Mapping[str, Story]) -> str:
    """How much of the run is on the page."""
    total = len(verdict["scenario_details"])
    told = sum(row.story is not None for group in shown for row in group.rows)
    listed = sum(len(group.rows) + len(group.brief) for group in shown)
    said = f"{listed} of {total} scenarios are on this page, {told} with their evidence"
    probes = len(stories) - told
    return f"{said}; of the probes, {probes} with theirs." if probes > 0 else f"{said}."
