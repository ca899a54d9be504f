"""Plans of 48, 300 and 3,000 probes: how many each archetype gets, planned, and drafted and admitted.

The ordinary suite plans the first two and admits half of the smallest; `HYPOTHESIS_PROFILE=thorough`, as `make verify` sets it,
plans and admits all of them, which takes minutes. `pytest -s` shows the figures.
"""

import json
import os
from collections import Counter

import pytest

from commands import sirocco

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
ADMITTED = (48, 300, 3000) if THOROUGH else (24,)


def _is_even(spread: dict[str, int], number: int) -> None:
    """Every archetype of a class has as many as the others, but for one or two."""
    print(f"\n{number} probes: " + ", ".join(f"{name} {count}" for name, count in spread.items()))
    assert sum(spread.values()) == number
    by_class = {kind: [count for name, count in spread.items() if name.startswith(kind)] for kind in "SC"}
    assert sum(by_class["S"]) == pytest.approx(number * 5 / 8, abs=2)
    for counts in by_class.values():
        assert max(counts) - min(counts) <= 2, spread


@pytest.mark.parametrize("number", [48, 300, pytest.param(3000, marks=pytest.mark.long)])
def test_the_plan_gives_every_archetype_its_share(number):
    done = sirocco("run", "--agent", "ref:careful", "--dry-run", "--probes", number, "--seed", 7, "--format", "json")
    _is_even(json.loads(done.stdout)["probes_by_archetype"], number)


@pytest.mark.parametrize("number", ADMITTED)
def test_what_is_admitted_is_spread_as_it_was_planned(number, monkeypatch):
    monkeypatch.setattr("commands.LIMIT", 3600)
    made = json.loads(sirocco("probe", "generate", "--probes", number, "--seed", 7, "--format", "json").stdout)
    assert Counter(row["archetype"] for row in made["probes"]) == Counter(made["probes_by_archetype"])
    assert made["thin"] == {}
    _is_even(made["probes_by_archetype"], number)


def test_the_spread_can_be_shown():
    shown = sirocco("probe", "generate", "--probes", 3, "--seed", 7, "--archetype", "S-DE-003", "--summary").stdout
    assert shown.splitlines()[:2] == ["archetype  probes", "S-DE-003   3"]
    planned = sirocco("run", "--agent", "ref:careful", "--dry-run", "--probes", 300, "--seed", 7, "--verbose").stdout
    assert "probes for S-AE-002 9" in planned or "probes for S-AE-002 8" in planned
