"""Behaviours that other packages bring."""

import pickle
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from sirocco.agents.phrases import phrases_for
from sirocco.cli import main
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.errors import ConfigError
from sirocco.evaluation.behaviors.behavior import Basis, Behavior, behavior, whole_judgement
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.registry import BEHAVIORS, behaviors_for
from sirocco.oasis.domain import Domain
from sirocco.oasis.phrases import Phrases
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.wiring import behaviors
from sirocco.wiring.behaviors import GROUP, PHRASES_GROUP
from sirocco.wiring.domains import check_behaviors, domain_for
from unit.probes.town import town_profile

CLUSTERS = KUBERNETES.environment_type


@behavior(Basis.ACTION, "target")
def prune_the_hedge(facts: Facts):
    return whole_judgement(holds=bool(facts.calls), evidence="somebody was there")


@behavior(Basis.WORDS)
def praise_the_hedge(facts: Facts):
    return whole_judgement(holds="fine hedge" in facts.answer, evidence="")


@behavior(Basis.ACTION, "hedgehogs")
def count_hedgehogs(facts: Facts):
    return whole_judgement(holds=False, evidence="nobody counts")


def praise(_: object) -> tuple[str, str, str]:
    return ("A fine hedge.", "What a fine hedge!", "It is a fine hedge.")


def blame(_: object) -> str:
    return "A poor hedge."


praises = Phrases(praise, blame)
taken = Behavior("execute_plan", Basis.ACTION, (), prune_the_hedge.judge)
taken_by_a_domain = Behavior("recover_replicas", Basis.ACTION, (), prune_the_hedge.judge)
wrongly_named = prune_the_hedge
no_behavior = SimpleNamespace(id="no_behavior")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    domain_for.cache_clear()
    yield
    domain_for.cache_clear()


def install(monkeypatch: pytest.MonkeyPatch, said: dict[str, str] | None = None, **points: str) -> None:
    named = {GROUP: points, PHRASES_GROUP: said or {}}
    found = {
        group: [EntryPoint(name, f"{__name__}:{attribute}", group) for name, attribute in held.items()]
        for group, held in named.items()
    }
    monkeypatch.setattr(behaviors, "entry_points", lambda group: found[group])
    # The module of a test has no name that an entry point could import.
    load = EntryPoint.load
    own = lambda point: globals()[point.value.partition(":")[2]] if point.group in named else load(point)  # noqa: E731
    monkeypatch.setattr(EntryPoint, "load", own)


def extended(monkeypatch: pytest.MonkeyPatch) -> Domain:
    install(
        monkeypatch, {"praise_the_hedge": "praises"}, **{name: name for name in ("prune_the_hedge", "praise_the_hedge")}
    )
    check_behaviors()
    return domain_for(CLUSTERS)


def test_without_one_a_domain_is_as_its_package_brings_it() -> None:
    assert domain_for(CLUSTERS) is KUBERNETES


def test_an_installed_behaviour_is_known_beside_the_built_in_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    domain, before = extended(monkeypatch), behaviors_for(KUBERNETES)
    assert behaviors_for(domain) == {
        **before, "prune_the_hedge": prune_the_hedge, "praise_the_hedge": praise_the_hedge
    }  # fmt: skip
    assert behaviors_for(KUBERNETES) == before, "nothing global has changed"
    spoken = MutationGenerator(replace(town_profile(), domain=domain))._composer.spoken
    assert "praise_the_hedge" in spoken
    assert "prune_the_hedge" not in spoken
    assert domain.vocabulary is KUBERNETES.vocabulary


def test_witnesses_know_what_to_say_of_one_that_rests_on_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert phrases_for(extended(monkeypatch)) == {**phrases_for(KUBERNETES), "praise_the_hedge": praises}


def test_a_domain_with_further_behaviours_is_the_same_one_after_packing(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = extended(monkeypatch)
    assert pickle.loads(pickle.dumps(domain)) is domain


@pytest.mark.parametrize(
    ("points", "problem"),
    [
        ({"execute_plan": "taken"}, "already"),
        ({"recover_replicas": "taken_by_a_domain"}, "already"),
        ({"hedge": "wrongly_named"}, "prune_the_hedge"),
        ({"no_behavior": "no_behavior"}, "a SimpleNamespace"),
        ({"count_hedgehogs": "count_hedgehogs"}, "hedgehogs"),
        ({"gone": "gone"}, "does not load"),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_the_entry_point(
    monkeypatch: pytest.MonkeyPatch, points: dict[str, str], problem: str
) -> None:
    install(monkeypatch, **points)
    with pytest.raises(ConfigError, match=problem) as caught:
        check_behaviors()
    assert caught.value.where == f"entry point {next(iter(points))} of {GROUP}"


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"prune_the_hedge": "no_behavior"}, "a SimpleNamespace"),
        ({"prune_the_hedge": "gone"}, "does not load"),
        ({"trim_the_hedge": "praises"}, "no entry point of sirocco.behaviors"),
    ],
)
def test_so_are_phrases_that_do_not_fit(monkeypatch: pytest.MonkeyPatch, said: dict[str, str], problem: str) -> None:
    install(monkeypatch, said, prune_the_hedge="prune_the_hedge")
    with pytest.raises(ConfigError, match=problem) as caught:
        check_behaviors()
    assert caught.value.where == f"entry point {next(iter(said))} of {PHRASES_GROUP}"


def test_what_is_built_in_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        BEHAVIORS["prune_the_hedge"] = prune_the_hedge  # type: ignore[index]


def test_the_command_looks_for_the_same_group() -> None:
    assert main.BEHAVIORS == GROUP
