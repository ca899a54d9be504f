"""The schema of the verdict document, held against verdicts of real runs."""

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from bundled import SMALL
from commands import RunFiles, evaluated
from json_schema import violations
from sirocco.profiles.schema import probe_schema
from sirocco.reports.schema import verdict_schema

Verdict = dict[str, Any]
SHORT = ("--probes", "2", "--twins", "0")


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    """A core PASS with failed probes."""
    return evaluated(tmp_path_factory.mktemp("failing"), "ref:memorizer", *SMALL, *SHORT, "--confirm", "1")


def document_of(run: RunFiles) -> Verdict:
    return json.loads((run.path / "verdict.json").read_text())


@pytest.mark.requirement("AV-22", "CO-11")
@pytest.mark.parametrize(
    "arguments",
    [
        ["ref:naive", *SMALL],
        ["ref:naive", *SMALL, *SHORT, "--confirm", "1", "--max-agent-calls", "8", "--adversarial", "always"],
        ["ref:careful", *SMALL, *SHORT, "--category", "prompt-injection-resistance"],
        ["ref:memorizer", *SMALL, "--probes", "4", "--twins", "0", "--max-agent-calls", "5"],
    ],
    ids=["failing core", "failing core and probes", "one category", "few calls"],
)
def test_every_kind_of_verdict_follows_the_schema(tmp_path: Path, arguments: list[str]) -> None:
    document = document_of(evaluated(tmp_path, *arguments))
    assert violations(document, verdict_schema()) == []


@pytest.mark.requirement("AV-22", "CO-11")
def test_the_verdict_on_the_whole_profile_follows_the_schema(whole: RunFiles) -> None:
    assert violations(document_of(whole), verdict_schema()) == []


@pytest.mark.requirement("CO-11")
def test_a_verdict_tells_how_long_it_took_and_by_which_version(failing: RunFiles) -> None:
    document = document_of(failing)
    metadata, details = document["verdict"]["metadata"], document["verdict"]["scenario_details"]
    started, finished = (datetime.fromisoformat(metadata[key]) for key in ("timestamp", "finished"))
    assert metadata["duration"] == pytest.approx((finished - started).total_seconds(), abs=0.01)
    assert metadata["duration"] > 0
    assert all(0 <= one["non_scoring_metadata"]["duration"] <= metadata["duration"] for one in details)
    assert metadata["evaluation_implementation"]["version"]


@pytest.mark.requirement("AV-11")
def test_failed_probes_follow_the_schema_of_probes(failing: RunFiles) -> None:
    assert violations(document_of(failing), verdict_schema()) == []
    assert failing.probe_files
    for file in failing.probe_files:
        assert violations(yaml.safe_load(file.read_text()), probe_schema()) == []


def without(*path: str) -> Callable[[Verdict], None]:
    def edit(verdict: Verdict) -> None:
        *parents, key = path
        for part in parents:
            verdict = verdict[part]
        del verdict[key]

    return edit


def with_value(value: Any, *path: str) -> Callable[[Verdict], None]:
    def edit(verdict: Verdict) -> None:
        *parents, key = path
        for part in parents:
            verdict = verdict[part]
        verdict[key] = value

    return edit


BLOCK = "adversarial_verification"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        pytest.param(without("capability"), "required capability", id="a PASS without capability"),
        pytest.param(with_value("FAIL", "safety"), "$.verdict not", id="capability after a FAIL"),
        pytest.param(with_value("HUMAN_REVIEW", "safety"), "safety anyOf", id="a fourth verdict"),
        pytest.param(without("metadata", "evaluator"), "required evaluator", id="no evaluator"),
        pytest.param(with_value(True, "metadata", "aborted"), "required abort_reason", id="aborted for no reason"),
        pytest.param(with_value("sha256:1", "metadata", "core_digest"), "core_digest pattern", id="no digest"),
        pytest.param(with_value(False, BLOCK, "complete"), "required incomplete_reason", id="incomplete for no reason"),
        pytest.param(with_value("magic", BLOCK, "generator", "type"), "type enum", id="an unknown kind of generator"),
        pytest.param(with_value(-1, BLOCK, "safety_results", "failed"), "failed minimum", id="a count below zero"),
        *(
            pytest.param(without(BLOCK, key), f"required {key}", id=f"no {key}")
            for key in (
                "performed", "generator", "probe_summary", "safety_results", "capability_results", "reserved_scenarios",
                "interpretation_note",
            )
        ),
    ],
)  # fmt: skip
def test_a_verdict_that_lacks_or_mixes_up_something_is_refused(
    failing: RunFiles, edit: Callable[[Verdict], None], expected: str
) -> None:
    document = deepcopy(document_of(failing))
    edit(document["verdict"])
    assert any(violation.endswith(expected) for violation in violations(document, verdict_schema()))


def test_keys_can_be_added_anywhere(failing: RunFiles) -> None:
    document = document_of(failing)
    document["verdict"]["later"] = document["verdict"]["metadata"]["later"] = document["verdict"][BLOCK]["later"] = 1
    document["verdict"][BLOCK]["generator"]["later"] = 1
    assert violations(document, verdict_schema()) == []
