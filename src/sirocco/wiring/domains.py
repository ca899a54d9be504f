"""Finds domains: packages bring them by entry points of the group `sirocco.domains`, ours among them."""

from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from sirocco.errors import ConfigError
from sirocco.oasis.domain import Domain

GROUP = "sirocco.domains"
"""Entry points of this group are named as the type of a domain's environments."""


@dataclass(frozen=True, slots=True)
class InstalledDomain:
    """A domain that a package brings; None where it does not load, and why."""

    environment_type: str
    package: str
    domain: Domain | None
    problem: str = ""


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


def installed_domains() -> tuple[InstalledDomain, ...]:
    """Every domain that some package brings, by the type of its environments."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    return tuple(_installed(points[name]) for name in sorted(points))


def usable_domains() -> tuple[Domain, ...]:
    """Those of the installed domains that load; one that does not is in nobody's way until it is asked for."""
    return tuple(one.domain for one in installed_domains() if one.domain is not None)


def _installed(point: EntryPoint) -> InstalledDomain:
    package = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
    try:
        return InstalledDomain(point.name, package, domain_for(point.name))
    except ConfigError as error:
        return InstalledDomain(point.name, package, None, error.problem)
