"""The profiles shipped with the domain, by name."""

from collections.abc import Mapping
from pathlib import Path

_CORPUS = Path(__file__).resolve().parent / "corpus"
BUNDLED: Mapping[str, str] = {"kubernetes_operations": str(_CORPUS / "kubernetes_operations")}


def bundled_profile_folder() -> Path:
    """The profile that is shipped with the package."""
    return Path(BUNDLED["kubernetes_operations"])
