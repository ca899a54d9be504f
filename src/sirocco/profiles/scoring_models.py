"""The rules for scoring models: the bands of archetypes, and rubrics of scenarios that repeat them (AV-16)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from sirocco.errors import DocumentPath, Problem
from sirocco.evaluation.behaviors.registry import behaviors_for
from sirocco.oasis.archetype import Classification
from sirocco.oasis.band import Band, Deduction, Share, Verified, behaviors_of_band, conditions_in, said_score
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.domain import Domain
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.spelling import spelling_remedy

_INSTALL = "install the package that judges it"


def band_problems(document: ProfileDocument, domain: Domain | None) -> Iterator[Problem]:
    """Bands that cannot give every run of a capability scenario one score, or that nothing can judge.

    If the profile does not name its domain, only its scenarios can tell which behaviours can be judged.
    """
    classifications = {category.id: category.classification for category in document.categories}
    for number, archetype in enumerate(document.archetypes):
        path: DocumentPath = ("archetypes", number, "bands")
        if archetype.bands and classifications.get(archetype.category) is Classification.SAFETY:
            problem = f"{archetype.id} is a safety archetype, and safety is not scored"
            yield Problem("bands-form", path, problem, "remove the bands")
        elif archetype.bands:
            yield from form_problems(archetype.id, archetype.bands, path)
            yield from _unjudged_behaviors(archetype.bands, domain, path) if domain is not None else ()


def form_problems(archetype: str, bands: Sequence[Band], path: DocumentPath) -> Iterator[Problem]:
    """The first row that is met decides, so only the last may be without a condition, and it gives nothing."""
    names: set[str] = set()
    *others, last = bands
    for number, band in enumerate(others):
        if band.when is None:
            problem = f"the band {band.band!r} is always met, so that later ones never apply"
            yield Problem("bands-form", (*path, number), problem, "say when it is met, or move it to the end")
    if last.when is not None or last.score != 0:
        problem = f"the last band of {archetype} is not one that is always met and gives 0"
        yield Problem("bands-form", (*path, len(others)), problem, "end with {band: NAME, score: 0.0}")
    if not others:
        problem = f"{archetype} gives every run the same score"
        yield Problem("bands-form", path, problem, "add a band for those who do what it asks for")
    for number, (previous, band) in enumerate(pairwise(bands), start=1):
        names.add(previous.band)
        if band.band in names and (band.band != previous.band or band is last):
            problem = f"{archetype} has another band {band.band!r} further up"
            remedy = "put the rows of one band together, or choose another name; the last is a band by itself"
            yield Problem("bands-form", (*path, number, "band"), problem, remedy)


def _unjudged_behaviors(bands: Sequence[Band], domain: Domain, path: DocumentPath) -> Iterator[Problem]:
    known = behaviors_for(domain)
    for number, band in enumerate(bands):
        for name in behaviors_of_band(band):
            if name not in known:
                problem = f"nothing can judge the behaviour {name!r}"
                yield Problem("behavior-unjudged", (*path, number), problem, spelling_remedy(name, known, _INSTALL))


def unscored_problems(bound: BoundScenario, bands: Sequence[Band] | None) -> Iterator[Problem]:
    """Why a capability scenario has no score; None for `bands` if its archetype is not known or not scored."""
    scenario = bound.scenario
    if bands is None or scenario.classification is not Classification.CAPABILITY:
        return
    path: DocumentPath = ("archetype",)
    known = behaviors_for(bound.domain)
    if not bands:
        problem = f"{scenario.archetype} has no bands, so there is no score"
        yield Problem("bands-missing", path, problem, "give the archetype bands in its profile")
    for band in bands:
        for name in behaviors_of_band(band):
            if name not in known:
                problem = f"the band {band.band!r} of {scenario.archetype} rests on {name!r}, which nothing can judge"
                yield Problem("behavior-unjudged", path, problem, spelling_remedy(name, known, _INSTALL))
        for part in dict.fromkeys(one for one in conditions_in(band.when) if isinstance(one, Verified)):
            if not any(part.is_about(check.id) for check in bound.checks if check.archetype == scenario.archetype):
                problem = f"the band {band.band!r} of {scenario.archetype} depends on checks that do not exist"
                yield Problem("bands-unchecked", path, problem, "add one, or let the band depend on something else")


def rubric_problems(scenario: Scenario, bands: Sequence[Band]) -> Iterator[Problem]:
    """Problems with a rubric itself, and contradictions with the bands, which decide."""
    rubric = scenario.scoring.rubric
    if scenario.classification is not Classification.CAPABILITY or not rubric:
        return
    path: DocumentPath = ("scoring", "rubric")
    for name, value in rubric.items():
        if not _is_score(value):
            problem = f"{name}: {value!r} is not a score from 0 to 1"
            yield Problem("rubric-value", (*path, name), problem, "give a number, or let a band give a share")
    if not any(_is_score(value) and value == 0 for value in rubric.values()):
        yield Problem("rubric-value", path, "no band gives 0, so doing nothing has no score", "add a band of 0")
    if not bands:
        return
    for name, value in rubric.items():
        if contradiction := _contradiction(name, value, bands):
            remedy = f"match the bands of {scenario.archetype}, or leave out the rubric"
            yield Problem("rubric-bands", (*path, name), contradiction, remedy)
    for band in bands:
        if band.band not in rubric and _is_score(band.score) and band.score != 0:
            problem = f"the bands have {band.band!r}, the rubric does not"
            yield Problem("rubric-bands", path, problem, f"add {band.band}: {band.score:g}, or leave out the rubric")


def _contradiction(name: str, value: Any, bands: Sequence[Band]) -> str | None:
    """The contradiction between an entry of a rubric and the bands; None if there is none.

    A number must be that of the band of its name. A negative number is a deduction for each missing part, and anything
    that is not a number means that some band gives a share; neither needs the name of a band.
    """
    rows = [band for band in bands if band.band == name]
    if _is_score(value):
        if not rows:
            return f"there is no band {name!r}"
        other = next((band for band in rows if band.score != value), None)
        return f"{name}: {value:g}, but the band gives {said_score(other.score)}" if other else None
    taken = {band.score.minus for band in bands if isinstance(band.score, Deduction)}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return None if -value in taken else f"{name}: {value:g}, but no band takes that off for each missing part"
    shares = [one for one in rows or bands if isinstance(one.score, Share | Deduction)]
    return None if shares else f"{name}: {value!r}, but no band gives a share"


def _is_score(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
