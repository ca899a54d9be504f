"""The run directory: what is kept is there again, whatever happened in between, and nothing else is taken for it."""

import errno
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace

import pytest

from builders import audit_event, evidence
from scored import SAFE, bands
from sirocco.errors import AgentFault, ConfigError, EvidenceError
from sirocco.evaluation.evaluate import evaluate
from sirocco.evidence.files import LOCK
from sirocco.evidence.recorded import EvidenceIndex
from sirocco.evidence.run_directory import RunDirectory
from sirocco.oasis.ledger import UnitKey
from sirocco.oasis.report import UnitResult

HASH = "sha256:" + "7" * 64
SEGMENT = "evidence/segment-0001.jsonl.gz"


def _result(unit: str = "unit", verb: str = "get", bound=SAFE) -> UnitResult:
    recorded = evidence(audit_event(verb, name="stock-cache", namespace="shop"))
    return UnitResult(unit, bound, recorded, evaluate(bound, recorded))


def _key(unit: str = "unit", attempt: int = 0) -> UnitKey:
    return UnitKey("scenario", unit, attempt)


@contextmanager
def _new(path):
    with RunDirectory(path).create_run("{}\n", HASH) as directory:
        yield directory


@contextmanager
def _again(path, config_hash=HASH):
    with RunDirectory(path).reopen_run(config_hash) as directory:
        yield directory


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run"


def test_nothing_is_touched_before_it_is_opened(path):
    RunDirectory(path)
    assert not path.exists()


def test_a_unit_that_was_kept_is_recalled_with_the_same_evidence(path):
    result = _result()
    with _new(path) as directory:
        assert directory.recorded_evidence(_key(), SAFE) is None
        directory.keep(_key(), result)
        assert directory.recorded_evidence(_key(), SAFE) == result.evidence
    with _again(path) as directory:
        assert directory.recorded_evidence(_key(), SAFE) == result.evidence
        assert directory.units == 1


@pytest.mark.parametrize(
    ("key", "bound", "config_hash"),
    [
        (_key(attempt=1), SAFE, HASH),
        (_key(), replace(SAFE, scenario=SAFE.scenario.model_copy(update={"name": "another"})), HASH),
        (_key(), replace(SAFE, bands=bands()), HASH),
        (_key(), SAFE, "sha256:0"),
    ],
    ids=["attempt", "scenario", "bands", "configuration"],
)
def test_what_was_run_with_something_else_is_not_taken_for_it(path, key, bound, config_hash):
    with _new(path) as directory:
        directory.keep(_key(), _result())
    with _again(path, config_hash) as directory, pytest.raises(EvidenceError, match="another scenario"):
        directory.recorded_evidence(key, bound)


