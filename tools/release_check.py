"""What of docs/release.md a program can check: versions, changelog, lock, sources and wheel, the installed command.

Prints a line for each check and ends with 1 when one fails. `make release-check` runs it.
"""

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version_problem() -> str:
    """The version is the same everywhere, and the changelog has a date for it."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    code = (ROOT / "src/sirocco/__init__.py").read_text(encoding="utf-8")
    if f'__version__ = "{declared}"' not in code:
        return f"src/sirocco/__init__.py does not say {declared}"
    heading = rf"^## \[?{re.escape(declared)}\]?.*\d{{4}}-\d{{2}}-\d{{2}}"
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return "" if re.search(heading, changelog, re.MULTILINE) else f"CHANGELOG.md has no dated heading for {declared}"


def tree_problem() -> str:
    """Nothing is uncommitted."""
    changed = _output("git", "status", "--porcelain")
    return f"uncommitted: {changed.splitlines()[0]}" if changed else ""


def build_problem() -> str:
    """Two builds of the commit give the same bytes, with everything that belongs into them."""
    digests = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            time = _output("git", "log", "-1", "--format=%ct")
            _output(sys.executable, "-m", "hatchling", "build", "-d", folder, SOURCE_DATE_EPOCH=time)
            files = sorted(Path(folder).iterdir())
            digests.append([(one.name, hashlib.sha256(one.read_bytes()).hexdigest()) for one in files])
            names = set().union(*(_names(one) for one in files))
    if digests[0] != digests[1]:
        return f"two builds differ: {digests}"
    wanted = ("sirocco/py.typed", "kubesim/py.typed", "sirocco/cli/scaffold/sirocco.yaml", "LICENSE")
    missing = [one for one in wanted if not any(name.endswith(one) for name in names)]
    return f"missing from the build: {', '.join(missing)}" if missing else ""


def pictures_problem() -> str:
    """The pictures that the pages show are there."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = ((page, name) for page in pages for name in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text("utf-8")))
    missing = [name for page, name in shown if not (page.parent / name).exists()]
    return f"missing: {', '.join(missing)}" if missing else ""


def _names(file: Path) -> set[str]:
    if file.suffix == ".whl":
        return set(zipfile.ZipFile(file).namelist())
    with tarfile.open(file) as archive:
        return set(archive.getnames())


def _output(*command: str, **variables: str) -> str:
    done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=True)
    return done.stdout.strip()


CHECKS: tuple[Callable[[], str], ...] = (version_problem, tree_problem, build_problem, pictures_problem)


def problems() -> Iterator[str]:
    """What is wrong, a line for each check as it ends."""
    for check in CHECKS:
        said = (check.__doc__ or "").strip()
        problem = check()
        sys.stdout.write(f"{'failed' if problem else 'passed'}  {said}{f' {problem}' if problem else ''}\n")
        if problem:
            yield problem


if __name__ == "__main__":
    sys.exit(1 if list(problems()) else 0)
