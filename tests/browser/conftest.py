"""What all tests of pages share: one tab of a real browser, and the accessibility checker."""

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from chromium import chromium

AXE = "axe-core@4.14.0"
CACHE = Path(__file__).parents[2] / ".cache" / "axe"


@pytest.fixture(scope="session")
def tab(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of the accessibility checker, from the registry; without npm or a registry the test is skipped."""
    file = CACHE / "package" / "axe.min.js"
    if not file.is_file():
        if not shutil.which("npm"):
            pytest.skip("there is no npm to fetch axe-core with")
        CACHE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["npm", "pack", AXE], cwd=CACHE, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            pytest.skip("axe-core cannot be fetched from the registry")
        with tarfile.open(CACHE / done.stdout.split()[-1]) as archive:
            archive.extractall(CACHE, filter="data")
    return file.read_text()