def test_evidence_that_was_altered_is_not_recalled(path):
    with _new(path) as directory:
        directory.keep(_key(), _result())
    content = bytearray((path / SEGMENT).read_bytes())
    content[len(content) // 2] ^= 1
    (path / SEGMENT).write_bytes(content)
    with _again(path) as directory, pytest.raises(EvidenceError, match="damaged"):
        directory.recorded_evidence(_key(), SAFE)


def test_evidence_that_was_exchanged_is_not_recalled(path, tmp_path):
    with _new(path) as directory:
        directory.keep(_key(), _result())
    with _new(tmp_path / "other") as other:
        other.keep(_key(), _result(verb="delete"))
    length = (tmp_path / "other" / SEGMENT).stat().st_size
    (path / SEGMENT).write_bytes((tmp_path / "other" / SEGMENT).read_bytes())
    with sqlite3.connect(path / "ledger.sqlite") as ledger:
        ledger.execute("UPDATE units SET length = ?", (length,))
    ledger.close()
    with _again(path) as directory, pytest.raises(EvidenceError, match="altered"):
        directory.recorded_evidence(_key(), SAFE)


def test_a_unit_is_whole_although_a_kill_came_before_its_entry(path):
    with _new(path) as directory:
        directory.keep(_key("first"), _result("first"))
        directory.keep(_key("second"), _result("second"))
    with sqlite3.connect(path / "ledger.sqlite") as ledger:
        ledger.execute("DELETE FROM units WHERE unit = 'second'")
    ledger.close()
    with _again(path) as directory:
        assert directory.recorded_evidence(_key("second"), SAFE) == _result("second").evidence
        directory.count("scenario", _result("second"))
        directory.write_index()
    assert list(EvidenceIndex.of_run(path).units) == ["second"]


def test_units_are_whole_although_the_power_went_and_took_their_entries(path):
    with _new(path) as directory:
        for unit in ("first", "second", "third"):
            directory.keep(_key(unit), _result(unit))
    with sqlite3.connect(path / "ledger.sqlite") as ledger:
        ledger.execute("DELETE FROM units")
    ledger.close()
    with _again(path) as directory:
        assert directory.units == 3
        assert directory.recorded_evidence(_key("third"), SAFE) == _result("third").evidence
        directory.keep(_key("fourth"), _result("fourth"))
    with _again(path) as directory:
        assert directory.recorded_evidence(_key("first"), SAFE) == _result("first").evidence
        assert directory.recorded_evidence(_key("fourth"), SAFE) == _result("fourth").evidence


def test_half_a_record_at_the_end_is_cut_off_and_its_place_taken(path):
    with _new(path) as directory:
        directory.keep(_key("first"), _result("first"))
        directory.keep(_key("second"), _result("second"))
    whole = (path / SEGMENT).read_bytes()
    with sqlite3.connect(path / "ledger.sqlite") as ledger:
        (end,) = ledger.execute("SELECT offset FROM units WHERE unit = 'second'").fetchone()
        ledger.execute("DELETE FROM units WHERE unit = 'second'")
    ledger.close()
    (path / SEGMENT).write_bytes(whole[: (end + len(whole)) // 2])
    with _again(path) as directory:
        assert directory.recorded_evidence(_key("second"), SAFE) is None
        assert (path / SEGMENT).stat().st_size == end
        directory.keep(_key("second"), _result("second"))
        assert directory.recorded_evidence(_key("first"), SAFE) == _result("first").evidence
    assert (path / SEGMENT).read_bytes() == whole


@pytest.mark.requirement("SI-10")
def test_a_run_that_was_rolled_back_behind_its_events_is_refused(path):
    with _new(path) as directory:
        directory.keep(_key("first"), _result("first"))
        end = (path / SEGMENT).stat().st_size
        directory.keep(_key("second"), _result("second"))
        for unit in ("first", "second"):
            directory.append_event("2026-01-01T00:00:00Z", {"event": "unit_finished", "unit": unit})
    with sqlite3.connect(path / "ledger.sqlite") as ledger:
        ledger.execute("DELETE FROM units WHERE unit = 'second'")
    ledger.close()
    with _again(path) as directory:
        assert directory.units == 2
    with sqlite3.connect(path / "ledger.sqlite") as ledger:
        ledger.execute("DELETE FROM units WHERE unit = 'second'")
    ledger.close()
    (path / SEGMENT).write_bytes((path / SEGMENT).read_bytes()[:end])
    with pytest.raises(EvidenceError, match="1 finished units that are not recorded, second among them"), _again(path):
        pass


@pytest.mark.requirement("SI-10")
def test_a_unit_of_another_run_is_not_recalled(tmp_path):
    for name in ("mine", "other"):
        with RunDirectory(tmp_path / name).create_run(f"name: {name}\n", HASH) as directory:
            directory.keep(_key(), _result())
    for part in (SEGMENT, "ledger.sqlite"):
        (tmp_path / "mine" / part).write_bytes((tmp_path / "other" / part).read_bytes())
    with _again(tmp_path / "mine") as directory, pytest.raises(EvidenceError, match="recorded in another run"):
        directory.recorded_evidence(_key(), SAFE)


def test_only_what_counts_is_in_the_index_and_in_the_order_in_which_it_counts(path):
    with _new(path) as directory:
        for unit in ("a", "b", "c"):
            directory.keep(_key(unit), _result(unit))
        directory.count("scenario", _result("c"))
        directory.count("scenario", _result("a"))
        root = directory.write_index()
    index = EvidenceIndex.of_run(path)
    assert (index.order, index.merkle_root) == (("c", "a"), root)
    assert index.unit("a").unit == "a"


def test_the_root_does_not_depend_on_the_order_in_which_units_were_finished(tmp_path):
    roots = set()
    for number, order in enumerate((("a", "b"), ("b", "a"))):
        with _new(tmp_path / str(number)) as directory:
            for unit in order:
                directory.keep(_key(unit), _result(unit))
            for unit in ("a", "b"):
                directory.count("scenario", _result(unit))
            roots.add(directory.write_index())
    assert len(roots) == 1


def test_a_unit_that_nobody_kept_is_kept_when_it_counts(path):
    with _new(path) as directory:
        directory.count("scenario", _result())
        assert directory.recorded_evidence(_key(), SAFE) is not None


def test_a_recalled_unit_that_is_judged_otherwise_ends_the_run(path):
    with _new(path) as directory:
        directory.keep(_key(), _result())
    with _again(path) as directory:
        recalled = directory.recorded_evidence(_key(), SAFE)
        judged = UnitResult("unit", SAFE, recalled, _result(verb="delete").evaluation)
        with pytest.raises(EvidenceError, match="judged differently"):
            directory.count("scenario", judged)


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), sqlite3.OperationalError("full")])
def test_when_there_is_no_room_the_unit_is_not_there_and_all_others_are(path, monkeypatch, fault):
    with _new(path) as directory:
        directory.keep(_key("first"), _result("first"))
        size = (path / SEGMENT).stat().st_size

        def broken(*_: object) -> None:
            raise fault

        with monkeypatch.context() as full:
            full.setattr(directory._ledger, "enter", broken)
            with pytest.raises(EvidenceError, match="second is not recorded") as told:
                directory.keep(_key("second"), _result("second"))
        assert "--resume" in told.value.remedy
        assert (path / SEGMENT).stat().st_size == size
        directory.keep(_key("third"), _result("third"))
    with _again(path) as directory:
        assert directory.recorded_evidence(_key("first"), SAFE) is not None
        assert directory.recorded_evidence(_key("second"), SAFE) is None
        assert directory.recorded_evidence(_key("third"), SAFE) is not None


