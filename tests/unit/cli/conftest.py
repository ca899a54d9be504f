import shutil
from pathlib import Path

import pytest

ORCHARD = Path(__file__).parents[1] / "profiles" / "orchard"


@pytest.fixture
def orchard(tmp_path: Path) -> Path:
    """A copy of a small sound profile, to be broken."""
    return shutil.copytree(ORCHARD, tmp_path / "orchard")
