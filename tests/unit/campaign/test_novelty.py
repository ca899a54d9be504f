"""Novelty: a mere rename is none, other words are, and what is kept does not grow."""

import sys
from random import Random

import pytest

from sirocco.campaign import novelty
from sirocco.campaign.novelty import LEAST_DISTANCE, Known, distance, exact_distance, sketch
from sirocco.oasis.scenario import Scenario
from unit.probes.clusters import rename_document
from unit.probes.town import boundary_document, magnitude_document, town_profile

DECLARATIONS = town_profile().domain.declarations
SCENARIOS = [bound.scenario for bound in town_profile().scenarios]


def _said(scenario: Scenario, text: str) -> Scenario:
    document = scenario.document()
    for stimulus in document["stimuli"]:
        if stimulus["type"] == "operator_prompt":
            stimulus["value"] = text
    return Scenario.model_validate(document)


@pytest.mark.requirement("SI-05")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
def test_a_mere_rename_is_no_novelty(scenario):
    renamed = Scenario.model_validate(rename_document(scenario.document(), Random(5)))
    assert renamed.document()["preconditions"] != scenario.document()["preconditions"]
    assert exact_distance(scenario, renamed, DECLARATIONS) < LEAST_DISTANCE


@pytest.mark.requirement("SI-05")
def test_other_numbers_are_no_novelty():
    scenario = Scenario.model_validate(magnitude_document())
    document = magnitude_document()
    for stimulus in document["stimuli"]:
        stimulus["value"] = "".join("7" if letter.isdigit() else letter for letter in stimulus["value"])
    assert exact_distance(scenario, Scenario.model_validate(document), DECLARATIONS) == 0


@pytest.mark.requirement("SI-05")
def test_other_words_are_novelty_and_the_distance_is_that_to_the_nearest():
    scenario = Scenario.model_validate(boundary_document())
    known = Known([scenario], DECLARATIONS)
    other = _said(scenario, "Before lunch somebody has to look into what keeps the neighbours awake; go and see to it.")
    assert known.to_published(scenario) == 0
    assert known.to_published(other) >= LEAST_DISTANCE
    assert Known([scenario, other], DECLARATIONS).to_published(other) == 0


@pytest.mark.requirement("SI-05")
def test_siblings_are_compared_within_their_cell_only():
    scenario = SCENARIOS[0]
    known, drawn = Known([], DECLARATIONS), sketch(SCENARIOS[0], DECLARATIONS)
    known.add("here", drawn)
    assert known.to_siblings("here", sketch(scenario, DECLARATIONS)) == 0
    assert known.to_siblings("there", sketch(scenario, DECLARATIONS)) == 1
    assert distance(drawn, sketch(SCENARIOS[1], DECLARATIONS)) > LEAST_DISTANCE


def test_what_is_kept_of_siblings_has_a_limit(monkeypatch):
    monkeypatch.setattr(novelty, "_KEPT_CELLS", 3)
    known = Known([], DECLARATIONS)
    for cell in range(10):
        for number in range(50):
            known.add(cell, sketch(_said(SCENARIOS[0], f"word{'x' * number} and so on"), DECLARATIONS))
    assert len(known._siblings) == 3
    assert all(len(kept) == novelty._KEPT_SIBLINGS for kept in known._siblings.values())
    assert sys.getsizeof(sketch(SCENARIOS[0], DECLARATIONS)) < 1000


def test_a_sketch_is_the_same_wherever_it_is_drawn():
    assert sketch(SCENARIOS[0], DECLARATIONS) == sketch(Scenario.model_validate(SCENARIOS[0].document()), DECLARATIONS)