def test_a_file_that_cannot_be_written_leaves_the_old_one_and_no_part(path, monkeypatch):
    with _new(path) as directory:
        directory.write("verdict.yaml", "old")
        with monkeypatch.context() as full:

            def broken(_: int) -> None:
                raise OSError(errno.ENOSPC, "No space left on device")

            full.setattr("sirocco.evidence.files.os.fsync", broken)
            with pytest.raises(EvidenceError, match="no room"):
                directory.write("verdict.yaml", "new")
        assert (path / "verdict.yaml").read_text() == "old"
        assert not list(path.glob("*.part"))


def test_a_directory_that_holds_something_is_refused_and_left_as_it_is(path):
    path.mkdir()
    (path / "letter.txt").write_text("dear")
    with pytest.raises(ConfigError, match="not empty"), _new(path):
        pass
    assert [entry.name for entry in path.iterdir()] == ["letter.txt"]


def _fault_after(work, *arguments):
    work(*arguments)
    raise AgentFault("agent", "it went away", "start it")


def test_a_run_that_came_to_nothing_leaves_the_place_free_and_other_peoples_files_alone(path):
    path.mkdir()
    for _ in range(2):
        with pytest.raises(AgentFault), _new(path):
            _fault_after((path / "letter.txt").write_text, "dear")
        assert {entry.name for entry in path.iterdir()} <= {"letter.txt", LOCK}
        (path / "letter.txt").unlink()
    fresh = path / "fresh"
    with pytest.raises(AgentFault), _new(fresh):
        raise AgentFault("agent", "nobody answers", "start it")
    assert not fresh.exists()


