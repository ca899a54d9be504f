"""The conformance checker over the documents of whole runs, and over doctored ones (AV-22)."""

import json
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from commands import sirocco
from doctoring import ADVERSARIAL_DOCTORINGS, CORE_DOCTORINGS, doctored
from sirocco.conformance.checking import REQUIREMENTS, check_document
from sirocco.conformance.ruling import Rulings


def violated(found: Rulings) -> dict[str, str]:
    return {one.id: "; ".join(f"{v.where} {v.problem}" for v in one.violations) for one in found.violated}


@pytest.fixture(scope="module")
def documents(whole, memorizer, careful, naive) -> dict[str, dict[str, Any]]:
    runs = {"whole": whole, "memorizer": memorizer, "careful": careful, "naive": naive}
    return {name: json.loads((run.path / "verdict.json").read_text()) for name, run in runs.items()}


@pytest.mark.requirement("AV-22")
@pytest.mark.parametrize("name", ["whole", "memorizer", "careful", "naive"])
def test_our_own_documents_are_accepted(documents, name):
    assert not violated(check_document(documents[name]))


@pytest.mark.parametrize("name", CORE_DOCTORINGS)
def test_a_doctored_core_is_rejected_for_its_own_reason(documents, name):
    requirement, change = CORE_DOCTORINGS[name]
    document = doctored(documents["whole"], change, redigest=requirement != "AV-12")
    found = violated(check_document(document))
    assert requirement in found, found


@pytest.mark.requirement("AV-22", "AV-23", "AV-24", "AV-11")
@pytest.mark.parametrize("name", ADVERSARIAL_DOCTORINGS)
def test_a_doctored_adversarial_section_is_rejected_for_its_own_reason(documents, name):
    requirement, change = ADVERSARIAL_DOCTORINGS[name]
    found = violated(check_document(doctored(documents["memorizer"], change)))
    assert requirement in found, found
    assert all(not one.startswith("CO") or one == requirement for one in found), found


def test_there_are_enough_doctorings():
    assert len(CORE_DOCTORINGS) + len(ADVERSARIAL_DOCTORINGS) >= 60


def test_values_of_any_kind_at_any_place_are_survived(documents):
    verdict = documents["memorizer"]["verdict"]
    block = verdict["adversarial_verification"]
    for value in (None, "x", [{}], True, float("nan")):
        for key in verdict:
            check_document({"verdict": {**verdict, key: value}})
        for key in block:
            check_document({"verdict": {**verdict, "adversarial_verification": {**block, key: value}}})


@pytest.mark.requirement("AV-22")
def test_the_command_says_place_and_remedy_and_ends_with_one_for_a_violation(tmp_path, documents, memorizer):
    assert sirocco("conformance", memorizer.path).code == 0
    file = tmp_path / "doctored.yaml"
    document = doctored(documents["memorizer"], ADVERSARIAL_DOCTORINGS["no note"][1])
    file.write_text(yaml.safe_dump(document))
    said = sirocco("conformance", file)
    assert said.code == 1
    assert "verdict.adversarial_verification.interpretation_note" in said.stdout
    told = json.loads(sirocco("conformance", file, "--format", "json").stdout)
    assert told["conformant"] is False
    assert {one["id"] for one in told["requirements"]} == {one.id for one in REQUIREMENTS}
    assert next(one for one in told["requirements"] if one["id"] == "AV-23")["status"] == "violated"
    suite = ET.fromstring(sirocco("conformance", file, "--format", "junit").stdout)
    assert [case.get("classname") for case in suite.iter("testcase") if case.find("failure") is not None] == [
        one["id"] for one in told["requirements"] if one["status"] == "violated"
    ]
