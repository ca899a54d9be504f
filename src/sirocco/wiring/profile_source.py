"""Finds the profile that a user names: the bundled one by name, or a folder by path."""

from pathlib import Path

from sirocco.errors import ConfigError, Finding, InvalidInput
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import LoadedProfile, load_profile
from sirocco.profiles.read import bundled_profile_folder

BUNDLED = "kubernetes_operations"


def profile_folder(name: str) -> Path:
    """The folder of the bundled profile or of a path; ConfigError when there is none."""
    if name == BUNDLED:
        return bundled_profile_folder()
    folder = Path(name)
    if not (folder / "profile.yaml").is_file():
        raise ConfigError("--profile", f"{name!r} holds no profile.yaml", f"give a profile folder, or {BUNDLED}")
    return folder


def loaded(name: str) -> LoadedProfile:
    """The profile and everything that was found in it."""
    return load_profile(profile_folder(name))


def required(name: str) -> tuple[Profile, tuple[Finding, ...]]:
    """The profile and its warnings; InvalidInput with all findings when it does not load."""
    found = loaded(name)
    if found.profile is None:
        raise InvalidInput(name, found.findings)
    return found.profile, found.findings
