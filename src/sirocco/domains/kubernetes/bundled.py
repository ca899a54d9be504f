"""The profiles that come with the domain, by name."""

from pathlib import Path


def bundled_profile_folder() -> Path:
    """The profile that is shipped with the package."""
    return Path(__file__).resolve().parent / "corpus" / "kubernetes_operations"
