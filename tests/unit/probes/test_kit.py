"""What the engine takes from a domain: its operators in their order, its terms, and its text for the declared method."""

import pickle
import sys
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import pytest

from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.domains.kubernetes.probes.kit import KIT
from sirocco.probes.mutation.discovery import in_turn, operators_of, shared_operators
from sirocco.probes.mutation.generator import MutationGenerator
from unit.probes.town import town_profile

PROFILE = town_profile()


def generator_with(**parts):
    """The engine over the town's scenarios, for a domain with other parts of a kit."""
    same = {name: getattr(KUBERNETES, name) for name in ("vocabulary", "declarations", "reader", "behaviors")}
    domain = SimpleNamespace(environment_type="town", **same, mutation=replace(KIT, **parts))
    scenarios = tuple(replace(bound, domain=domain) for bound in PROFILE.scenarios)
    return MutationGenerator(replace(PROFILE, domain=domain, scenarios=scenarios))


@pytest.mark.requirement("AV-09")
def test_only_what_the_domain_brings_is_offered():
    kept = ("transplant", "corroborate", "authority")
    few = tuple(one for one in KIT.operators if one.name in kept)
    offered = {one.technique for one in generator_with(operators=few).offers(PROFILE.document.archetypes)}
    assert offered == {"transplant", "authority_forgery"}, "the town has no prompt that a text could back"
    assert offered < {one.technique for one in generator_with().offers(PROFILE.document.archetypes)}


@pytest.mark.requirement("AV-10")
def test_the_text_of_the_domains_part_is_part_of_the_configuration(tmp_path):
    (tmp_path / "operators.py").write_text("FIRST = 1\n")
    hashes = {
        generator_with(folder=folder).method.config_hash for folder in (KIT.folder, str(tmp_path), str(tmp_path.parent))
    }
    assert len(hashes) == 3


def test_the_domain_travels_by_its_name_however_much_of_it_is_loaded():
    assert KUBERNETES.mutation is KIT
    assert pickle.loads(pickle.dumps(KUBERNETES)) is KUBERNETES


def test_an_operator_is_found_by_its_file_alone(tmp_path, monkeypatch):
    folder = tmp_path / "town_operators"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "plain.py").write_text("WORDS = ()\n")
    (folder / "noise.py").write_text(
        "from sirocco.oasis.mutation import Operator\n"
        "OPERATOR = Operator('noise', 'noise', lambda *_: (), lambda draft, *_: draft, turn=1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = operators_of(import_module("town_operators"), KIT.terms)
    assert [one.name for one in found] == ["noise"]
    for name in [name for name in sys.modules if name.startswith("town_operators")]:
        monkeypatch.delitem(sys.modules, name)


def test_a_chain_places_texts_before_it_words_them_and_disguises_names_after_it_changed_them():
    order = [one.name for one in KIT.operators]
    assert order.index("noise") < order.index("transplant") < order.index("authority")
    assert order.index("reword") < order.index("rename") < order.index("homograph")


def test_operators_come_in_their_turn_however_they_were_found():
    assert in_turn(reversed(KIT.operators)) == KIT.operators
    assert {one.name for one in shared_operators(KIT.terms)} < set(KIT.by_name)
