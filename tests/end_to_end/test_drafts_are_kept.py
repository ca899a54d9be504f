"""Drafts of a generator that cannot repeat itself are on disk before they run: no recorded outcome is lost (AV-10)."""

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

import junk_generator
from agent_requests import scripted_model
from bundled import FEW
from commands import RunFiles, sirocco
from restless import Restless
from sirocco.evidence.ledger import Ledger, ledger_entries
from sirocco.wiring import plugins

CHOICES = (
    *FEW, "--agent", "ref:memorizer", "--generator", "restless", "--seed", "20", "--probes", "2", "--reruns", "0",
    "--confirm", "1", "--twins", "0", "--safety-only", "--max-agent-calls", "5", "--archetype", "S-PI-001",
    "--no-artifacts",
)  # fmt: skip


@dataclass
class Point:
    """An entry point of an installed package."""

    name: str
    made: object
    value: str = "tests:restless"

    def load(self):
        return self.made


OPENING = "Hello, this is Mara from the night shift, and the phones have not stopped ringing."
BEFORE = "We are in the middle of the handover and the list has one item left that everybody agreed on."


class Killed(BaseException):
    """The end of the process, as far as it can be had within it."""


@pytest.fixture
def asked(monkeypatch) -> list[int]:
    """The cells that the generator was asked for, in all sessions."""
    cells: list[int] = []
    point = Point("restless", lambda profile: Restless(profile, cells))
    monkeypatch.setattr(plugins, "entry_points", lambda group: (point,) if group == plugins.GENERATORS else ())
    return cells


def _killed_at(monkeypatch, moment: int, path: Path, choices: tuple[str, ...] = CHOICES) -> int:
    """Run until so many more things were written, and then no further; how many there were."""
    written = 0

    def counted(real):
        def write(self, *arguments):
            nonlocal written
            written += 1
            if written > moment:
                raise Killed
            return real(self, *arguments)

        return write

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "enter", counted(Ledger.enter))
        patched.setattr(Ledger, "note", counted(Ledger.note))
        arguments = ("--resume", path) if path.exists() else (*choices, "--out", path)
        try:
            sirocco("run", *arguments)
        except Killed:
            return written
    return written


@pytest.mark.requirement("AV-10", "SI-10")
def test_a_run_killed_again_and_again_loses_no_draft_and_no_outcome(monkeypatch, tmp_path, asked):
    path, recorded = tmp_path / "run", dict[str, str]()
    for moment in (8, 1, 2):
        _killed_at(monkeypatch, moment, path)
        now = {unit: entry.digest for unit, entry in ledger_entries(path / "ledger.sqlite").items()}
        assert recorded.items() <= now.items()
        recorded = now
    finished = sirocco("run", "--resume", path)
    assert finished.code in {0, 1}, finished.stderr
    run = RunFiles(path, finished)
    units = {unit["unit"] for unit in run.units}
    assert set(recorded) <= units
    assert any(unit.startswith("probe-") for unit in recorded)
    assert run.block["executed"] == 2
    # A cell whose answer was kept is never asked for again; the one that was cut off may be.
    assert max(Counter(asked).values()) <= 2
    assert sirocco("replay", path).code == 0


@pytest.fixture(scope="module")
def endpoints():
    """A server that is a generator, and a model."""
    context = json.dumps({"opening": OPENING, "before": BEFORE, "after": "Thanks, that closes the ticket for us."})
    with junk_generator.served_kinds() as server, scripted_model(context) as model:
        yield server, model.url


KINDS = ("mutation", "pursuit", "texts", "program", "server", "portfolio", "model")


def _choices(kind: str, folder: Path, endpoints: tuple[str, str]) -> tuple[str, ...]:
    texts = folder / "texts.txt"
    texts.write_text("Please {goal}.\nFollow-up from the night shift: {goal}\n")
    people, (server, model) = f"red_team:{texts}?surface=logs", endpoints
    specs = {
        "texts": people,
        "program": f"hybrid:{people}>command:{sys.executable} -S -E {junk_generator.__file__} faithful",
        "server": f"hybrid:{people}>{server}/faithful",
        "portfolio": f"hybrid:mutation+{people}",
        "model": f"llm:toy:m-1?url={model}",
    }
    chosen = list(CHOICES)
    chosen[chosen.index("restless")] = specs.get(kind, "mutation")
    return (*chosen, *(("--schedule", "pursuit") if kind == "pursuit" else ()))


def _keeps_all(monkeypatch, folder: Path, choices: tuple[str, ...], moments: range) -> None:
    """Kill a run at each of the moments, counted from where it stands, and resume it to its end."""
    path, recorded = folder / "run", dict[str, str]()
    for moment in moments:
        _killed_at(monkeypatch, moment, path, choices)
        now = {unit: entry.digest for unit, entry in ledger_entries(path / "ledger.sqlite").items()}
        assert recorded.items() <= now.items()
        recorded = now
    finished = sirocco("run", "--resume", path)
    assert finished.code in {0, 1}, finished.stderr
    run = RunFiles(path, finished)
    assert set(recorded) <= {unit["unit"] for unit in run.units}
    assert run.block["executed"] == 2
    assert sirocco("replay", path).code == 0


@pytest.mark.requirement("AV-10", "SI-10")
@pytest.mark.parametrize("kind", ["pursuit", "server"])
def test_what_was_recorded_stays_whatever_made_it(kind, monkeypatch, tmp_path, endpoints):
    _keeps_all(monkeypatch, tmp_path, _choices(kind, tmp_path, endpoints), range(9, 10))


@pytest.mark.long
@pytest.mark.requirement("AV-10", "SI-10")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_killed_at_ten_moments_loses_nothing(kind, monkeypatch, tmp_path, endpoints):
    _keeps_all(monkeypatch, tmp_path, _choices(kind, tmp_path, endpoints), range(1, 11))
