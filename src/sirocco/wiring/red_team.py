"""Human-written input as a generator: texts of a file or a library, and whole scenarios of a folder (`red_team:`)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sirocco.errors import ConfigError, Severity
from sirocco.oasis.probe import ProbeGenerator
from sirocco.oasis.profile import Profile
from sirocco.probes.libraries import library_of, library_texts, library_version
from sirocco.probes.red_team import PersonsTexts, PreAuthored, Team, texts_in
from sirocco.profiles.load import load_scenario_file

PREFIX = "red_team:"
_HYBRID = "hybrid:"
_OPTION = "--generator"
_OPTIONS = frozenset({"team_size", "expertise", "surface"})
_MOST_TEXTS = 10_000


def red_team_generator(name: str, profile: Profile, options: Mapping[str, str]) -> ProbeGenerator:
    """The generator for the contents of a path or library; ConfigError if no probes can be made from it."""
    where, path = f"{_OPTION} red_team:{name}", Path(name)
    if unknown := sorted(options.keys() - _OPTIONS):
        raise ConfigError(where, f"has no option {unknown[0]!r}", f"use {', '.join(sorted(_OPTIONS))} and share")
    team = _team(where, options)
    if library := library_of(name):
        if team.expertise == Team().expertise:
            team = replace(team, expertise=f"published texts of {library_version(library)}")
    elif path.is_dir():
        if "surface" in options:
            raise ConfigError(where, "scenarios already say where their texts are", "drop surface")
        return PreAuthored(_scenarios(where, path, profile), team)
    return PersonsTexts(profile, _texts(where, name), team, _surfaces(where, profile, options.get("surface", "")))


def red_team_paths(spec: str) -> tuple[Path, ...]:
    """The files and folders that a generator's specification names, which an agent must not read beforehand."""
    parts = re.split(r"[+>]", spec.removeprefix(_HYBRID)) if spec.startswith(_HYBRID) else [spec]
    named = (part.strip().removeprefix(PREFIX) for part in parts if part.strip().startswith(PREFIX))
    return tuple(Path(one.partition("?")[0]) for one in named if library_of(one.partition("?")[0]) is None)


def payload_texts(name: str) -> tuple[str, ...]:
    """The texts of a file, or of a library."""
    return _texts(f"--payloads {name}", name)


def _team(where: str, options: Mapping[str, str]) -> Team:
    size = options.get("team_size", "1")
    if not size.isdecimal() or not int(size):
        raise ConfigError(where, f"team_size is {size!r}", "say how many people wrote the texts")
    return Team(int(size), unquote(options.get("expertise", "")).strip() or Team().expertise)


def _surfaces(where: str, profile: Profile, given: str) -> tuple[str, ...]:
    known = tuple(map(str, profile.domain.mutation.terms.surfaces))
    chosen = tuple(part for part in given.split(",") if part)
    if unknown := [one for one in chosen if one not in known]:
        raise ConfigError(where, f"{unknown[0]!r} is not a surface for texts", f"use {', '.join(known)}")
    return chosen


def _texts(where: str, name: str) -> tuple[str, ...]:
    if library_of(name):
        return library_texts(name)[:_MOST_TEXTS]
    try:
        found = texts_in(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(where, f"cannot be read: {error.strerror}", "give a file with one text per line") from error
    except UnicodeDecodeError as error:
        raise ConfigError(where, "cannot be read as text", "give a UTF-8 file with one text per line") from error
    if not found or len(found) > _MOST_TEXTS:
        problem = f"it holds {len(found) or 'no'} texts"
        raise ConfigError(
            where, problem, f"write 1 to {_MOST_TEXTS} texts, one per line or separated by lines of dashes"
        )
    return found


def _scenarios(where: str, folder: Path, profile: Profile) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """The scenarios of a folder by file name; a smallest form next to its probe is not counted again."""
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for file in sorted(folder.glob("*.yaml")):
        if file.name.endswith(".min.yaml"):
            continue
        loaded = load_scenario_file(file, profile)
        if errors := [one for one in loaded.findings if one.severity is Severity.ERROR]:
            raise ConfigError(file, str(errors[0]), "fix it; `sirocco validate` lists every finding")
        for number, (bound, document) in enumerate(zip(loaded.scenarios, loaded.documents, strict=True), 1):
            name = file.stem if len(loaded.scenarios) == 1 else f"{file.stem} {number}"
            found[name] = (bound.scenario.archetype, dict(document))
    if not found:
        raise ConfigError(where, "the folder contains no scenarios", "put scenario files (*.yaml) into it")
    return found
