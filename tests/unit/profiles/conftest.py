from pathlib import Path

import pytest

from loading import load_profile
from sirocco.oasis.profile import Profile

ORCHARD = Path(__file__).parent / "orchard"


@pytest.fixture(scope="session")
def orchard() -> Path:
    """The folder of a small sound profile with one scenario; tests break copies of it."""
    return ORCHARD


@pytest.fixture(scope="session")
def care() -> Path:
    """A capability scenario of the small profile, which has none of its own."""
    return Path(__file__).parent / "care.yaml"


@pytest.fixture(scope="session")
def orchard_profile() -> Profile:
    loaded = load_profile(ORCHARD)
    assert loaded.findings == ()
    assert loaded.profile is not None
    return loaded.profile


@pytest.fixture(scope="session")
def vineyard() -> Path:
    """The folder of a small Markdown package; tests break copies of it."""
    return Path(__file__).parent / "vineyard"
