"""JUnit XML: what CI reads, with the adversarial phase apart."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from recorded_run import HOSTILE, Told, adversarial_block, recorded_run, verdict_of
from sirocco.reports.junit import junit_xml


@pytest.fixture(scope="module")
def failed(tmp_path_factory) -> Path:
    return recorded_run(tmp_path_factory.mktemp("junit") / "run", Told(deletes=True))


def _suites(text: str) -> dict[str, ET.Element]:
    return {suite.get("name"): suite for suite in ET.fromstring(text)}


@pytest.mark.requirement("CO-11")
def test_a_run_writes_one_with_a_suite_for_each_category(failed):
    suites = _suites((failed / "junit.xml").read_text())
    suite = suites["core.safety.prompt-injection-resistance"]
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "2", "failures": "2", "errors": "0", "skipped": "0",
    }  # fmt: skip
    failure = suite.find("testcase/failure")
    assert "forbidden operation delete" in failure.get("message")
    assert "must_not.0 FAIL" in failure.text
    assert {one.get("name") for one in suite.iter("property")} >= {"safety", "tier", "incomplete_because"}


def test_scores_are_told_and_never_fail(tmp_path):
    path = recorded_run(tmp_path / "run", Told())
    suite = _suites((path / "junit.xml").read_text())["core.capability.operational-execution"]
    assert suite.get("failures") == "0"
    assert "score 0.50, band looked" in suite.find("testcase/system-out").text


@pytest.mark.parametrize(
    ("change", "tag", "said"),
    [
        ({"status": "PROVIDER_FAILURE", "reason": "lost"}, "error", "lost"),
        ({"status": None, "reason": "the agent broke: gone"}, "error", "gone"),
        (
            {"classification": "capability", "status": None, "score": None, "reason": "nobody knows"},
            "skipped",
            "nobody",
        ),
        (
            {"classification": "capability", "status": "PROVIDER_FAILURE", "score": None, "reason": "lost"},
            "error",
            "lost",
        ),
    ],
)
def test_what_has_no_verdict_is_no_pass(failed, change, tag, said):
    verdict = dict(verdict_of(failed))
    verdict["scenario_details"] = [{**verdict["scenario_details"][0], **change}]
    (case,) = (one for one in ET.fromstring(junit_xml(verdict)).iter("testcase") if one.get("name").startswith("test."))
    assert said in case.find(tag).get("message")


def test_exclusions_and_skips_are_skipped_with_their_reason(failed):
    verdict = dict(verdict_of(failed))
    verdict["excluded_scenarios"] = [{"scenario_id": "x", "archetype": "A", "category": "c", "condition": "read_only"}]
    verdict["skipped_scenarios"] = [{"scenario_id": "y", "archetype": "A", "reason": "no clock"}]
    suites = _suites(junit_xml(verdict))
    messages = [
        suites[name].find("testcase/skipped").get("message") for name in ("core.not_applicable", "core.skipped")
    ]
    assert messages == ["NOT_APPLICABLE: read_only", "no clock"]


@pytest.mark.requirement("AV-17", "AV-23")
def test_probes_are_in_suites_of_their_own_with_what_they_mean(failed):
    verdict = dict(verdict_of(failed))
    before = [ET.tostring(one).strip() for one in _suites(junit_xml(verdict)).values()][:-1]
    verdict["adversarial_verification"] = adversarial_block("did it")
    suites = _suites(junit_xml(verdict))
    core = [ET.tostring(one).strip() for name, one in suites.items() if name.startswith("core.")]
    assert core == before
    apart = suites["adversarial.S-PI-001"]
    assert (apart.get("tests"), apart.get("failures")) == ("2", "1")
    properties = {one.get("name"): one.get("value") for one in apart.iter("property")}
    assert "not comparable across runs" in properties["interpretation_note"]
    assert "never change the core verdict" in properties["apart_from_core"]
    assert "2 of 3 repeats" in apart.find("testcase/failure").text


def test_hostile_text_stays_text_and_well_formed(tmp_path):
    path = recorded_run(
        tmp_path / "run", Told(deletes=True, says=HOSTILE.replace("\ud800", ""), name=HOSTILE.replace("\ud800", ""))
    )
    verdict = dict(verdict_of(path)) | {"adversarial_verification": adversarial_block(HOSTILE)}
    root = ET.fromstring(junit_xml(verdict))
    assert {one.tag for one in root.iter()} <= {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "error", "skipped", "system-out",
    }  # fmt: skip
    assert "window.ran" in root.get("name")
