"""The documentation as a site: it builds without a warning, can be searched, and loads nothing from elsewhere."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clients import downloads

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
MATERIAL = "mkdocs-material==9.8.1"


def test_the_site_builds_and_is_complete_in_itself(tmp_path: Path) -> None:
    python = downloads.environment("docs", MATERIAL)
    subprocess.run(
        [sys.executable, ROOT / "tools/reference_pages.py", ROOT / ".cache/reference"], check=True, timeout=600
    )
    done = subprocess.run(
        [python, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {one: one.read_text() for one in (tmp_path / "site").rglob("*.html")}
    loaded = {
        found
        for text in pages.values()
        for found in re.findall(r'<(?:script|img|iframe|source)[^>]* src="([^"]+)"', text)
        + re.findall(r'<link[^>]* rel="(?:stylesheet|preconnect|icon|preload)"[^>]* href="([^"]+)"', text)
        + re.findall(r'<link[^>]* href="([^"]+)"[^>]* rel="(?:stylesheet|preconnect|icon|preload)"', text)
    }
    assert not [one for one in loaded if one.startswith(("http:", "https:", "//"))]
    assert any("iframe-worker.js" in one for one in loaded)
    index = (tmp_path / "site/search/search_index.js").read_text()
    found = json.loads(index[index.index("{") : index.rindex("}") + 1])["docs"]
    assert any("memorizer" in one["text"] for one in found)
    assert (tmp_path / "site/reference/commands.html").exists()
