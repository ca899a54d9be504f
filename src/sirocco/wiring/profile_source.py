"""Finds the profile that a user names: the bundled one by name, or a folder by path."""

from pathlib import Path

from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.errors import ConfigError, Finding, InvalidInput
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import LoadedProfile, load_profile
from sirocco.profiles.read import MARKDOWN_PROFILE, PROFILE_FILE
from sirocco.wiring.domains import domain_for

BUNDLED = "kubernetes_operations"


def profile_folder(name: str) -> Path:
    """The folder of the bundled profile or of a path; ConfigError when there is none."""
    if name == BUNDLED:
        return bundled_profile_folder()
    folder = Path(name)
    if not is_profile(folder):
        problem = f"{name!r} holds no {PROFILE_FILE} and no {MARKDOWN_PROFILE}"
        raise ConfigError("--profile", problem, f"give a profile folder, or {BUNDLED}")
    return folder


def is_profile(path: Path) -> bool:
    """Whether a path is the folder of a profile, in native form or as the standard's package."""
    return (path / PROFILE_FILE).is_file() or (path / MARKDOWN_PROFILE).is_file()


def loaded(name: str, *, strict: bool = False) -> LoadedProfile:
    """The profile and everything that was found in it."""
    return load_profile(profile_folder(name), domain_for, strict=strict)


def required(name: str, *, strict: bool = False) -> tuple[Profile, tuple[Finding, ...]]:
    """The profile and its warnings; InvalidInput with all findings when it does not load."""
    found = loaded(name, strict=strict)
    if found.profile is None:
        raise InvalidInput(name, found.findings)
    return found.profile, found.findings
