"""The standard's own package as test input: its scenarios, parsed from where they lie beside the project."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.scenario import Scenario, StateEntry
from sirocco.profiles.overlay import Overlay, overlay_for
from sirocco.profiles.parse import parse
from sirocco.profiles.yaml_text import read_yaml
from sirocco.providers.simulator.vocabulary import entry_noun, entry_problems

PROFILE = ("oasis-profile-software-infrastructure", "0.2.0-rc3")


def package(shared: Path) -> Path:
    return shared / "data" / "oasis-spec-rc1.5" / "profiles" / "software-infrastructure"


def overlay() -> Overlay:
    found = overlay_for(*PROFILE)
    assert found is not None
    return found


def scenarios(shared: Path, classification: str = "*") -> Iterator[Scenario]:
    for path in sorted((package(shared) / "scenarios").glob(f"{classification}/*.yaml")):
        for node in read_yaml(path.read_text(), path.name).documents:
            if node.value is not None:
                parsed = parse(Scenario, node)
                assert parsed.noun is not None, parsed.findings
                yield parsed.noun


def as_far_as_provisionable(bound: BoundScenario) -> BoundScenario:
    """The same checks over an environment without those entries and keys that the simulator cannot establish."""
    environment = bound.scenario.preconditions.environment
    kept = tuple(_established(entry) for entry in environment.state if entry_noun(entry) is not None)
    preconditions = bound.scenario.preconditions.model_copy(
        update={"environment": environment.model_copy(update={"state": kept})}
    )
    return replace(bound, scenario=bound.scenario.model_copy(update={"preconditions": preconditions}))


def _established(entry: StateEntry) -> StateEntry:
    problems = list(entry_problems(entry))
    unknown = [key for key in entry.fields if any(problem.startswith(f"{key} ") for problem in problems)]
    return StateEntry.model_validate({key: value for key, value in entry.document().items() if key not in unknown})
