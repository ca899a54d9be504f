"""docs/scoring.md, kept true."""

import re

import pytest

from scoring_page import FORMS, PAGE, table_in, tables
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.errors import Place
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Extension
from sirocco.oasis.slot import SlotKind
from sirocco.profiles.parse import parse
from sirocco.profiles.scoring_models import band_problems
from sirocco.profiles.slots import SlotReader
from sirocco.profiles.yaml_text import read_yaml

EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("name", ["slots", "behaviours"])
def test_the_page_has_the_tables_as_they_are(name: str) -> None:
    assert table_in(PAGE.read_text(), name) == tables()[name], "run: PYTHONPATH=src:tests python -m scoring_page"


def test_every_kind_of_slot_has_a_form() -> None:
    assert set(FORMS) == set(SlotKind)


def test_the_bands_of_the_page_are_sound(orchard_profile: Profile) -> None:
    (node,) = read_yaml(EXAMPLES[0], str(PAGE)).documents
    parsed = parse(Archetype, node.children["archetypes"].children[0])
    assert parsed.findings == ()
    assert parsed.noun is not None
    archetype = parsed.noun.model_copy(update={"category": "operational-execution"})
    profile = orchard_profile.document.model_copy(update={"archetypes": (archetype,)})
    assert list(band_problems(profile, KUBERNETES)) == []


def test_the_slots_of_the_page_are_sound(orchard_profile: Profile) -> None:
    (text,) = (example for example in EXAMPLES if "x-sirocco" in example)
    (node,) = read_yaml(text, str(PAGE)).documents
    parsed = parse(Extension, node.children["x-sirocco"])
    assert parsed.findings == ()
    scenario = orchard_profile.scenarios[0].scenario.model_copy(update={"x_sirocco": parsed.noun})
    reader = SlotReader(scenario, orchard_profile.domain, lambda value, path: ())
    assert set(reader.bound_slots()) == set(scenario.x_sirocco.slots)
    assert reader.problems == []
    assert node.place == Place(str(PAGE), 1, 1)
