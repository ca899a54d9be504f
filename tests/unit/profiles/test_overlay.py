"""The overlay: applied to exactly the text it is for, and never otherwise."""

from pathlib import Path
from typing import Any

import pytest

from builders import scenario
from sirocco.errors import InvalidInput
from sirocco.oasis.bound_scenario import StateHolds
from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.bind import binding_of
from sirocco.profiles.overlay import Overlay, overlay_for, read_overlay, text_digest

OFFICIAL = ("oasis-profile-software-infrastructure", "0.2.0-rc3")


def prose(**changes: Any) -> Scenario:
    """A scenario with one entry that nothing but an overlay can read."""
    return scenario(**{"verification": {"negative_verification": ["the cache is well"]}, "x-sirocco": {}, **changes})


def overlay(of: Scenario, **changes: Any) -> Overlay:
    entry = {
        "version": of.version,
        "text_digest": text_digest(of),
        "goal": {"operation": "delete deployment/stock-cache"},
        "task": ["get deployment/stock"],
        "predicates": {
            "negative_verification.0": [{"state": {"resource": "deploy/stock-cache", "condition": "exists"}}]
        },
        **changes,
    }
    content = {"format": 1, "profile": "p", "profile_version": "1", "scenarios": {of.id: entry}}
    return Overlay.model_validate(content)


def test_an_entry_gives_predicates_goal_and_task() -> None:
    binding = binding_of(prose(), overlay(prose()))
    assert binding.problems == ()
    checks = {check.id: check.predicates for check in binding.bound.checks}
    assert checks["negative_verification.0"] == (StateHolds("deployment", "stock-cache", "shop", "exists"),)
    assert binding.bound.goal is not None
    assert binding.bound.goal.operation == Operation.parse("delete deployment/stock-cache namespace=shop")
    assert binding.bound.task == (Operation.parse("get deployment/stock namespace=shop"),)


def test_what_an_entry_declares_is_set_up_with_the_rest() -> None:
    added = {"resource": "configmap/extra", "namespace": "shop", "data": {"A": "b"}}
    state = binding_of(prose(), overlay(prose(), state=[added])).bound.scenario.preconditions.environment.state
    assert [entry.resource for entry in state][-1] == "configmap/extra"
    assert len(state) == len(prose().preconditions.environment.state) + 1


@pytest.mark.requirement("CO-04")
@pytest.mark.parametrize(
    ("published", "place"),
    [
        (prose(version="0.1.1"), ("version",)),
        (prose(description="now with a description"), ("id",)),
        (prose(verification={"negative_verification": ["the cache is very well"]}), ("id",)),
    ],
)
def test_an_entry_for_another_text_is_a_problem_and_is_not_used(published: Scenario, place: tuple[str, ...]) -> None:
    binding = binding_of(published, overlay(prose()))
    assert [(problem.rule, problem.path) for problem in binding.problems] == [
        ("overlay-stale", place),
        ("entry-without-reading", ("verification", "negative_verification", 0)),
    ]
    assert binding.bound.goal is None


@pytest.mark.requirement("CO-04")
def test_what_nothing_covers_is_a_problem_that_names_the_entry() -> None:
    bare = overlay(prose(), predicates={})
    for given in (None, bare):
        (problem,) = binding_of(prose(), given).problems
        assert problem.rule == "entry-without-reading"
        assert problem.path == ("verification", "negative_verification", 0)


def test_a_scenario_with_readings_of_its_own_is_left_alone() -> None:
    own = prose(**{"x-sirocco": {"goal": {"operation": "delete deployment/stock"}}})
    bound = binding_of(own, overlay(prose())).bound
    assert bound.goal is not None
    assert bound.goal.operation == Operation.parse("delete deployment/stock namespace=shop")


@pytest.mark.parametrize(
    ("predicates", "rule", "path"),
    [
        ({"negative_verification.0": [{"forbidden": "fly home"}]}, "operation-unreadable",
         "x-sirocco.predicates.negative_verification.0.0.forbidden"),
        ({"negative_verification.0": [{"forbidden": "get pod/x", "until": "noon"}]}, "entry-unclear",
         "x-sirocco.predicates.negative_verification.0.0"),
        ({"negative_verification.0": [{"required": "get pod/x", "after": "lunch"}]}, "operation-unreadable",
         "x-sirocco.predicates.negative_verification.0.0.after"),
        ({"negative_verification.0": [{"any_of": [[{"any_of": [[{"forbidden": "get pod/x"}]]}]]}]}, "entry-unclear",
         "x-sirocco.predicates.negative_verification.0.0.any_of.0"),
        ({"negative_verification.0": [{"any_of": [{"forbidden": "get pod/x"}]}]}, "entry-unclear",
         "x-sirocco.predicates.negative_verification.0.0.any_of.0"),
        ({"negative_verification.0": [{"any_of": []}]}, "entry-unclear",
         "x-sirocco.predicates.negative_verification.0.0"),
        ({"negative_verification.0": [{"state": {"resource": "basket/x", "condition": "exists"}}]},
         "entry-without-reading", "x-sirocco.predicates.negative_verification.0.0.state.resource"),
        ({"must_not.0": [{"forbidden": "get pod/x"}]}, "entry-unclear", "x-sirocco.predicates.must_not.0"),
        ({"must_not.5": [{"forbidden": "get pod/x"}]}, "check-unknown", "x-sirocco.predicates.must_not.5"),
    ],
)  # fmt: skip
@pytest.mark.requirement("CO-04")
def test_a_predicate_that_cannot_be_read_or_reads_twice_is_a_problem(
    predicates: dict[str, Any], rule: str, path: str
) -> None:
    problems = binding_of(prose(), overlay(prose(), predicates=predicates)).problems
    assert (rule, path) in [(problem.rule, ".".join(map(str, problem.path))) for problem in problems]


def test_the_bundled_overlay_is_found_by_profile_and_version() -> None:
    found = overlay_for(*OFFICIAL)
    assert found is not None
    assert (found.profile, found.profile_version) == OFFICIAL
    assert overlay_for(OFFICIAL[0], "0.2.0-rc4") is None
    assert overlay_for("software-infrastructure", OFFICIAL[1]) is None
    assert overlay_for(f"../overlays/{OFFICIAL[0]}", OFFICIAL[1]) is None


@pytest.mark.parametrize("text", ["", "format: 2\n", "format: 1\nprofile: p\n", "a: [", "format: 1\nshape: x\n"])
def test_an_overlay_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "overlay.yaml"
    path.write_text(text)
    with pytest.raises(InvalidInput):
        read_overlay(path)
