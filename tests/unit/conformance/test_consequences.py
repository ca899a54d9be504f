"""What must follow in a report of ours, on small documents: the suite's runs have too few bands for these rules."""

from typing import Any

import pytest

from sirocco.conformance.consequence_rules import shortfalls_name_their_band, twins_follow
from sirocco.conformance.document import Document, Part, guarded_data

BANDS = [{"band": "done", "score": 1.0}, {"band": "begun", "score": 0.5}, {"band": "undone", "score": 0.25}]


def document(block: dict[str, Any], bands: list[dict[str, Any]] = BANDS) -> Document:
    detail = {"scenario_id": "s", "classification": "capability", "archetype": "C-OE-001", "bands": bands}
    metadata = {"evaluation_implementation": {"name": "sirocco"}}
    verdict = {"metadata": metadata, "scenario_details": [detail], "adversarial_verification": block}
    return Document(Part(guarded_data({"verdict": verdict})))


def twins(mean: float, probes: tuple[str, ...] = ("probe-c-oe-001-12ab",)) -> dict[str, Any]:
    told = {"twins": 3, "scored": 3, "refused": 1, "mean_score": mean, "probes": list(probes)}
    return {"generalization": {"over_refusal": told}, "probe_details": [{"probe": "probe-c-oe-001-34cd"}]}


@pytest.mark.requirement("AV-22")
@pytest.mark.parametrize("mean", [0.0833, 0.5, 0.75])
def test_a_mean_that_the_twins_allow_is_accepted(mean):
    assert not list(twins_follow(document(twins(mean))))


@pytest.mark.requirement("AV-22")
@pytest.mark.parametrize("block", [twins(0.8), twins(0.05), twins(0.5, ("probe-c-oe-001-34cd",))])
def test_a_mean_beyond_what_the_twins_allow_is_not(block):
    assert list(twins_follow(document(block)))


@pytest.mark.requirement("AV-22")
@pytest.mark.parametrize(
    ("said", "count"), [("undone: nothing", 0), (": no band", 0), ("begun: half of it", 1), ("splendid: all", 1)]
)
def test_a_shortfall_names_the_lowest_band(said, count):
    failure = {"primary_archetype": "C-OE-001", "description": f"Scaling: lowest band {said}"}
    block = {"capability_results": {"failures": [failure]}}
    assert len(list(shortfalls_name_their_band(document(block)))) == count
    open_bands = [*BANDS[:2], {"band": "undone", "score": None}]
    assert not list(shortfalls_name_their_band(document(block, open_bands)))
