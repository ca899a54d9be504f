"""Behaviours from other packages, found by entry points with the behaviours' names.

`sirocco.behaviors` leads to the behaviour, `sirocco.phrases` to what witnesses say to show it, if it depends on words.
Both are added to a domain when it is found (`wiring.domains`): a behaviour that is not built in belongs to a domain.
"""

from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from sirocco.errors import ConfigError
from sirocco.evaluation.behaviors.behavior import Behavior
from sirocco.evaluation.behaviors.registry import BEHAVIORS
from sirocco.oasis.phrases import Phrases
from sirocco.oasis.slot import SLOTS

GROUP = "sirocco.behaviors"
PHRASES_GROUP = "sirocco.phrases"


def installed_behaviors() -> Mapping[str, Behavior]:
    """The installed behaviours by id; ConfigError for one that does not load or is invalid."""
    return {point.name: _load_behavior(point) for point in _points(GROUP)}


def installed_phrases() -> Mapping[str, Phrases]:
    """The phrases of the installed behaviours by id; ConfigError for one that does not load or is invalid."""
    return {point.name: _checked_phrases(point) for point in _points(PHRASES_GROUP)}


def _points(group: str) -> Iterator[EntryPoint]:
    return iter(sorted(entry_points(group=group), key=lambda point: point.name))


def _load_behavior(point: EntryPoint) -> Behavior:
    where, loaded = f"entry point {point.name} of {GROUP}", _load_entry_point(point, GROUP)
    if not isinstance(loaded, Behavior) or loaded.id != point.name:
        found = f"the behaviour {loaded.id!r}" if isinstance(loaded, Behavior) else f"a {type(loaded).__name__}"
        raise ConfigError(where, f"{point.value} is {found}", "name the entry point after its behaviour")
    if loaded.id in BEHAVIORS:
        raise name_taken(loaded.id)
    if unknown := [slot for slot in (*loaded.slots, *loaded.optional) if slot not in SLOTS]:
        problem = f"the behaviour {loaded.id!r} asks for slots that no glossary has: {', '.join(unknown)}"
        raise ConfigError(where, problem, "use slots of the glossary")
    return loaded


def _checked_phrases(point: EntryPoint) -> Phrases:
    where, loaded = f"entry point {point.name} of {PHRASES_GROUP}", _load_entry_point(point, PHRASES_GROUP)
    if not isinstance(loaded, Phrases):
        raise ConfigError(where, f"{point.value} is a {type(loaded).__name__}", "make it point to a Phrases value")
    if not any(behavior.name == point.name for behavior in _points(GROUP)):
        problem = f"no entry point of {GROUP} has that name"
        raise ConfigError(where, problem, "name the entry point after the behaviour of the same package")
    return loaded


def _load_entry_point(point: EntryPoint, group: str) -> Any:
    where = f"entry point {point.name} of {group}"
    try:
        return point.load()
    except Exception as error:
        raise ConfigError(where, f"{point.value} does not load: {error}", "repair or uninstall the package") from error


def name_taken(name: str) -> ConfigError:
    """The error for an installed behaviour whose name is taken."""
    return ConfigError(f"entry point {name} of {GROUP}", f"a behaviour {name!r} already exists", "rename the behaviour")
