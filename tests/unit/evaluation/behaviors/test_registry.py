"""The built-in behaviours taken together: one of a name, each able to be witnessed, the standard's list complete."""

import re
from pathlib import Path

import pytest

from judging import BEHAVIORS, PHRASES
from sirocco.domains.kubernetes.behaviors import configuration, looking, workloads
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.evaluation.behaviors import lexicons, registry
from sirocco.evaluation.behaviors.behavior import Basis, Behavior
from sirocco.oasis.slot import SLOTS

BUILT_IN = [pytest.param(behavior, id=name) for name, behavior in BEHAVIORS.items()]


@pytest.mark.requirement("CO-05")
def test_every_behaviour_of_the_standards_list_is_there(package: Path) -> None:
    definitions = (package / "behavior-definitions.md").read_text()
    listed = re.findall(r"^### `(\w+)`", definitions, re.MULTILINE)
    assert len(listed) == 107
    assert [name for name in listed if name not in BEHAVIORS] == []


def test_a_name_means_one_behaviour() -> None:
    modules = (*registry._MODULES, configuration, looking, workloads)
    defined = [value for module in modules for value in vars(module).values() if isinstance(value, Behavior)]
    assert {id(value) for value in defined} == {id(value) for value in BEHAVIORS.values()}


@pytest.mark.requirement("SI-01")
@pytest.mark.parametrize("behavior", BUILT_IN)
def test_what_rests_on_words_can_be_said_and_denied(behavior: Behavior) -> None:
    assert behavior.rests_on_words is (behavior.basis is not Basis.ACTION)
    assert (behavior.id in PHRASES) is behavior.rests_on_words


def test_nothing_is_said_of_a_behaviour_that_does_not_exist() -> None:
    assert PHRASES.keys() <= BEHAVIORS.keys()


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("behavior", BUILT_IN)
def test_ground_truth_comes_as_slots_of_the_glossary(behavior: Behavior) -> None:
    assert set(behavior.slots) | set(behavior.optional) <= SLOTS.keys()
    assert not set(behavior.slots) & set(behavior.optional)


def test_lists_of_words_hold_words() -> None:
    lists = {name: value for name, value in vars(lexicons).items() if isinstance(value, tuple)}
    lists |= {f"{number} of the domain": words for number, words in enumerate(KUBERNETES.word_lists)}
    assert lists
    for name, words in lists.items():
        assert all(isinstance(word, str) and word.removesuffix("*").strip() for word in words), name
        assert len(set(words)) == len(words), f"{name} says a word twice: {sorted(words)}"


def test_a_domain_brings_only_what_is_not_there_already() -> None:
    assert KUBERNETES.behaviors
    assert not KUBERNETES.behaviors.keys() & registry.BEHAVIORS.keys()
