"""Every declared entry of every scenario is in the environment: compared key by key, as a client reads it (CO-15)."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from builders import PROFILE_ID, TIME
from corpus.official import overlay, scenarios
from corpus.reading import CHECKS, Reader, established
from loading import load_profile
from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.domains.kubernetes.simulator.vocabulary import entry_noun
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.scenario import Scenario, StateEntry

PROVIDER = SimulatorProvider({PROFILE_ID: "0.1.0"}, lambda: TIME)


@pytest.fixture(scope="session")
def official(package: Path) -> tuple[Scenario, ...]:
    return tuple(overlay().applied_to(scenario).scenario for scenario in scenarios(package))


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


def not_established(runner: asyncio.Runner, scenario: Scenario) -> list[str]:
    """The declared keys of a scenario that cannot be read back from its environment."""
    request = ProvisionRequest(scenario.preconditions, scenario.tier, 11, scenario.x_sirocco.reactions)
    block = PROVIDER.provision(request)
    environment = runner.run(block.__aenter__())
    try:
        reader = Reader(runner, environment, scenario.preconditions, environment.now)
        return [
            f"{scenario.id}: {entry.resource} {key}: {entry.fields.get(key)!r}"
            for entry in scenario.preconditions.environment.state
            for key, is_there in established(reader, entry)
            if not is_there
        ]
    finally:
        runner.run(block.__aexit__(None, None, None))


@pytest.mark.requirement("CO-15")
def test_all_fifty_official_scenarios_can_be_established(official: tuple[Scenario, ...]) -> None:
    assert len(official) == 50
    assert {
        scenario.id: PROVIDER.unsupported_demands(scenario)
        for scenario in official
        if PROVIDER.unsupported_demands(scenario)
    } == {}


@pytest.mark.requirement("CO-15")
def test_every_declared_key_of_the_official_scenarios_is_read_back(
    runner: asyncio.Runner, official: tuple[Scenario, ...]
) -> None:
    assert [problem for scenario in official for problem in not_established(runner, scenario)] == []


@pytest.mark.requirement("CO-15")
def test_every_declared_key_of_the_bundled_scenarios_is_read_back(runner: asyncio.Runner) -> None:
    profile = load_profile(bundled_profile_folder()).profile
    assert profile is not None
    bundled = [bound.scenario for bound in profile.scenarios]
    assert bundled
    assert [problem for scenario in bundled for problem in not_established(runner, scenario)] == []


def test_all_sixty_eight_patterns_of_the_corpus_have_a_way_to_be_read_back(package: Path) -> None:
    declared = [entry for scenario in scenarios(package) for entry in scenario.preconditions.environment.state]
    patterns = {(entry.kind, frozenset(entry.document().keys() - {"resource"})) for entry in declared}
    assert len(patterns) == 68
    unread = {
        (noun, key)
        for kind, keys in patterns
        for key in keys
        if (noun := entry_noun(StateEntry(resource=f"{kind}/x"))) != "metrics"
        and key != "namespace"
        and (noun, key) not in CHECKS
    }
    assert unread == set()


DEFAULTS = {
    ("deployment", "status", "running"), ("deployment", "affinity", "none"), ("deployment", "pdb", "none"),
    ("deployment", "hpa", "none"), ("deployment", "replicas", "1"), ("deployment", "labels", "{'app': 'web-app'}"),
    ("deployment", "update_strategy", "RollingUpdate"), ("deployment", "restarts", "5"), ("pod", "status", "running"),
    ("pod", "node", "node-1"),
    ("secret", "type", "Opaque"), ("service", "selector", "{'app': 'api-gateway'}"),
    ("service", "selector", "{'app': 'web-app'}"), ("pvc", "bound", "True"), ("ingress", "backend", "api-gateway"),
    ("node", "conditions", "[{'type': 'DiskPressure', 'status': 'False'}]"), ("node", "memory_pressure", "False"),
    ("gitops-application", "sync_status", "synced"), ("gitops-application", "source_path", "apps/api-service"),
    # Told by another key of the same scenario as well: the failing init container, the size that is aimed at, the
    # workload that does not serve.
    ("deployment", "status", "CrashLoopBackOff"), ("hpa", "current_status", "scaling_in_progress"),
    ("service", "endpoints", "[]"),
    # It shows only when its operation was carried out: tests/unit/providers/test_simulator_reactions.py.
    ("deployment", "injected_failure", "image-pull-backoff-on-restart"),
}  # fmt: skip
"""What an environment has anyway, so that it cannot be told whether it was established."""


@pytest.mark.requirement("CO-15")
def test_a_key_that_is_not_established_is_noticed(runner: asyncio.Runner, official: tuple[Scenario, ...]) -> None:
    """The comparison itself: an environment in which one key was dropped does not pass for the declared one."""
    unnoticed = set()
    for scenario in official:
        state = scenario.preconditions.environment.state
        for number, entry in enumerate(state):
            for key in entry.fields:
                lacking = _without(scenario, number, key)
                if PROVIDER.unsupported_demands(lacking) == () and _passes(runner, lacking, scenario, entry, key):
                    unnoticed.add((entry.kind, key, str(entry.fields[key])))
    assert sorted(unnoticed - DEFAULTS) == []


def _without(scenario: Scenario, number: int, key: str) -> Scenario:
    document = scenario.document()
    del document["preconditions"]["environment"]["state"][number][key]
    return Scenario.model_validate(document)


def _passes(runner: asyncio.Runner, lacking: Scenario, scenario: Scenario, entry: StateEntry, key: str) -> bool:
    block = PROVIDER.provision(ProvisionRequest(lacking.preconditions, 1, 11))
    environment = runner.run(block.__aenter__())
    try:
        reader = Reader(runner, environment, scenario.preconditions, environment.now)
        return dict(established(reader, entry))[key]
    except (AssertionError, LookupError, StopIteration, TypeError, ValueError):
        return False
    finally:
        runner.run(block.__aexit__(None, None, None))
