"""Pages about the profile: what it holds and covers, its quality, one archetype, one scenario, and what it learnt."""

from collections import Counter

from starlette.requests import Request
from starlette.responses import Response

from sirocco.console.desk import desk_of
from sirocco.console.rendering import ListPage, page
from sirocco.errors import ConfigError
from sirocco.wiring.profile_source import profile_folder
from sirocco.wiring.promotion import promotions


def profile(request: Request) -> Response:
    """Categories with their archetypes, and how many scenarios each has."""
    desk = desk_of(request)
    loaded = desk.profile
    scenarios = Counter(one.scenario.archetype for one in loaded.scenarios)
    groups = [(category, [one for one in loaded.document.archetypes if one.category == category.id])
              for category in loaded.document.categories]  # fmt: skip
    return page(
        request, "profile.html.j2", profile=loaded.document, digest=loaded.digest(), groups=groups, scenarios=scenarios,
        promotions=promotions(profile_folder(desk.profile_name)), total=len(loaded.scenarios),
    )  # fmt: skip


def quality(request: Request) -> Response:
    """The quality analysis, for a reviewer's judgement."""
    desk = desk_of(request)
    return page(request, "quality.html.j2", profile=desk.profile.document, report=desk.quality)


def archetype(request: Request) -> Response:
    """One archetype with its scenarios."""
    loaded, name = desk_of(request).profile, request.path_params["archetype"]
    if name not in loaded.archetypes:
        raise ConfigError("the address", "the profile has no such archetype", "choose one from the profile")
    own = [one.scenario for one in loaded.scenarios if one.scenario.archetype == name]
    listed = ListPage.of(own, request, "profile", "archetype", name)
    return page(request, "archetype.html.j2", archetype=loaded.archetypes[name],
                classification=str(loaded.classification(name)), list=listed)  # fmt: skip


def scenario(request: Request) -> Response:
    """One published scenario: what is asked, what waits where, what is checked."""
    loaded, name = desk_of(request).profile, request.path_params["scenario"]
    found = next((one for one in loaded.scenarios if one.scenario.id == name), None)
    if found is None:
        raise ConfigError("the address", "the profile has no such scenario", "choose one from the profile")
    demands = [(check.id, check.archetype, "; ".join(one.demand() for one in check.predicates))
               for check in found.checks]  # fmt: skip
    return page(request, "scenario.html.j2", scenario=found.scenario, demands=demands)
