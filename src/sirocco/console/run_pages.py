"""Pages about runs: the list, one run section by section as in its report, one unit, and runs beside each other."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sirocco.console.addresses import address
from sirocco.console.desk import desk_of
from sirocco.console.library import LoadedRun, UnitRow
from sirocco.console.rendering import ListPage, page
from sirocco.errors import ConfigError
from sirocco.reports.comparison import Row as Beside
from sirocco.reports.comparison import comparison, side_by_side
from sirocco.reports.headline import participation_count
from sirocco.reports.page import ProbeRow, Row, deciding_unit
from sirocco.reports.story import Story
from sirocco.wiring.run_files import UNREADABLE, not_a_verdict

_RUNS_SHOWN = 20
_MOST_COMPARED = 8
_LONGEST_SEARCH = 200


def run_list(request: Request) -> Response:
    """Every run, the latest first."""
    library = desk_of(request).library
    wanted = request.query_params.get("q", "")[:_LONGEST_SEARCH]
    places = [place for place in library.places() if wanted.lower() in place.name.lower()]
    shown = ListPage.of(places, request, "runs", length=_RUNS_SHOWN, asked={"q": wanted})
    summaries = [library.summary(place) for place in shown.rows]
    is_live = any(one.state == "running" for one in summaries)
    template = "run_rows.html.j2" if request.headers.get("hx-request") else "runs.html.j2"
    return page(request, template, list=shown, summaries=summaries, wanted=wanted, is_live=is_live)


def run_overview(request: Request) -> Response:
    """What a run came to; how far it is while it goes on."""
    library = desk_of(request).library
    place = library.place(request.path_params["run"])
    if library.is_unfinished(place):
        return _progress(request, "progress.html.j2")
    run = library.load(place)
    return _run_page(request, "run.html.j2", run, "overview")


def run_progress(request: Request) -> Response:
    """The part of the page that changes while a run goes on."""
    return _progress(request, "progress_part.html.j2")


def _progress(request: Request, template: str) -> Response:
    desk = desk_of(request)
    place = desk.library.place(request.path_params["run"])
    summary, progress = desk.library.summary(place), desk.library.progress(place)
    job = desk.jobs.of_run(place.path)
    return page(request, template, place=place, summary=summary, progress=progress, job=job, run_slug=place.slug)


def run_adversarial(request: Request) -> Response:
    """The adversarial phase: how it was tested and what it covered."""
    return _run_page(request, "run_adversarial.html.j2", _run(request), "adversarial")


def run_context(request: Request) -> Response:
    """What was not tested, the agent, and where everything comes from."""
    return _run_page(request, "run_context.html.j2", _run(request), "context")


def run_findings(request: Request) -> Response:
    """The findings of a run, the worst first; each has a page of its own among the reviews."""
    run, desk = _run(request), desk_of(request)
    ids = {probe: item.id for item in desk.library.queue() for one in item.sightings if one.run == run.place.name
           for probe in one.probes}  # fmt: skip
    shown = ListPage.of(run.report.findings, request, "run", run.place.slug, "findings")
    return _run_page(request, "run_findings.html.j2", run, "findings", list=shown, ids=ids)


def run_units(request: Request) -> Response:
    """Every scenario and probe of a run, as a list that can be narrowed down; of one that goes on, those that ended."""
    library = desk_of(request).library
    place = library.place(request.path_params["run"])
    asked = {key: request.query_params.get(key, "")[:_LONGEST_SEARCH] for key in ("q", "kind", "show", "archetype")}
    is_part = bool(request.headers.get("hx-request"))
    if library.is_unfinished(place):
        so_far = [row for row in library.units_so_far(place) if _is_wanted(row, asked)]
        shown = ListPage.of(so_far, request, "run", place.slug, "units", asked=asked)
        template = "unit_rows.html.j2" if is_part else "units_so_far.html.j2"
        return page(request, template, place=place, run_slug=place.slug, list=shown, asked=asked, archetypes={})
    run = library.load(place)
    rows = [row for row in run.units if _is_wanted(row, asked)]
    shown = ListPage.of(rows, request, "run", run.place.slug, "units", asked=asked)
    template = "unit_rows.html.j2" if is_part else "run_units.html.j2"
    return _run_page(request, template, run, "units", list=shown, asked=asked)


def _is_wanted(row: UnitRow, asked: dict[str, str]) -> bool:
    words = asked["q"].lower().split()
    said = f"{row.name} {row.title} {row.archetype} {row.status}".lower()
    return (
        all(word in said for word in words)
        and asked["kind"] in {"", row.kind}
        and asked["archetype"] in {"", row.archetype}
        and (asked["show"] != "attention" or row.needs_attention)
    )


def run_unit(request: Request) -> Response:
    """One scenario or probe with its evidence, also while its run goes on."""
    library, name = desk_of(request).library, request.path_params["unit"]
    place = library.place(request.path_params["run"])
    if library.is_unfinished(place):
        told = library.story_so_far(place, name)
        return page(request, "unit_so_far.html.j2", place=place, run_slug=place.slug, unit_name=name, story=told)
    run = library.load(place)
    known = next((row for row in run.units if row.name == name), None)
    if known is None:
        raise ConfigError("the address", "the run has no such unit", "choose one from its list")
    story = library.story(run, name)
    values = {"unit_name": name, "known": known, "row": _unit_row(run, name, story), "story": story}
    return _run_page(request, "run_unit.html.j2", run, "units", **values)


def _unit_row(run: LoadedRun, name: str, story: Story | None) -> Row | ProbeRow | None:
    """The unit as the report has it: a scenario, a probe that failed, or None for one that is fine."""
    for group in run.report.groups:
        for row in group.rows:
            if deciding_unit(row.detail) == name:
                return Row(row.number, row.detail, story, row.tone, row.needs_attention)
    for detail in run.verdict["scenario_details"]:
        if deciding_unit(detail) == name:
            return Row(0, detail, story, str(detail.get("status") or "NONE"), needs_attention=False)
    for probe in run.report.probes:
        if str(probe.failure["probe_serialized"]).endswith(f"/{name}.yaml"):
            return ProbeRow(probe.number, probe.archetype, probe.category, probe.failure, story, probe.is_safety)
    return None


def compare(request: Request) -> Response:
    """Runs beside each other; without a choice, the list to choose from."""
    library = desk_of(request).library
    slugs = list(dict.fromkeys(request.query_params.getlist("run")))
    if len(slugs) < 2:
        places = ListPage.of(library.places(), request, "compare")
        return page(request, "compare_choice.html.j2", list=places, chosen=slugs)
    if len(slugs) > _MOST_COMPARED:
        raise ConfigError("the choice", f"{len(slugs)} runs do not fit beside each other", f"take {_MOST_COMPARED}")
    runs = [library.run(slug) for slug in slugs]
    verdicts = [run.verdict for run in runs]
    try:
        beside = side_by_side(verdicts)
        changed = comparison(*verdicts) if len(verdicts) == 2 else None
    except UNREADABLE as error:
        raise not_a_verdict(runs[0].place.path, error) from error
    parts = (("safety", beside.safety), ("capability", beside.capability), ("score", beside.scores),
             ("probe", beside.probes))  # fmt: skip
    rows: list[tuple[str, Beside]] = [(kind, row) for kind, part in parts for row in part if not row.is_same]
    same = {kind: sum(row.is_same for row in part) for kind, part in parts}
    # An address has a run several times, which a mapping has not.
    shown = ListPage.of(rows, request, "compare")
    step = "/compare?" + "&".join(address(run=slug).partition("?")[2] for slug in slugs)
    return page(
        request, "compare.html.j2", runs=runs, beside=beside, changed=changed, list=shown, same=same, step=step,
        participation_count=participation_count,
    )  # fmt: skip


def _run(request: Request) -> LoadedRun:
    return desk_of(request).library.run(request.path_params["run"])


def _run_page(request: Request, template: str, run: LoadedRun, tab: str, **values: Any) -> Response:
    """A page with what every page of one run has, and all that the report's sections show."""
    own = {"run_slug": run.place.slug, "tab": tab, "place_of_run": run.place}
    try:
        return page(request, template, **{**run.shown, **own, **values})
    except UNREADABLE as error:
        raise not_a_verdict(run.place.path, error) from error
