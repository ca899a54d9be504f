"""The scenarios of a run: all of a profile, a suite, a selection, and the user's custom ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from sirocco.errors import ConfigError, InvalidInput, Severity
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import digest
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import load_scenario_file, load_suite
from sirocco.profiles.spelling import spelling_remedy
from sirocco.wiring.config import RunConfig

_NEAREST = 3
_SUFFIXES = {".yaml", ".yml"}


@dataclass(frozen=True, slots=True)
class Selection:
    """The scenarios in order, which of them are not the profile's, and what makes the evaluation partial."""

    scenarios: tuple[BoundScenario, ...]
    custom: tuple[BoundScenario, ...]
    filters: Mapping[str, object]
    from_files: bool = False

    @property
    def digest(self) -> str:
        """The content of a suite and of files with custom scenarios; empty if there are none."""
        if not self.from_files:
            return ""
        ids = [bound.scenario.id for bound in self.scenarios]
        return digest({"scenarios": ids, "custom": [bound.scenario.document() for bound in self.custom]})


def selection(profile: Profile, config: RunConfig) -> Selection:
    """The scenarios that `config` chooses; ConfigError if there are none, InvalidInput for files that do not load."""
    listed = _listed_scenarios(profile, config)
    _require_known(config, profile.scenarios)
    chosen = tuple(bound for bound in listed if _is_chosen(bound, config))
    custom = _custom_scenarios(profile, config)
    if not chosen and not custom:
        raise ConfigError("--scenario", "no scenario matches", _nearest_ids(config, listed))
    from_files = config.suite is not None or bool(config.custom)
    return Selection(chosen, custom, _filters(profile, config, listed), from_files)


def _nearest_ids(config: RunConfig, listed: Iterable[BoundScenario]) -> str:
    """The ids most similar to the requested one, and where all of them are listed."""
    ids = [bound.scenario.id for bound in listed]
    wanted = (glob.strip("*") for glob in config.scenarios)
    near = dict.fromkeys(name for glob in wanted for name in get_close_matches(glob, ids, _NEAREST, cutoff=0.0))
    named = f"nearest: {', '.join(list(near)[:_NEAREST])}; " if near else ""
    return f"{named}`sirocco profile show` lists all"


def _listed_scenarios(profile: Profile, config: RunConfig) -> tuple[BoundScenario, ...]:
    """The scenarios of the suite in its order, or all."""
    if config.suite is None:
        return profile.scenarios
    loaded = load_suite(config.suite, profile, strict=config.strict)
    if loaded.suite is None:
        raise InvalidInput(config.suite, loaded.findings)
    by_id = {bound.scenario.id: bound for bound in profile.scenarios}
    return tuple(by_id[name] for name in loaded.suite.scenarios)


def _require_known(config: RunConfig, scenarios: Iterable[BoundScenario]) -> None:
    known = sorted({bound.scenario.category for bound in scenarios})
    if unknown := [category for category in config.categories if category not in known]:
        problem = f"no scenario has category {unknown[0]!r}"
        raise ConfigError("--category", problem, spelling_remedy(unknown[0], known))


def _is_chosen(bound: BoundScenario, config: RunConfig) -> bool:
    scenario = bound.scenario
    return (
        (not config.safety_only or scenario.classification is Classification.SAFETY)
        and (not config.categories or scenario.category in config.categories)
        and (not config.scenarios or any(fnmatchcase(scenario.id, glob) for glob in config.scenarios))
    )


def _filters(profile: Profile, config: RunConfig, listed: tuple[BoundScenario, ...]) -> dict[str, object]:
    """What makes the evaluation partial; a filtered run is labelled incomplete (CO-11).

    A suite that leaves nothing out does not make the evaluation partial.
    """
    is_partial = config.suite is not None and len(listed) < len(profile.scenarios)
    filters: dict[str, object] = {
        "suite": config.suite.name if config.suite is not None and is_partial else "",
        "safety_only": config.safety_only,
        "categories": list(config.categories),
        "scenarios": list(config.scenarios),
    }
    return {name: value for name, value in filters.items() if value}


def _custom_scenarios(profile: Profile, config: RunConfig) -> tuple[BoundScenario, ...]:
    """Scenarios in the user's files; each must have a unique name."""
    taken = {bound.scenario.id for bound in profile.scenarios}
    found: list[BoundScenario] = []
    for path in (file for given in config.custom for file in _files(given)):
        loaded = load_scenario_file(path, profile, strict=config.strict)
        if any(finding.severity is Severity.ERROR for finding in loaded.findings):
            raise InvalidInput(path, loaded.findings)
        for bound in loaded.scenarios:
            if bound.scenario.id in taken:
                problem = f"the id {bound.scenario.id!r} is taken"
                raise ConfigError(path, problem, "give the custom scenario a unique id")
            taken.add(bound.scenario.id)
            found.append(bound)
    return tuple(
        bound for bound in found if not config.safety_only or bound.scenario.classification is Classification.SAFETY
    )


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.suffix in _SUFFIXES and file.is_file())
    if not files:
        raise ConfigError(path, "it contains no YAML file", "name a file or a folder of scenarios")
    return files
