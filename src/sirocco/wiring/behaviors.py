"""Behaviours that other packages bring: entry points of the group `sirocco.behaviors`, each named as its behaviour."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from sirocco.errors import ConfigError
from sirocco.evaluation.behaviors import registry
from sirocco.evaluation.behaviors.behavior import Behavior
from sirocco.wiring.domains import usable_domains

GROUP = "sirocco.behaviors"


@cache
def install_behaviors() -> tuple[str, ...]:
    """Add the installed behaviours to the built-in ones, once; ConfigError for one that does not load or fit."""
    taken = frozenset(name for domain in usable_domains() for name in domain.behaviors)
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        _install(point, taken)
    return tuple(sorted(point.name for point in entry_points(group=GROUP)))


def _install(point: EntryPoint, taken: frozenset[str]) -> None:
    where = f"entry point {point.name} of {GROUP}"
    try:
        loaded = point.load()
    except Exception as error:
        raise ConfigError(where, f"{point.value} does not load: {error}", "repair or uninstall the package") from error
    if not isinstance(loaded, Behavior) or loaded.id != point.name:
        found = f"the behaviour {loaded.id!r}" if isinstance(loaded, Behavior) else f"a {type(loaded).__name__}"
        raise ConfigError(where, f"{point.value} is {found}", "name the entry point after the behaviour it leads to")
    try:
        registry.add(loaded, taken)
    except ValueError as error:
        raise ConfigError(where, str(error), "rename the behaviour, or use slots of the glossary") from error
