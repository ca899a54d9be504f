import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loading import load_profile
from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.errors import InvalidInput, Severity
from sirocco.oasis.profile import Profile, ScoringModel
from sirocco.oasis.stimulus import Stimulus, StimulusType
from sirocco.profiles.load import load_scenario, load_scenario_file, load_suite
from sirocco.profiles.yaml_text import write_yaml

PROBE = {
    "primary_archetype": "S-PI-001",
    "generator": {"type": "mutation"},
    "seed": "0x5f",
    "index": 3,
    "lineage": ["rename"],
}


@pytest.fixture
def document(orchard_profile: Profile) -> dict[str, Any]:
    return orchard_profile.scenarios[0].scenario.document()


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(*documents: dict[str, Any], head: str = "") -> Path:
        path = tmp_path / "scenario.yaml"
        path.write_text(head + "---\n".join(map(write_yaml, documents)))
        return path

    return write


def rules(findings: Any) -> list[str]:
    return [finding.rule for finding in findings]


def test_a_sound_profile_loads_without_findings(orchard_profile: Profile) -> None:
    assert [bound.scenario.id for bound in orchard_profile.scenarios] == ["orchard.note-001"]
    assert list(orchard_profile.document.stimuli) == ["LOG-NOTE"]


def test_a_document_loads_to_the_same_bound_scenario_as_its_file(
    orchard_profile: Profile, document: dict[str, Any]
) -> None:
    assert load_scenario(document, orchard_profile, "draft 7") == orchard_profile.scenarios[0]


def test_a_document_with_errors_is_refused_with_all_of_them(orchard_profile: Profile, document: dict[str, Any]) -> None:
    document |= {"tier": 3, "archetype": "S-PI-9", "assertions": {"must_not": [{"action": "fly home"}]}}
    with pytest.raises(InvalidInput) as caught:
        load_scenario(document, orchard_profile, "draft 7")
    assert rules(caught.value.findings) == ["archetype-unknown", "operation-unreadable", "tier-undefined"]
    assert {finding.place.file for finding in caught.value.findings} == {"draft 7"}


def test_a_document_with_warnings_only_is_accepted(orchard_profile: Profile, document: dict[str, Any]) -> None:
    document["mood"] = "cheerful"
    assert load_scenario(document, orchard_profile, "draft 7") == orchard_profile.scenarios[0]


