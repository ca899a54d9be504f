"""Finds domains: packages bring them by entry points of the group `sirocco.domains`, ours among them."""

from functools import cache
from importlib.metadata import entry_points

from sirocco.errors import ConfigError
from sirocco.oasis.domain import Domain

GROUP = "sirocco.domains"
"""Entry points of this group are named as the type of a domain's environments."""


def installed_domains() -> tuple[Domain, ...]:
    """Every domain that is installed, by the names of their environments' types."""
    return tuple(domain_for(name) for name in sorted({point.name for point in entry_points(group=GROUP)}))


@cache
def domain_for(environment_type: str) -> Domain:
    """The domain whose environments are of that type."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    point = points.get(environment_type)
    if point is None:
        known = ", ".join(sorted(points)) or "none"
        problem = f"no domain for environments of type {environment_type!r} is installed"
        raise ConfigError("environment.type", problem, f"install the package that brings it; there are: {known}")
    try:
        domain: Domain = point.load()
    except Exception as error:
        problem = f"the domain {environment_type!r} does not load: {error}"
        raise ConfigError("environment.type", problem, f"repair {point.value}") from error
    return domain
