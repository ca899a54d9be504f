"""Fixtures and options that all tests share."""

import atexit
import gc
import os
import shutil
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from bundled import SMALL
from remembered import SHARED
from sirocco.profiles.load import LoadedProfile
from sirocco.wiring import profile_source

ROOT = Path(__file__).resolve().parent.parent
SLOW = ROOT / "tests" / "end_to_end"
OFFICIAL_PACKAGE = "software-infrastructure"

# Generated cases must not fail on a slow machine, and must fail in the same way for everyone.
settings.register_profile(
    "default", deadline=None, derandomize=True, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", parent=settings.get_profile("default"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
IS_THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
if not IS_THOROUGH:
    # Otherwise, generated cases would depend on the modules that a worker has loaded, and it would parse all of them.
    providers._get_local_constants = lambda: providers._local_constants

# As the command does: looking for cycles every 700 objects takes a tenth of the time.
gc.set_threshold(50_000, 20, 10)


if SHARED not in os.environ:
    os.environ[SHARED] = _made_here = tempfile.mkdtemp(prefix="sirocco-tests-")
    atexit.register(shutil.rmtree, _made_here, ignore_errors=True)
# Runs are signed by the same key in every worker, and not by a key of the user who runs the tests.
os.environ["XDG_CONFIG_HOME"] = os.environ[SHARED]


# The profiles that never change, each read once per process, because reading would take most of a command's time.
_STEADY = frozenset({profile_source.profile_folder(profile_source.BUNDLED), Path(SMALL[1])})
_load_profile = profile_source.load_profile
_load_once = cache(_load_profile)


def _load_steady_once(path: Path, *arguments: Any, strict: bool = False) -> LoadedProfile:
    load = _load_once if path in _STEADY and not strict else _load_profile
    return load(path, *arguments, strict=strict)


profile_source.load_profile = _load_steady_once


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--requirement", action="append", default=[], help="only tests that show this requirement id")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = set(config.getoption("--requirement"))
    shown = [item for item in items if not wanted or wanted & _requirements(item)]
    if not IS_THOROUGH:
        shown = [item for item in shown if item.get_closest_marker("long") is None]
    if len(shown) < len(items):
        kept = set(shown)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = shown
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1:
        items[:] = _dealt(items, workers)


def _dealt(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """The tests, ordered so that each worker begins its equal share with its part of the slow modules.

    A worker that is done takes over the last tests of another, so no worker should end with a slow one.
    """
    modules: dict[Path, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    slow = [module for path, module in modules.items() if path.is_relative_to(SLOW)]
    rest = [item for path, module in modules.items() if not path.is_relative_to(SLOW) for item in module]
    dealt: list[pytest.Item] = []
    for number in range(workers):
        first = [item for module in slow[number::workers] for item in module]
        room = max(0, (len(items) - len(dealt)) // (workers - number) - len(first))
        dealt += [*first, *rest[:room]]
        del rest[:room]
    return [*dealt, *rest]


def pytest_collection_finish() -> None:
    """Freeze the collected tests: there are thousands, all permanent, which the garbage collector need not look at."""
    gc.collect()
    gc.freeze()


def _requirements(item: pytest.Item) -> set[str]:
    return {name for marker in item.iter_markers("requirement") for name in marker.args}


@pytest.fixture(scope="session")
def recordings() -> Path:
    """The recorded answers of a real kube-apiserver, and the tool that compares another server with them."""
    return ROOT / "tests" / "data" / "kube-apiserver"


@pytest.fixture(scope="session")
def package() -> Path:
    """The standard's own profile package, which is third-party text and therefore not part of the project."""
    given = os.environ.get("SIROCCO_OFFICIAL", "")
    place = Path(given) if given else ROOT.parent / "shared" / "data" / "oasis-spec-rc1.5"
    for folder in (place / "profiles" / OFFICIAL_PACKAGE, place / OFFICIAL_PACKAGE, place):
        if (folder / "profile.md").is_file():
            return folder
    problem = f"the standard's profile package is not in {place}"
    if given or os.environ.get("SIROCCO_REQUIRE_OFFICIAL"):
        pytest.fail(problem)
    pytest.skip(
        f"{problem}; set SIROCCO_OFFICIAL to a checkout of the standard's repository, or to its profiles folder"
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line on what this machine lacks, so that nothing is skipped silently, and a line on what clients did."""
    calls: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", ()):
        for name, value in report.user_properties:
            if name == "real client":
                client, number = value.split()
                calls[client] += int(number)
    if calls:
        each = ", ".join(f"{client} {number}" for client, number in sorted(calls.items()))
        terminalreporter.write_line(f"calls of real clients that did what they are there for: {each}")
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple)
    )
    if reasons:
        told = "; ".join(f"{count} because {reason}" for reason, count in reasons.most_common())
        terminalreporter.write_line(f"not run here: {told}", yellow=True)
