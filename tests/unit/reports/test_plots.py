"""The figures behind the plots: each count and place follows from the verdict."""

import re

import pytest

from recorded_run import adversarial_block, minimal_verdict
from sirocco.reports.html import html_page
from sirocco.reports.plots import (
    admission_funnel,
    budget_curve,
    category_rates,
    heat_map,
    pair_shares,
    unreached,
)


@pytest.fixture(scope="module")
def verdict() -> dict:
    block = adversarial_block(
        "text", {f"probe-{number}": "FAIL" if number in {1, 2, 4} else "PASS" for number in range(6)}
    )
    for number, one in enumerate(block["probe_details"]):
        one |= {"technique": "false_error" if number % 2 else "urgency", "agent_calls": 2, "delivered": number != 0}
        one |= {"archetype": "S-PI-001" if number < 4 else "S-DE-001"}
    first, second, third = block["findings"]
    # Probes 1 and 4 are one finding, so that the second meeting with it adds nothing.
    block["findings"] = [{**first, "probes": [*first["probes"], *third["probes"]]}, second]
    rate = {"run": 5, "failed": 3, "interval": [0.15, 0.95]}
    block |= {
        "generalization": {"categories": {"injection": {"core": {"scenarios": 4, "failed": 1}, "probes": rate}}},
        "pairs": {
            "asked": 4,
            "compared": 4,
            "worse": 3,
            "same": 1,
            "better": 0,
            "undecided": 0,
            "test": {"not_computed": "few"},
        },
        "coverage": {"not_covered": {"techniques": ["near_homograph"], "archetypes": ["S-BE-001"]}},
        "agent_calls": {"limit": 20, "spent": 17, "not_reached": ["shrinking"]},
    }
    listed = {"archetype": "S-BE-001", "name": "Across the boundary", "category": "boundary"}
    coverage = {"archetypes": [listed], "category_names": {"injection": "Prompt injection"},
                "evaluated_archetypes": 1, "required_archetypes": 1, "complete": True}  # fmt: skip
    return minimal_verdict(safety="PASS", adversarial_verification=block, coverage={"safety": coverage})


@pytest.mark.requirement("AV-22")
def test_the_heat_map_counts_each_archetype_by_technique(verdict):
    heat = heat_map(verdict)
    assert heat.techniques == ("false error", "urgency")
    assert {row.archetype: [(cell.run, cell.failed) for cell in row.cells] for row in heat.rows} == {
        "S-DE-001": [(1, 0), (1, 1)],
        "S-PI-001": [(2, 1), (2, 1)],
    }


@pytest.mark.requirement("SI-04")
def test_rates_have_their_interval_and_the_core_beside_them(verdict):
    (row,) = category_rates(verdict)
    assert (row.name, row.core_rate, row.rate, row.interval) == ("Prompt injection", 0.25, 0.6, (0.15, 0.95))


@pytest.mark.requirement("AV-22")
def test_the_budget_curve_rises_with_each_finding_that_is_new(verdict):
    curve = budget_curve(verdict)
    assert curve.points == ((0, 0), (4, 0), (4, 1), (6, 1), (6, 2), (12, 2))
    assert (curve.first, curve.calls, curve.findings, curve.spent) == (4, 12, 2, 17)
    assert budget_curve(minimal_verdict()) is None


@pytest.mark.requirement("AV-22")
def test_the_funnel_goes_from_drafts_to_violations_that_came_back(verdict):
    assert [(step.name, step.count) for step in admission_funnel(verdict)] == [
        ("drafted", 9), ("admitted", 6), ("run", 6), ("delivered to the agent", 6), ("safety violated", 3), ("reproduced", 3),
    ]  # fmt: skip
    assert admission_funnel(minimal_verdict()) == ()


def test_pairs_and_what_was_not_reached_are_told(verdict):
    assert [(part.name, part.count) for part in pair_shares(verdict)][:2] == [("worse", 3), ("same", 1)]
    assert pair_shares(minimal_verdict()) == ()
    missing = dict(unreached(verdict))
    assert missing["archetypes not probed"] == ("Across the boundary (S-BE-001)",)
    assert missing["techniques"] == ("near homograph",)
    assert missing["because agent calls ran out"] == ("shrinking",)


@pytest.mark.requirement("AV-22", "SI-04")
def test_every_plot_is_a_picture_with_a_description_on_the_page(verdict):
    page = html_page(verdict)
    described = re.findall(r'<svg class="plot[^>]*role="img" aria-label="([^"]+)"', page)
    assert len(described) == 6, "the heat map twice, for wide and narrow windows"
    for told in ("2 of 2 archetypes violated", "Prompt injection 60%, core 25%", "2 different findings after 12 agent calls",
                 "3 safety violated", "3 worse, 1 same"):  # fmt: skip
        assert any(told in one for one in described), told
