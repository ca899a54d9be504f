"""Which scenarios a run is about, and what makes it partial."""

from dataclasses import replace

import pytest
import yaml

from builders import scenario_document
from sirocco.errors import ConfigError, InvalidInput
from sirocco.wiring import profile_source
from sirocco.wiring.config import RunConfig
from sirocco.wiring.selection import selection


@pytest.fixture(scope="module")
def profile():
    return profile_source.required_profile("kubernetes_operations")[0]


@pytest.fixture(scope="module")
def ids(profile):
    return [bound.scenario.id for bound in profile.scenarios]


def suite(folder, profile, *ids, **changes):
    document = {
        "id": "mine", "name": "Mine", "version": "1.0.0", "domain_profile": profile.document.id, "scenarios": list(ids),
    }  # fmt: skip
    file = folder / "suite.yaml"
    file.write_text(yaml.safe_dump({**document, **changes}))
    return file


def names(chosen):
    return [bound.scenario.id for bound in chosen.scenarios]


def test_without_a_choice_it_is_the_whole_profile_and_nothing_is_partial(profile, ids):
    chosen = selection(profile, RunConfig(agent="ref:careful"))
    assert (names(chosen), chosen.custom, chosen.filters, chosen.digest) == (ids, (), {}, "")


def test_a_suite_is_run_in_its_own_order_and_is_partial(profile, ids, tmp_path):
    wanted = [ids[5], ids[1], ids[3]]
    chosen = selection(profile, RunConfig(agent="ref:careful", suite=suite(tmp_path, profile, *wanted)))
    assert names(chosen) == wanted
    assert chosen.filters == {"suite": "suite.yaml"}


def test_a_suite_of_everything_is_not_partial(profile, ids, tmp_path):
    assert (
        selection(profile, RunConfig(agent="ref:careful", suite=suite(tmp_path, profile, *reversed(ids)))).filters == {}
    )


def test_a_suite_that_does_not_load_is_refused_with_all_findings(profile, ids, tmp_path):
    file = suite(tmp_path, profile, ids[0], "no.such-001", domain_profile="other")
    with pytest.raises(InvalidInput) as refused:
        selection(profile, RunConfig(agent="ref:careful", suite=file))
    assert {finding.rule for finding in refused.value.findings} == {"suite-profile", "suite-scenario-unknown"}


def test_what_a_suite_holds_is_part_of_the_configuration(profile, ids, tmp_path):
    first = selection(profile, RunConfig(agent="ref:careful", suite=suite(tmp_path, profile, ids[0], ids[1]))).digest
    assert (
        first
        != selection(profile, RunConfig(agent="ref:careful", suite=suite(tmp_path, profile, ids[1], ids[0]))).digest
    )
    assert (
        first
        == selection(profile, RunConfig(agent="ref:careful", suite=suite(tmp_path, profile, ids[0], ids[1]))).digest
    )


@pytest.mark.requirement("CO-11")
@pytest.mark.parametrize(
    ("choice", "label"),
    [
        ({"safety_only": True}, {"safety_only": True}),
        ({"categories": ("auditability",)}, {"categories": ["auditability"]}),
        ({"categories": ("boundary-enforcement",)}, {"categories": ["boundary-enforcement"]}),
        ({"scenarios": ("*.capability.*",)}, {"scenarios": ["*.capability.*"]}),
    ],
    ids=["safety", "capability category", "safety category", "glob"],
)
def test_a_filter_leaves_something_out_and_says_so(profile, ids, choice, label):
    chosen = selection(profile, RunConfig(agent="ref:careful", **choice))
    assert chosen.filters == label
    assert 0 < len(chosen.scenarios) < len(ids)


def test_what_nothing_matches_is_an_error_that_says_what_there_is(profile, ids):
    with pytest.raises(ConfigError, match="auditability"):
        selection(profile, RunConfig(agent="ref:careful", categories=("audibility",)))
    with pytest.raises(ConfigError) as refused:
        selection(profile, RunConfig(agent="ref:careful", scenarios=("nosuch*", f"{ids[0]}-x*")))
    assert 1 <= sum(name in refused.value.remedy for name in ids) <= 3
    assert "`sirocco profile show` lists all" in refused.value.remedy
    with pytest.raises(ConfigError, match=f"nearest: {ids[0]},"):
        selection(profile, RunConfig(agent="ref:careful", scenarios=(f"*{ids[0]}x*",)))


def custom(folder, name="mine.safety.001", **changes):
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(scenario_document(id=name, **changes)))
    return file


def test_custom_scenarios_come_from_files_and_folders_and_stand_apart(profile, ids, tmp_path):
    (tmp_path / "more").mkdir()
    file, _ = custom(tmp_path / "more"), custom(tmp_path / "more", "mine.safety.002")
    by_folder = selection(profile, RunConfig(agent="ref:careful", custom=(tmp_path,)))
    assert [bound.scenario.id for bound in by_folder.custom] == ["mine.safety.001", "mine.safety.002"]
    assert names(by_folder) == ids
    assert by_folder.filters == {}
    by_file = selection(profile, RunConfig(agent="ref:careful", custom=(file,)))
    assert [bound.scenario.id for bound in by_file.custom] == ["mine.safety.001"]
    assert len({by_file.digest, by_folder.digest, ""}) == 3


def test_a_custom_scenario_that_does_not_load_or_takes_a_name_is_refused(profile, ids, tmp_path):
    with pytest.raises(InvalidInput):
        selection(profile, RunConfig(agent="ref:careful", custom=(custom(tmp_path, intent="short"),)))
    with pytest.raises(ConfigError, match="is taken"):
        selection(profile, RunConfig(agent="ref:careful", custom=(custom(tmp_path, ids[0]),)))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="no YAML file"):
        selection(profile, RunConfig(agent="ref:careful", custom=(tmp_path / "empty",)))


def test_a_profile_without_scenarios_can_be_run_with_custom_ones(profile, tmp_path):
    chosen = selection(replace(profile, scenarios=()), RunConfig(agent="ref:careful", custom=(custom(tmp_path),)))
    assert (chosen.scenarios, len(chosen.custom)) == ((), 1)
