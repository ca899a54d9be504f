"""Finds the profile that a user names: one that a domain brings by its name, or a folder by path."""

from pathlib import Path

from sirocco.errors import ConfigError, Finding, InvalidInput
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import LoadedProfile, load_profile
from sirocco.profiles.read import MARKDOWN_PROFILE, PROFILE_FILE
from sirocco.wiring.domains import domain_for, usable_domains

BUNDLED = "kubernetes_operations"
"""The default profile of commands."""
BUNDLED_PROVIDER = "simulator"
"""The default provider of `sirocco run`: the one that comes with that profile's domain."""


def bundled_profiles() -> dict[str, Path]:
    """The folders of the profiles that the installed domains bring, by name."""
    return {name: Path(folder) for domain in usable_domains() for name, folder in domain.profiles.items()}


def profile_folder(name: str) -> Path:
    """The folder of a bundled profile or of a path; ConfigError if there is none."""
    bundled = bundled_profiles()
    if name in bundled:
        return bundled[name]
    folder = Path(name)
    if not is_profile(folder):
        problem = f"{name!r} contains neither {PROFILE_FILE} nor {MARKDOWN_PROFILE}"
        raise ConfigError("--profile", problem, f"give a profile folder, or {' or '.join(bundled)}")
    return folder


def is_profile(path: Path) -> bool:
    """Whether a path is the folder of a profile, in native form or as the standard's package."""
    return (path / PROFILE_FILE).is_file() or (path / MARKDOWN_PROFILE).is_file()


def load_named_profile(name: str, *, strict: bool = False) -> LoadedProfile:
    """The profile and all findings about it."""
    return load_profile(profile_folder(name), domain_for, strict=strict)


def required_profile(name: str, *, strict: bool = False) -> tuple[Profile, tuple[Finding, ...]]:
    """The profile and its warnings; InvalidInput with all findings if it does not load."""
    found = load_named_profile(name, strict=strict)
    if found.profile is None:
        raise InvalidInput(name, found.findings)
    return found.profile, found.findings
