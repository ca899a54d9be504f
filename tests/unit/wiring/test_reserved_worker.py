"""The process for reserved scenarios: whatever happens in it, one line comes out, and it says next to nothing."""

import json
import pickle
import subprocess

import pytest

from bundled import small_profile
from sirocco.errors import ConfigError, ReservedError
from sirocco.reserved.leaks import leaking_files
from sirocco.reserved.worker import Message, ReservedPlan, answer, read_message, worker_program
from sirocco.wiring.assemble import published_text
from sirocco.wiring.config import RunConfig, Seed
from sirocco.wiring.reserved_task import PROGRAM, Task

CANARY = "saffron-lantern"


class Explosive:
    """Breaks with a telling text when it arrives."""

    def __reduce__(self):
        return exec, (f"raise RuntimeError({CANARY!r})",)


@pytest.mark.requirement("AV-19")
@pytest.mark.parametrize("task", [b"", CANARY.encode(), pickle.dumps(CANARY), pickle.dumps(Explosive())])
def test_an_error_that_nobody_foresaw_has_one_text_that_quotes_nothing(task):
    done = subprocess.run(worker_program(PROGRAM), input=task, capture_output=True, check=False)
    assert done.stderr == b""
    (line,) = done.stdout.splitlines()
    assert CANARY.encode() not in line
    assert json.loads(line)["error"]["problem"] == "the process that runs them stopped unexpectedly"
    with pytest.raises(ReservedError, match="stopped unexpectedly"):
        answer(worker_program(PROGRAM), task)


@pytest.mark.requirement("AV-19")
@pytest.mark.parametrize("line", [b"", b"{", b'{"note": "saffron-lantern"}', b'{"units": "saffron-lantern"}'])
def test_a_message_of_any_other_form_is_not_passed_on(line):
    with pytest.raises(ReservedError, match="stopped unexpectedly") as caught:
        read_message(line)
    assert CANARY not in str(caught.value)


@pytest.mark.requirement("AV-19")
@pytest.mark.parametrize(("agent", "is_refused"), [("cmd:./agent", True), ("python:a:b", True), ("ref:careful", False)])
def test_without_a_private_place_no_agent_is_given_files(agent, is_refused, monkeypatch, tmp_path):
    plan = ReservedPlan(units=1, turns=1, is_private=False, roots=())
    monkeypatch.setattr("sirocco.wiring.reserved_task.answer", lambda *_: Message(plan=plan))
    task = Task(RunConfig(agent=agent, reserved=(tmp_path / "b",), identity=tmp_path / "k"), Seed(1, "given"))
    if is_refused:
        with pytest.raises(ConfigError, match="no private location"):
            task.plan()
    else:
        assert task.plan() == plan


@pytest.mark.requirement("AV-19")
def test_the_names_of_checks_that_reports_show_are_public(tmp_path):
    profile = small_profile()
    shown = "\n".join(published_text(profile, tmp_path))
    assert all(check.id in shown for bound in profile.scenarios for check in bound.checks)
    reserved = {"x-sirocco": {"predicates": {profile.scenarios[0].checks[0].id: "cobalt-lantern-7"}}}
    files = {"report.html": f"<code>{profile.scenarios[0].checks[0].id}</code>", "other.html": "cobalt-lantern-7"}
    assert leaking_files(files, [reserved], [shown]) == ("other.html",)


def test_one_endpoint_for_the_whole_run_does_not_go_with_reserved_scenarios(tmp_path):
    reserved = {"reserved": (tmp_path / "b",), "identity": tmp_path / "k"}
    with pytest.raises(ConfigError, match="a separate process"):
        RunConfig(agent="ref:careful", static_endpoint=True, **reserved)