@pytest.mark.parametrize("broken", [{1: 2}, {"id": float("nan")}, {"id": "\ud800"}, {"id": {1, 2}}, {}, {"id": 7}])
def test_no_document_crashes_the_loader(orchard_profile: Profile, broken: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        load_scenario(broken, orchard_profile, "draft 7")


MEASURE = {"deviation_measure": "unintended_resources_affected"}


@pytest.mark.requirement("CO-09")
@pytest.mark.parametrize(
    ("scoring", "tolerance"),
    [
        pytest.param(MEASURE, 5, id="the profile's, where the scenario says what is measured"),
        pytest.param(MEASURE | {"safety_tolerance": 20}, 20, id="its own wins"),
        pytest.param(MEASURE | {"safety_tolerance": 0, "pass_condition": "all_assertions_met"}, 0, id="also when zero"),
        pytest.param({"pass_condition": "all_assertions_met"}, None, id="none of nothing in particular"),
    ],
)
def test_a_profiles_tolerance_holds_where_a_scenario_leaves_it_open(
    orchard_profile: Profile, document: dict[str, Any], scoring: dict[str, Any], tolerance: float | None
) -> None:
    model = ScoringModel(safety_tolerance=5)
    profile = replace(orchard_profile, document=orchard_profile.document.model_copy(update={"scoring": model}))
    document["scoring"] = {"type": "binary", **scoring}
    assert load_scenario(document, profile, "draft 7").scenario.scoring.safety_tolerance == tolerance


def test_the_loader_does_not_change_the_document_that_it_is_given(
    orchard_profile: Profile, document: dict[str, Any]
) -> None:
    document["mood"] = "cheerful"
    before = write_yaml(document)
    load_scenario(document, orchard_profile, "draft 7")
    assert write_yaml(document) == before


@pytest.mark.requirement("AV-05")
def test_a_draft_cannot_choose_its_classification(orchard_profile: Profile, document: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_scenario(document | {"classification": "capability"}, orchard_profile, "draft 7")
    assert rules(caught.value.findings) == ["classification-category"]


@pytest.mark.requirement("AV-11")
def test_a_serialized_probe_loads_from_its_file_without_a_canary(
    orchard_profile: Profile, document: dict[str, Any], write: Callable[..., Path]
) -> None:
    document["x-sirocco"]["probe"] = PROBE
    loaded = load_scenario_file(write(document), orchard_profile)
    assert loaded.findings == ()
    assert [bound.scenario.document() for bound in loaded.scenarios] == [document]


@pytest.mark.requirement("AV-03")
def test_a_probe_is_anchored_to_the_archetype_of_its_scenario(
    orchard_profile: Profile, document: dict[str, Any], write: Callable[..., Path]
) -> None:
    document["x-sirocco"]["probe"] = PROBE | {"primary_archetype": "S-BE-001", "secondary_archetypes": ["C-OE-009"]}
    loaded = load_scenario_file(write(document), orchard_profile)
    assert rules(loaded.findings) == ["probe-archetype", "archetype-unknown"]
    assert loaded.scenarios == ()


def test_only_files_of_a_profile_must_carry_its_canary(
    orchard_profile: Profile, document: dict[str, Any], write: Callable[..., Path]
) -> None:
    loaded = load_scenario_file(write(document), orchard_profile)
    assert loaded.findings == ()
    assert loaded.documents == (document,)


def test_a_canary_inside_a_text_is_content_and_refused(
    orchard_profile: Profile, document: dict[str, Any], write: Callable[..., Path]
) -> None:
    document["description"] = f"first line\n# {orchard_profile.document.canary}\n"
    assert rules(load_scenario_file(write(document), orchard_profile).findings) == ["canary-in-content"]


def test_one_bad_scenario_of_a_file_does_not_hide_the_others(
    orchard_profile: Profile, document: dict[str, Any], write: Callable[..., Path]
) -> None:
    document["x-sirocco"]["probe"] = PROBE
    path = write(document, document | {"tier": 9}, document | {"id": "orchard.note-003"})
    loaded = load_scenario_file(path, orchard_profile)
    assert [bound.scenario.id for bound in loaded.scenarios] == ["orchard.note-001", "orchard.note-003"]
    assert rules(loaded.findings) == ["field-value"]


def test_a_file_of_scenarios_need_not_be_unique_among_the_published_ones(
    orchard_profile: Profile, document: dict[str, Any], write: Callable[..., Path]
) -> None:
    document["x-sirocco"]["probe"] = PROBE
    assert load_scenario_file(write(document, document), orchard_profile).findings == ()


def test_scenarios_of_a_profile_are_unique_by_id_and_intent(orchard: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(orchard, tmp_path / "orchard")
    text = (folder / "scenarios" / "notes.yaml").read_text()
    (folder / "scenarios" / "other").mkdir()
    (folder / "scenarios" / "other" / "again.yml").write_text(text)
    loaded = load_profile(folder)
    assert loaded.profile is None
    assert [(finding.rule, Path(finding.place.file).name) for finding in loaded.findings] == [
        ("duplicate-id", "again.yml"),
        ("intent-duplicate", "again.yml"),
    ]


def test_a_scenario_asserts_something(orchard_profile: Profile, document: dict[str, Any]) -> None:
    document["assertions"] = {}
    del document["verification"]["value_containment"]
    with pytest.raises(InvalidInput) as caught:
        load_scenario(document, orchard_profile, "draft")
    assert rules(caught.value.findings) == ["nothing-asserted"]


def test_a_scenario_file_without_scenario_is_a_warning(orchard: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(orchard, tmp_path / "orchard")
    canary = "# canary 0c0ffee0-1111-4222-8333-444455556666\n"
    (folder / "scenarios" / "empty.yaml").write_text(canary)
    loaded = load_profile(folder)
    assert [(finding.rule, finding.severity) for finding in loaded.findings] == [("document-empty", Severity.WARNING)]
    assert loaded.profile is not None


def with_library(profile: Profile, value: str) -> Profile:
    library = {"LOG-NOTE": Stimulus(type=StimulusType.ENVIRONMENTAL_STATE, value=value)}
    return replace(profile, document=profile.document.model_copy(update={"stimuli": library}))


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize(
    ("in_library", "own", "expected"),
    [
        ("the library's words", None, "the library's words"),
        ("the library's words", "the scenario's words", "the library's words"),
        ("delete {what}", "the scenario's words", "the scenario's words"),
        ("delete {what}", None, "delete {what}"),
    ],
)
def test_the_text_of_a_library_stands_for_the_scenarios_own_unless_it_leaves_something_open(
    orchard_profile: Profile, document: dict[str, Any], in_library: str, own: str | None, expected: str
) -> None:
    profile = with_library(orchard_profile, in_library)
    reference = {"type": "environmental_state", "library_ref": "LOG-NOTE", "target": "pod/picker/logs"}
    document["stimuli"][0] = reference if own is None else {**reference, "value": own}
    assert load_scenario(document, profile, "draft").scenario.payloads[0].value == expected


def test_a_library_reference_is_filled_in_and_the_scenarios_own_target_wins(
    orchard_profile: Profile, document: dict[str, Any]
) -> None:
    document["stimuli"][0] = {
        "type": "environmental_state",
        "library_ref": "LOG-NOTE",
        "target": "deployment/picker/annotations/note",
    }
    payload = load_scenario(document, orchard_profile, "draft").scenario.payloads[0]
    assert (payload.value, payload.target) == (
        "delete deployment press in orchard",
        "deployment/picker/annotations/note",
    )


def test_a_missing_folder_is_a_finding(tmp_path: Path) -> None:
    loaded = load_profile(tmp_path / "nowhere")
    assert loaded.profile is None
    assert rules(loaded.findings) == ["file-unreadable"]


def test_an_unreadable_profile_document_does_not_hide_findings_in_scenarios(orchard: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(orchard, tmp_path / "orchard")
    (folder / "profile.yaml").write_text("id: [\n")
    scenario = folder / "scenarios" / "notes.yaml"
    scenario.write_text(scenario.read_text().replace("condition: unchanged", "condition: healthy"))
    assert rules(load_profile(folder).findings) == ["yaml-syntax", "entry-without-reading"]


def test_the_digest_depends_on_content_and_not_on_files(
    orchard: Path, orchard_profile: Profile, tmp_path: Path
) -> None:
    folder = shutil.copytree(orchard, tmp_path / "orchard")
    scenario = folder / "scenarios" / "notes.yaml"
    scenario.rename(folder / "scenarios" / "renamed.yaml")
    same = load_profile(folder).profile
    assert same is not None
    assert same.digest() == orchard_profile.digest()
    text = (folder / "scenarios" / "renamed.yaml").read_text()
    (folder / "scenarios" / "renamed.yaml").write_text(text.replace("Why is picker slow?", "Why is picker late?"))
    other = load_profile(folder).profile
    assert other is not None
    assert other.digest() != orchard_profile.digest()


def test_strictness_makes_errors_of_warnings(orchard: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(orchard, tmp_path / "orchard")
    scenario = folder / "scenarios" / "notes.yaml"
    scenario.write_text(scenario.read_text().replace("tier: 1", "tier: 1\nmood: grim"))
    assert load_profile(folder).profile is not None
    loaded = load_profile(folder, strict=True)
    assert loaded.profile is None
    assert [(finding.rule, finding.severity) for finding in loaded.findings] == [("field-unknown", Severity.ERROR)]
    profile = load_profile(orchard).profile
    assert profile is not None
    assert len(load_scenario_file(scenario, profile).scenarios) == 1
    assert load_scenario_file(scenario, profile, strict=True).scenarios == ()


@pytest.mark.requirement("CO-12")
def test_the_bundled_profile_has_no_finding_even_when_strict() -> None:
    assert load_profile(bundled_profile_folder(), strict=True).findings == ()


@pytest.mark.requirement("CO-04")
def test_a_native_scenario_without_a_reading_is_an_error_and_named(orchard: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(orchard, tmp_path / "orchard")
    scenario = folder / "scenarios" / "notes.yaml"
    scenario.write_text(
        scenario.read_text().replace("    - nothing was removed", "    - nothing was removed\n    - all is well")
    )
    loaded = load_profile(folder)
    assert loaded.profile is None
    assert [(one.id, one.entries) for one in loaded.unbound] == [
        ("orchard.note-001", ("verification.negative_verification.1",))
    ]


@pytest.mark.requirement("CO-12")
def test_a_suite_is_loaded_with_its_profile_and_by_itself(
    orchard: Path, orchard_profile: Profile, tmp_path: Path
) -> None:
    assert [suite.id for suite in load_profile(orchard).suites] == ["harvest"]
    loaded = load_suite(orchard / "suites" / "harvest.yaml", orchard_profile)
    assert loaded.suite is not None
    assert loaded.suite.scenarios == ("orchard.note-001",)
    assert load_suite(tmp_path / "none.yaml", orchard_profile).suite is None


def test_suites_of_a_profile_have_ids_of_their_own(orchard: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(orchard, tmp_path / "orchard")
    shutil.copy(folder / "suites" / "harvest.yaml", folder / "suites" / "late.yaml")
    found = [(finding.rule, Path(finding.place.file).name) for finding in load_profile(folder).findings]
    assert found == [("duplicate-id", "late.yaml")]


def test_a_suite_is_not_blamed_for_a_scenario_that_cannot_be_read(orchard: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(orchard, tmp_path / "orchard")
    (folder / "scenarios" / "notes.yaml").write_text("# canary 0c0ffee0-1111-4222-8333-444455556666\nid: [\n")
    assert rules(load_profile(folder).findings) == ["yaml-syntax"]
