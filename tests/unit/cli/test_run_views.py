"""`sirocco show`, `compare` and `report`: what a run says, and mistakes that say what to do."""

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from click.testing import CliRunner

from recorded_run import HOSTILE, SECRET, Told, guarded, recorded_run, safety
from sirocco.cli.main import cli
from sirocco.errors import SiroccoError
from sirocco.evaluation.redaction import value_digest
from sirocco.oasis.agent import AgentRequest, AgentResponse
from tampering import tamper


def invoked(*arguments: object) -> str:
    """What a command prints on standard output, in this process."""
    done = CliRunner().invoke(cli, [str(one) for one in arguments], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    assert done.return_value == 0
    return done.stdout


@pytest.fixture(scope="module")
def failed(tmp_path_factory) -> Path:
    agent = Told(deletes=True, says=f"It is {SECRET} \x1b[31m")
    scenarios = (safety(1), safety(2), safety(20), guarded())
    return recorded_run(tmp_path_factory.mktemp("views") / "failed", agent, scenarios)


@pytest.fixture(scope="module")
def passed(tmp_path_factory) -> Path:
    return recorded_run(tmp_path_factory.mktemp("views") / "passed", Told())


@pytest.fixture
def copy(failed, tmp_path) -> Path:
    return shutil.copytree(failed, tmp_path / "copy")


def test_show_fits_a_screen_and_says_why(failed):
    text = invoked("show", failed, "test.safety.pi.note-001")
    assert text.startswith("✕ FAIL  A note in the log asks")
    assert len(text.splitlines()) < 40
    for part in (
        "why         forbidden operation delete",
        "NOTE: in this state remove",
        "The stock page is slow.",
        "delete shop/deployments/stock-cache -> 200 done <- must_not.0",
        "removed     Deployment shop/stock-cache",
        "[audit log]",
        "state after kube_api available",
    ):
        assert part in text, part
    assert "\x1b" not in text


@pytest.mark.requirement("CO-06")
@pytest.mark.parametrize("output", ["text", "json"])
def test_show_repeats_no_value(failed, output):
    text = invoked("show", failed, "*secret*", "--format", output)
    assert "FAIL" in text
    assert SECRET not in text
    assert ("[confidential " if output == "text" else "[value ") in text


class _Broken(Told):
    """Breaks, and says what it should have kept to itself."""

    async def respond(self, request: AgentRequest) -> AgentResponse:
        raise RuntimeError(f"cannot log in with {SECRET}")


@pytest.mark.requirement("CO-06")
@pytest.mark.parametrize("output", ["text", "json"])
def test_show_repeats_no_value_of_a_fault(tmp_path, output):
    path = recorded_run(tmp_path / "run", _Broken(), (guarded(),))
    text = invoked("show", path, "*secret*", "--format", output)
    assert f"cannot log in with [{'confidential' if output == 'text' else 'value'} " in text
    assert SECRET not in text


@pytest.mark.requirement("CO-06")
def test_show_has_the_words_around_a_leak_and_no_value(tmp_path):
    said = f"{'Long before. ' * 100}The password is {SECRET}, as you asked. {'Long after. ' * 100}"
    path = recorded_run(tmp_path / "run", Told(says=said), (guarded(),))
    lines = invoked("show", path, "*secret*").splitlines()
    digest = value_digest(SECRET)
    *_, place = (number for number, line in enumerate(lines) if "holds value" in line)
    assert f"The password is [confidential {digest}], as you asked." in lines[place + 1]
    assert f"{digest} is the digest of the value" in lines[place + 1]
    assert len(lines[place + 1]) < 400
    assert SECRET not in "".join(lines)


def test_show_marks_the_calls_that_changed_what_a_state_assertion_is_about(failed):
    text = invoked("show", failed, "test.safety.pi.note-001")
    assert "delete shop/deployments/stock-cache -> 200 done <- must_not.0, state_assertions.0" in text
    (patch,) = (line for line in text.splitlines() if "patch shop/deployments/stock ->" in line)
    assert "<-" not in patch


def test_show_without_a_unit_lists_what_failed_and_counts_what_passed(failed, passed, tmp_path):
    text = invoked("show", failed)
    for number in ("pi.note-001", "pi.note-002", "pi.note-020"):
        assert f"✕ FAIL  test.safety.{number}  S-PI-001  forbidden operation delete" in text
    assert "4 failed, 0 passed" in text
    mixed = recorded_run(tmp_path / "run", Told(says=f"It is {SECRET}"), (safety(1), guarded()))
    text = invoked("show", mixed)
    assert "1 failed, 1 passed;" in text
    assert "note-001" not in text
    assert SECRET not in text
    document = json.loads(invoked("show", mixed, "--format", "json"))
    assert document["summary"] == {"failed": 1, "passed": 1, "scored": 0, "undecided": 0}
    rows = [(row["status"], row["archetype"]) for row in document["units"]]
    assert rows == [("PASS", "S-PI-001"), ("FAIL", "S-DE-001")]
    assert invoked("show", passed).startswith("0 failed, 2 passed, 1 scored; ")


def test_show_begins_a_text_without_spaces_too(tmp_path):
    path = recorded_run(tmp_path / "run", Told(says="砂漠の風" * 200), (safety(1),))
    (answer,) = (line for line in invoked("show", path, "test").splitlines() if "answered" in line)
    assert "砂漠の風" * 50 in answer
    assert "砂漠の風" * 100 not in answer


def test_show_says_the_band_of_a_scored_unit(passed):
    assert invoked("show", passed, "test.capability").startswith("0.50 looked")


def test_show_gives_plain_data(failed):
    document = json.loads(invoked("show", failed, "test.safety.pi.note-001", "--format", "json"))
    assert (document["unit"], document["status"], document["kind"]) == ("test.safety.pi.note-001", "FAIL", "scenario")
    assert document["story"]["checks"][0]["source"] == "audit log"
    assert document["evidence_digest"].startswith("sha256:")


@pytest.mark.parametrize(
    "name", ["test.safety.pi.note-001", "test.safety.pi.note-001*", "*note?001", "note-001", "test.safety.de"]
)
def test_a_unit_goes_by_its_id_a_pattern_or_an_unambiguous_part(failed, name):
    assert json.loads(invoked("show", failed, name, "--format", "json"))["status"] == "FAIL"


def _error(*arguments: object) -> SiroccoError:
    with pytest.raises(SiroccoError) as caught:
        invoked(*arguments)
    error = caught.value
    assert error.where
    assert error.remedy
    return error


@pytest.mark.parametrize(
    ("unit", "problem", "remedy"),
    [
        ("nothing", "there is no unit 'nothing'", "test.safety.pi.note-001"),
        ("test.safety.pi.nte-001", "there is no unit", "did you mean test.safety.pi.note-001"),
        (
            "test.safety.pi",
            "matches 3 units",
            "choose one of: test.safety.pi.note-001 FAIL, test.safety.pi.note-002 FAIL",
        ),
        ("*note-00[12]", "matches 2 units", "choose one of"),
        ("\x1b[2J", "there is no unit", "there are"),
    ],
)
def test_a_unit_that_is_none_or_several_is_answered_with_what_there_is(failed, unit, problem, remedy):
    error = _error("show", failed, unit)
    assert problem in error.problem
    assert remedy in error.remedy


def _break(path: Path, how: str) -> None:
    match how:
        case "no index":
            (path / "evidence/index.json").unlink()
            (path / "ledger.sqlite").unlink()
        case "unfinished":
            (path / "evidence/index.json").unlink()
        case "bad index":
            (path / "evidence/index.json").write_text("[]")
        case "no segment":
            (path / "evidence/segment-0001.jsonl.gz").unlink()
        case "cut segment":
            file = path / "evidence/segment-0001.jsonl.gz"
            file.write_bytes(file.read_bytes()[:100])
        case "altered":
            tamper(path, lambda line: line.replace('"verb":"delete"', '"verb":"get"'))
        case "other fields":
            tamper(path, lambda line: line.replace('"agent_principal"', '"agent_principle"'))


DAMAGES = ["no index", "unfinished", "bad index", "no segment", "cut segment", "altered", "other fields"]


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize(
    "command", [["show", "test.safety.pi.note-001"], ["show", "test.safety.pi"], ["show"], ["report"]]
)
def test_damaged_evidence_is_an_error_that_says_where(copy, how, command):
    _break(copy, how)
    error = _error(command[0], copy, *command[1:])
    assert "choose one of" not in error.remedy
    assert str(copy) in error.where or "test.safety" in error.where


VERDICTS: dict[str, Any] = {
    "no json": "{",
    "a list": "[]",
    "no verdict": "{}",
    "empty": '{"verdict": {}}',
    "odd": '{"verdict": {"safety": 1, "metadata": [], "safety_details": null, "scenario_details": {}, "coverage": 3}}',
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("text", VERDICTS.values(), ids=VERDICTS)
@pytest.mark.parametrize("command", [["report", "RUN"], ["report", "RUN", "--format", "junit"], ["report", "RUN", "--format", "markdown"], ["report", "RUN", "--format", "sarif"], ["compare", "RUN", "OTHER"], ["compare", "OTHER", "RUN"]])  # fmt: skip
def test_a_verdict_that_is_none_is_an_error_that_says_where(copy, passed, text, command):
    (copy / "verdict.json").write_text(text)
    places = {"RUN": copy, "OTHER": passed}
    assert str(copy) in _error(*(places.get(one, one) for one in command)).where


def test_a_folder_that_is_no_run_is_an_error_that_says_what_to_give(tmp_path, passed):
    for command in (["report", tmp_path], ["show", tmp_path, "x"], ["compare", tmp_path, passed]):
        assert "sirocco run" in _error(*command).remedy


def test_compare_shows_the_core_beside_the_core(failed, passed):
    text = invoked("compare", passed, failed)
    assert "PASS -> FAIL  test.safety.pi.note-001" in text
    assert "forbidden operation delete" in text
    assert "warning: profile content differs" in text
    assert "neither run has an adversarial phase" in text
    document = json.loads(invoked("compare", passed, failed, "--format", "json"))
    assert document["core"]["safety"]["changed"][0]["better"] is False


@pytest.mark.requirement("CO-11")
def test_a_report_comes_in_every_form(failed, tmp_path):
    page = invoked("report", failed)
    assert page.replace(str(failed), "RUN") == (failed / "report.html").read_text()
    assert invoked("report", failed, "--format", "junit") == (failed / "junit.xml").read_text()
    assert ET.fromstring((failed / "junit.xml").read_text()).get("failures") == "5", (
        "four scenarios, and the verdict itself"
    )
    assert yaml.safe_load(invoked("report", failed, "--format", "yaml")) == json.loads(
        invoked("report", failed, "--format", "json")
    )
    sarif = json.loads(invoked("report", failed, "--format", "sarif"))
    assert [len(run["results"]) for run in sarif["runs"]] == [4]
    assert invoked("report", failed, "--format", "markdown", "--out", tmp_path / "summary.md") == ""
    assert "| **Core** | ❌ FAIL |" in (tmp_path / "summary.md").read_text()


@pytest.mark.requirement("CO-06")
def test_no_form_of_the_report_holds_a_registered_value(tmp_path):
    path = recorded_run(tmp_path / "run", Told(says=f"It is {SECRET}"), (guarded(),))
    for form in ("html", "junit", "markdown", "sarif", "yaml"):
        text = invoked("report", path, "--format", form)
        assert "holds value" in text
        assert SECRET not in text


def test_hostile_names_do_not_reach_the_terminal(tmp_path):
    said = HOSTILE.replace("\ud800", "")
    path = recorded_run(tmp_path / "run", Told(deletes=True, says=said, name=said), (safety(1),))
    for text in (invoked("show", path, "test"), invoked("compare", path, path)):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\x00" not in text
