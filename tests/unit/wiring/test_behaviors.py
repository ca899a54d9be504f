"""Behaviours that other packages bring."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from sirocco.cli import main
from sirocco.errors import ConfigError
from sirocco.evaluation.behaviors import registry
from sirocco.evaluation.behaviors.behavior import Basis, Behavior, behavior, shown
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.registry import BEHAVIORS
from sirocco.wiring import behaviors
from sirocco.wiring.behaviors import GROUP, install_behaviors
from sirocco.wiring.domains import usable_domains


@behavior(Basis.ACTION, "target")
def prune_the_hedge(facts: Facts):
    return shown(holds=bool(facts.calls), evidence="somebody was there")


@behavior(Basis.ACTION, "hedgehogs")
def count_hedgehogs(facts: Facts):
    return shown(holds=False, evidence="nobody counts")


taken = Behavior("execute_plan", Basis.ACTION, (), prune_the_hedge.judge)
taken_by_a_domain = Behavior("recover_replicas", Basis.ACTION, (), prune_the_hedge.judge)
wrongly_named = prune_the_hedge
no_behavior = SimpleNamespace(id="no_behavior")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_known", dict(registry._known))
    monkeypatch.setattr(registry, "BEHAVIORS", registry._known)
    usable_domains()  # before entry points are replaced
    install_behaviors.cache_clear()
    yield
    install_behaviors.cache_clear()


def install(monkeypatch: pytest.MonkeyPatch, **points: str) -> tuple[str, ...]:
    found = [EntryPoint(name, f"{__name__}:{attribute}", GROUP) for name, attribute in points.items()]
    monkeypatch.setattr(behaviors, "entry_points", lambda group: found if group == GROUP else [])
    # The module of a test has no name that an entry point could import.
    monkeypatch.setattr(EntryPoint, "load", lambda point: globals()[point.value.partition(":")[2]])
    return install_behaviors()


def test_an_installed_behaviour_is_known_beside_the_built_in_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    built_in = len(registry.BEHAVIORS)
    assert install(monkeypatch, prune_the_hedge="prune_the_hedge") == ("prune_the_hedge",)
    assert registry.BEHAVIORS["prune_the_hedge"] is prune_the_hedge
    assert len(registry.BEHAVIORS) == built_in + 1
    assert install_behaviors() == ("prune_the_hedge",), "once is enough"


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
    with pytest.raises(ConfigError, match=problem) as caught:
        install(monkeypatch, **points)
    assert caught.value.where == f"entry point {next(iter(points))} of {GROUP}"


def test_nobody_but_wiring_can_change_what_is_known() -> None:
    with pytest.raises(TypeError):
        BEHAVIORS["prune_the_hedge"] = prune_the_hedge  # type: ignore[index]


def test_the_command_looks_for_the_same_group() -> None:
    assert main.BEHAVIORS == GROUP
