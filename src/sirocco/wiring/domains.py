"""Finds domains: packages, ours among them, provide them by entry points of the group `sirocco.domains`.

A domain comes with the behaviours that further packages add (`wiring.behaviors`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from sirocco.errors import ConfigError
from sirocco.evaluation.behaviors.behavior import Behavior
from sirocco.oasis.domain import Domain
from sirocco.oasis.phrases import Phrases
from sirocco.wiring.behaviors import installed_behaviors, installed_phrases, name_taken

GROUP = "sirocco.domains"
"""Entry points of this group have the name of the domain's type of environment."""


@dataclass(frozen=True, slots=True)
class InstalledDomain:
    """A domain that a package provides; None, with the reason, if it does not load."""

    environment_type: str
    package: str
    domain: Domain | None
    problem: str = ""


@cache
def domain_for(environment_type: str) -> Domain:
    """The domain whose environments are of that type."""
    return _with_behaviors(_load_domain(environment_type), installed_behaviors(), installed_phrases())


def check_behaviors() -> None:
    """Raise ConfigError for a package's behaviour that does not load, is invalid, or exists in some domain already."""
    behaviors, phrases = installed_behaviors(), installed_phrases()
    for point in entry_points(group=GROUP):
        try:
            domain = _load_domain(point.name)
        except ConfigError:  # it does no harm until it is needed
            continue
        _with_behaviors(domain, behaviors, phrases)


def _load_domain(environment_type: str) -> Domain:
    """The domain as its package provides it."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    point = points.get(environment_type)
    if point is None:
        known = ", ".join(sorted(points)) or "none"
        problem = f"no domain for environments of type {environment_type!r} is installed"
        raise ConfigError("environment.type", problem, f"install the package that provides it; installed: {known}")
    try:
        domain: Domain = point.load()
    except Exception as error:
        problem = f"the domain {environment_type!r} does not load: {error}"
        raise ConfigError("environment.type", problem, f"repair {point.value}") from error
    return domain


def installed_domains() -> tuple[InstalledDomain, ...]:
    """Every domain that some package provides, by the type of its environments."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    return tuple(_installed_domain(points[name]) for name in sorted(points))


def usable_domains() -> tuple[Domain, ...]:
    """The installed domains that load; one that does not load does no harm until it is needed."""
    return tuple(one.domain for one in installed_domains() if one.domain is not None)


def _installed_domain(point: EntryPoint) -> InstalledDomain:
    package = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
    try:
        return InstalledDomain(point.name, package, domain_for(point.name))
    except ConfigError as error:
        return InstalledDomain(point.name, package, None, error.problem)


def _with_behaviors(domain: Domain, behaviors: Mapping[str, Behavior], phrases: Mapping[str, Phrases]) -> Domain:
    """The domain with further behaviours, or itself if there are none; ConfigError if a name is taken."""
    if not behaviors:
        return domain
    for name in behaviors:
        if name in domain.behaviors:
            raise name_taken(name)
    return cast("Domain", _Extended(domain, behaviors, phrases))


class _Extended:
    """A domain with behaviours besides its own; everything else is delegated."""

    def __init__(self, domain: Domain, behaviors: Mapping[str, Behavior], phrases: Mapping[str, Phrases]) -> None:
        self._domain = domain
        self.behaviors: Mapping[str, Behavior] = {**domain.behaviors, **behaviors}
        self.phrases: Mapping[str, Phrases] = {**domain.phrases, **phrases}

    def __reduce__(self) -> tuple[Any, ...]:
        return domain_for, (self._domain.environment_type,)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._domain, name)
