"""A quality report on a terminal: what a reviewer looks for, section by section, with the gaps named."""

from collections.abc import Iterable, Iterator, Mapping

from rich.console import Console
from rich.text import Text

from sirocco.cli.terminal import count_phrase, one_line, print_table
from sirocco.profiles.quality import LEVELS, ArchetypeCoverage, Companion, Independence, QualityReport

GAP = "yellow"


def print_quality(report: QualityReport, out: Console) -> None:
    """The whole report."""
    kinds = " and ".join(f"{count} {kind}" for kind, count in report.scenarios.items())
    out.print(one_line(f"{report.profile} {report.version}: {kinds} scenarios"))
    out.print("Material for a reviewer's judgement: nothing here is a score, and no prose was judged.")
    for section in (
        _negative_testing,
        _independence,
        _difficulty,
        _archetypes,
        _intents,
        _subcategories,
        _print_reserved,
    ):
        out.print()
        section(report, out)
    out.print()
    out.print("How it could be gamed, with figures of runs: sirocco profile resistance PROFILE RUN...")


def _negative_testing(report: QualityReport, out: Console) -> None:
    rows = report.negative_testing
    _heading(
        out,
        "Negative testing",
        f"{sum(row.has_companion for row in rows)} of {len(rows)} safety archetypes have a companion",
    )
    cells = [(row.archetype, one.scenario, _companion(one)) for row in rows for one in row.scenarios]
    print_table(out, ("archetype", "scenario", "companion"), cells)
    _gap(out, "no scenario at all", [row.archetype for row in rows if not row.scenarios])


def _companion(companion: Companion) -> Text:
    named = companion.companion or "none"
    shown = f"{named} ({companion.problem})" if companion.problem else named
    return Text(one_line(shown), style="" if companion.counts else GAP)


def _independence(report: QualityReport, out: Console) -> None:
    _heading(out, "Coverage independence", "scenarios that share an attack surface cover it once")
    cells = [
        (row.category, row.scenarios, len(row.surfaces), ", ".join(_surfaces(row)))
        for row in report.coverage_independence
    ]
    print_table(out, ("category", "scenarios", "surfaces", "which"), cells)
    _gap(out, "no attack surface declared", [name for row in report.coverage_independence for name in row.undeclared])


def _surfaces(row: Independence) -> Iterator[str]:
    for surface, scenarios in row.surfaces.items():
        yield f"{surface} ({len(scenarios)} scenarios)" if len(scenarios) > 1 else surface


def _difficulty(report: QualityReport, out: Console) -> None:
    rated = report.scenarios["safety"] - max((row.unrated for row in report.difficulty), default=0)
    _heading(out, "Difficulty", f"{rated} of {count_phrase(report.scenarios['safety'], 'safety scenario')} rated")
    cells = [(row.axis, *row.levels.values(), row.unrated) for row in report.difficulty]
    print_table(out, ("axis", *LEVELS, "unrated"), cells)
    for row in report.difficulty:
        _gap(out, f"no scenario is rated on {row.axis} as", row.absent)


def _archetypes(report: QualityReport, out: Console) -> None:
    rows = report.archetype_coverage
    highest = [row for row in rows if row.tier == max(row.tier for row in rows)]
    covered = sum(len(row.covered) + len(row.reserved) for row in highest)
    defined = covered + sum(len(row.missing) for row in highest)
    _heading(
        out,
        "Archetype coverage",
        f"{covered} of {count_phrase(defined, 'archetype')} have a scenario; covered/required",
    )
    cells = []
    for last in highest:
        of_category = [row for row in rows if row.category == last.category]
        total = len(last.covered) + len(last.reserved) + len(last.missing)
        cells.append((last.category, total, *map(_against_required, of_category)))
    tiers = sorted({row.tier for row in rows})
    print_table(out, ("category", "archetypes", *(f"tier {tier}" for tier in tiers)), cells)
    _gap(out, "reserved scenarios only", [name for row in highest for name in row.reserved])
    _gap(out, "no scenario", [name for row in highest for name in row.missing])


def _against_required(row: ArchetypeCoverage) -> Text:
    count = len(row.covered) + len(row.reserved)
    return Text(f"{count}/{row.required}", style=GAP if count < row.required else "")


def _intents(report: QualityReport, out: Console) -> None:
    intents = report.intents
    _heading(out, "Intents", f"{intents.stated} of {count_phrase(intents.scenarios, 'scenario')} state one")
    _gap(out, "required and missing", intents.missing_required)
    _gap(out, "missing", intents.missing_optional)
    _gap(out, "too short", intents.short)
    for group in intents.duplicated:
        _gap(out, "the same intent", group)


def _subcategories(report: QualityReport, out: Console) -> None:
    _heading(out, "Subcategories", f"{count_phrase(report.without_subcategory, 'scenario')} in none")
    cells = [
        (row.subcategory, sum(row.scenarios.values()), _counts_text(row.scenarios)) for row in report.subcategories
    ]
    print_table(out, ("subcategory", "scenarios", "where"), cells)
    _gap(out, "defined and unused", [row.subcategory for row in report.subcategories if row.is_unused])


def _counts_text(scenarios: Mapping[str, int]) -> str:
    return ", ".join(f"{category} {count}" for category, count in scenarios.items())


def _print_reserved(report: QualityReport, out: Console) -> None:
    reserved = report.reserved
    if reserved is None:
        _heading(out, "Reserved scenarios", "the profile declares none")
        return
    source = f"in {reserved.manifest}" if reserved.manifest else "no manifest named"
    _heading(out, "Reserved scenarios", f"{reserved.total} ({source}); rotation: {reserved.cadence}")
    if reserved.total:
        print_table(out, ("category", "reserved"), list(reserved.categories.items()))
    _gap(out, f"fewer than {reserved.minimum_per_category}", reserved.below_minimum)
    if reserved.warning:
        out.print(Text(one_line(f"warning: {reserved.warning}"), style="yellow"))


def _heading(out: Console, title: str, summary: str) -> None:
    out.print(Text.assemble((title, "bold"), one_line(f": {summary}")))


def _gap(out: Console, what: str, names: Iterable[str]) -> None:
    if listed := ", ".join(names):
        out.print(Text.assemble((one_line(f"{what}: "), GAP), one_line(listed)))
