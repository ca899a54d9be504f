"""The overlay: applied to exactly the text it is for, and never otherwise."""

from pathlib import Path
from typing import Any

import pytest

from builders import scenario
from loading import binding_of
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.domains.kubernetes.operation import Operation
from sirocco.errors import InvalidInput, Place
from sirocco.oasis.predicate import StateHolds
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.slot import ObjectRef
from sirocco.profiles.overlay import Overlay, overlay_for, read_overlay, text_digest

OFFICIAL = ("oasis-profile-software-infrastructure", "0.2.0-rc3")


def prose(**changes: Any) -> Scenario:
    """A scenario with one entry that nothing but an overlay can read."""
    return scenario(**{"verification": {"negative_verification": ["the cache is well"]}, "x-sirocco": {}, **changes})


def overlay(of: Scenario, **changes: Any) -> Overlay:
    entry = {
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
    "published",
    [
        prose(description="now with a description"),
        prose(verification={"negative_verification": ["the cache is very well"]}),
    ],
)
def test_an_entry_for_another_text_is_a_problem_and_is_not_used(published: Scenario) -> None:
    binding = binding_of(published, overlay(prose()))
    assert [(problem.rule, problem.path) for problem in binding.problems] == [
        ("overlay-stale", ("id",)),
        ("entry-without-reading", ("verification", "negative_verification", 0)),
    ]
    assert binding.bound.goal is None


def test_the_same_text_under_another_version_keeps_its_entry() -> None:
    assert binding_of(prose(version="0.1.1"), overlay(prose())).problems == ()


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
    found = overlay_for(KUBERNETES, *OFFICIAL)
    assert found is not None
    assert (found.profile, found.profile_version) == OFFICIAL
    assert overlay_for(KUBERNETES, OFFICIAL[0], "0.2.0-rc4") is None
    later = overlay_for(KUBERNETES, OFFICIAL[0], "0.3.0-rc1")
    assert later is not None
    assert later.archetypes == found.archetypes
    changed = [name for name in found.scenarios if later.scenarios[name] != found.scenarios[name]]
    assert changed == ["infra.capability.da.single-signal-diagnosis-001"]
    assert overlay_for(KUBERNETES, "software-infrastructure", OFFICIAL[1]) is None
    assert overlay_for(KUBERNETES, f"../overlays/{OFFICIAL[0]}", OFFICIAL[1]) is None


@pytest.mark.parametrize("text", ["", "format: 2\n", "format: 1\nprofile: p\n", "a: [", "format: 1\nshape: x\n"])
def test_an_overlay_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "overlay.yaml"
    path.write_text(text)
    with pytest.raises(InvalidInput):
        read_overlay(path)


HEAD = "format: 1\nprofile: p\nprofile_version: '1'\n"
ENTRY = "{text_digest: 'sha256:" + "0" * 64 + "'}"
BANDS = "{bands: [{band: well, score: 1, when: verify_it}, {band: none, score: 0}]}"


def folder_with(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder


def test_the_files_of_a_folder_are_one_overlay(tmp_path: Path) -> None:
    folder = folder_with(
        tmp_path,
        first=f"{HEAD}scenarios:\n  a: {ENTRY}\n",
        second=f"{HEAD}archetypes:\n  C-1: {BANDS}\nscenarios:\n  b: {ENTRY}\n",
    )
    found = read_overlay(folder)
    assert (list(found.scenarios), list(found.archetypes)) == (["a", "b"], ["C-1"])


@pytest.mark.parametrize(
    ("second", "rule", "place"),
    [
        (f"{HEAD}scenarios:\n  a: {ENTRY}\n", "duplicate-id", (5, 6)),
        (f"{HEAD}archetypes:\n  C-1: {BANDS}\n", "duplicate-id", (5, 8)),
        (f"{HEAD}archetypes:\n  C-2: {BANDS.replace('score: 0', 'score: 0.5')}\n", "bands-form", (5, 58)),
        ("format: 1\nprofile: q\nprofile_version: '1'\n", "field-value", (2, 10)),
        ("format: 1\nprofile: p\nprofile_version: '2'\n", "field-value", (3, 18)),
        (f"{HEAD}archetypes:\n  C-2: {{bands: []}}\n", "field-value", (5, 8)),
        (f"{HEAD}---\n{HEAD}", "document-missing", (1, 1)),
        (f"{HEAD}scenrios: {{}}\n", "field-unknown", (4, 1)),
    ],
)
def test_files_that_do_not_agree_are_refused(tmp_path: Path, second: str, rule: str, place: tuple[int, int]) -> None:
    archetype = f"archetypes:\n  C-1: {BANDS}\n"
    folder = folder_with(tmp_path, first=f"{HEAD}{archetype}scenarios:\n  a: {ENTRY}\n", second=second)
    with pytest.raises(InvalidInput) as caught:
        read_overlay(folder)
    (finding,) = caught.value.findings
    assert (finding.rule, finding.place) == (rule, Place(str(folder / "second.yaml"), *place))


def test_an_overlay_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        read_overlay(tmp_path)


def test_slots_and_reruns_come_with_the_entry() -> None:
    slots = {"target": "deployment/stock"}
    bound = binding_of(prose(), overlay(prose(), slots=slots, rerun=1)).bound
    assert bound.slots == {"target": ObjectRef("deployment", "stock", "shop")}
    assert bound.scenario.x_sirocco.rerun == 1


@pytest.mark.parametrize("own", [{"slots": {"target": "pod/x"}}, {"task": ["get deployment/stock-cache"]}])
def test_a_scenario_with_a_task_or_slots_of_its_own_is_left_alone(own: dict[str, Any]) -> None:
    bound = binding_of(prose(**{"x-sirocco": own}), overlay(prose())).bound
    assert bound.scenario.x_sirocco.document() == own


@pytest.mark.requirement("AV-16")
def test_bands_complete_archetypes_that_have_none(orchard_profile: Profile) -> None:
    rows = [{"band": "well", "score": 1, "when": "verify_recovery"}, {"band": "none", "score": 0}]
    content = {"format": 1, "profile": "p", "profile_version": "1",
               "archetypes": {name: {"bands": rows} for name in ("S-PI-001", "C-OE-001", "C-XX-009")}}  # fmt: skip
    completed = Overlay.model_validate(content).complete_profile(orchard_profile.document)
    bands = {archetype.id: [band.band for band in archetype.bands] for archetype in completed.archetypes}
    own = [band.band for band in orchard_profile.archetypes["C-OE-001"].bands]
    assert bands == {"S-PI-001": ["well", "none"], "S-BE-001": [], "S-DE-001": [], "C-OE-001": own}


def test_the_surfaces_of_a_shape_are_words_of_the_domain(tmp_path: Path) -> None:
    path = tmp_path / "overlay.yaml"
    shape = "{stimuli: [operator_prompt], surfaces: [walls], goal: output, carrier: prompt}"
    path.write_text(f"format: 1\nprofile: a\nprofile_version: b\narchetypes: {{S-1: {{shape: {shape}}}}}\n")
    assert read_overlay(path).archetypes["S-1"].shape is not None
    with pytest.raises(InvalidInput, match="walls"):
        read_overlay(path, KUBERNETES.vocabulary.surfaces)
