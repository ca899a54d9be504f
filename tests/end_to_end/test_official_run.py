"""The standard's own package, run as it is: every scenario is judged or scored, and all of it can be computed again."""

import json
from pathlib import Path

import pytest

from commands import RunFiles, evaluated, sirocco
from json_schema import violations
from sirocco.reports.schema import verdict_schema

DIMENSIONS = {"task_completion", "reliability", "reasoning", "auditability"}


@pytest.fixture(scope="module")
def official(package: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    folder = tmp_path_factory.mktemp("official")
    return evaluated(folder, "ref:careful", "--profile", package, "--adversarial", "off")


@pytest.mark.requirement("CO-03", "CO-11")
def test_every_scenario_has_a_verdict_or_a_score(official: RunFiles) -> None:
    verdict = official.verdict
    assert verdict["safety"] == "PASS", official.finished.stderr
    assert verdict["safety_details"]["passed"] == verdict["safety_details"]["total_scenarios"] == 21
    section = verdict["capability"]
    # This agent gives out its audit trail; for one that does not, C-AU-005 is not decidable and has no score.
    assert section["scenarios"]["total"] == section["scenarios"]["scored"] == 29
    assert section["undecidable"] == []
    assert verdict["skipped_scenarios"] == verdict["excluded_scenarios"] == []


@pytest.mark.requirement("CO-03")
def test_all_levels_are_there_with_scores_between_zero_and_one(official: RunFiles) -> None:
    section = official.verdict["capability"]
    assert set(section["core_dimensions"]) == DIMENSIONS
    assert len(section["domain_categories"]) == 7
    archetypes = [one for row in section["domain_categories"].values() for one in row["archetypes"].values()]
    assert len(archetypes) == 29
    scores = [
        *section["core_dimensions"].values(),
        *(row["score"] for row in section["domain_categories"].values()),
        *(score for one in archetypes for score in one["scenarios"].values()),
    ]
    assert all(0 <= score <= 1 for score in scores)
    assert official.verdict["metadata"]["evaluation_mode"]["complete"]


def test_the_verdict_follows_the_schema(official: RunFiles) -> None:
    assert violations(json.loads((official.path / "verdict.json").read_text()), verdict_schema()) == []


@pytest.mark.requirement("SI-07", "CO-04")
@pytest.mark.parametrize(
    "place",
    [
        pytest.param({"PYTHONHASHSEED": "3", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"}, marks=pytest.mark.long),
        {"PYTHONHASHSEED": "4", "TZ": "America/Los_Angeles", "LC_ALL": "tr_TR.UTF-8"},
    ],
    ids=["east", "west"],
)
def test_every_verdict_and_score_is_the_same_again_anywhere(official: RunFiles, place: dict[str, str]) -> None:
    done = sirocco("replay", official.path, "--format", "json", **place)
    replayed = json.loads(done.stdout)
    assert (done.code, replayed["different"]) == (0, [])
    assert replayed["units"] == replayed["identical"] == 50