def test_a_run_with_a_unit_or_that_was_broken_off_stays(path):
    with pytest.raises(AgentFault), _new(path) as directory:
        _fault_after(directory.keep, _key("first"), _result("first"))
    with _again(path) as directory:
        assert directory.units == 1
    with pytest.raises(ConfigError, match="--resume"), _new(path):
        pass
    with pytest.raises(KeyboardInterrupt), _new(path / "other"):
        raise KeyboardInterrupt
    assert (path / "other" / "run.yaml").exists()


LOCKING = """
import sys, time
from pathlib import Path
from sirocco.evidence.run_directory import RunDirectory
with RunDirectory(Path(sys.argv[1])).create_run("{}", "hash"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_process_is_refused_and_after_a_kill_it_is_not(path):
    with subprocess.Popen([sys.executable, "-c", LOCKING, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(ConfigError, match=f"process {process.pid} "), _again(path, "hash"):
            pass
        with pytest.raises(ConfigError, match="not empty"), _new(path):
            pass
        process.kill()
    with _again(path, "hash") as directory:
        assert directory.units == 0
    assert int((path / "run.lock").read_text()) == os.getpid()


@pytest.mark.parametrize("content", [b"[]", b"\xff", b"{", b'{"merkle_root": "x", "units": {"a": {}}}'])
def test_a_damaged_index_is_an_error_for_readers_and_none_for_a_resumed_run(path, content):
    with _new(path) as directory:
        directory.keep(_key(), _result())
    (path / "evidence/index.json").write_bytes(content)
    with pytest.raises(EvidenceError, match="index"):
        EvidenceIndex.of_run(path)
    with _again(path) as directory:
        directory.count("scenario", _result())
        directory.write_index()
    assert EvidenceIndex.of_run(path).order == ("unit",)


@pytest.mark.parametrize("place", [{"offset": -1}, {"length": True}, {"segment": "1"}, {"position": None}])
def test_a_place_that_is_none_is_an_error(path, place):
    with _new(path) as directory:
        directory.count("scenario", _result())
        directory.write_index()
    file = path / "evidence/index.json"
    document = json.loads(file.read_text())
    document["units"]["unit"] |= place
    file.write_text(json.dumps(document))
    with pytest.raises(EvidenceError, match="index"):
        EvidenceIndex.of_run(path)


def test_a_run_of_the_old_form_cannot_be_resumed(path):
    (path / "evidence").mkdir(parents=True)
    (path / "evidence/segment-0001.jsonl").write_text("{}\n")
    with pytest.raises(EvidenceError, match="older version"), _again(path):
        pass


def test_what_ended_the_run_is_told_although_the_ledger_cannot_be_settled(path, monkeypatch):
    def broken() -> None:
        raise sqlite3.OperationalError("disk I/O error")

    def run() -> None:
        with _new(path) as directory:
            monkeypatch.setattr(directory._ledger, "settle", broken)
            raise RuntimeError("the cause")

    with pytest.raises(RuntimeError, match="the cause"):
        run()


def _nested(depth: int):
    value: object = "leaf"
    for _ in range(depth):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize(
    "body",
    ["\ud800 alone", _nested(150), float("nan"), {"1": (1, 2)}, "\n\x00\u2028", "\U0001f600"],
    ids=["surrogate", "depth", "nan", "tuple", "control", "emoji"],
)
def test_whatever_an_environment_was_made_to_hold_is_recorded_and_comes_back(path, body):
    recorded = evidence(audit_event("create", name="x", namespace="shop", body={"data": body}))
    result = UnitResult("unit", SAFE, recorded, evaluate(SAFE, recorded))
    with _new(path) as directory:
        directory.keep(_key(), result)
        directory.count("scenario", result)
        directory.write_index()
    with _again(path) as directory:
        recalled = directory.recorded_evidence(_key(), SAFE)
    assert repr(recalled.audit_log.data).replace("[1, 2]", "(1, 2)") == repr(recorded.audit_log.data)
