"""The ledger: what was entered is there when it is opened again, and what it is no ledger of is said."""

import sqlite3

import pytest

from sirocco.errors import EvidenceError
from sirocco.evidence.ledger import Entry, Ledger, ledger_entries
from sirocco.evidence.segments import Span


def _entry(number: int, unit: str = "") -> Entry:
    return Entry(unit or f"unit-{number}", "scenario", 0, "sha256:c", Span(1, 10 * number, 10), f"sha256:{number}", "e")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


def test_what_was_entered_is_there_without_a_close(path):
    ledger = Ledger(path, create=True)
    ledger.enter(_entry(1))
    ledger.enter(_entry(2))
    # As after a kill: nobody closed the first.
    again = Ledger(path, create=False)
    assert again.find("unit-1") == _entry(1)
    assert again.find("unit-3") is None
    assert again.last_span() == Span(1, 20, 10)
    assert again.total() == 2
    again.close()
    ledger.close()


def test_a_ledger_that_is_still_written_is_read_beside_its_writer(path):
    ledger = Ledger(path, create=True)
    ledger.enter(_entry(1))
    assert ledger_entries(path, is_finished=False) == {"unit-1": _entry(1)}
    ledger.enter(_entry(2))
    assert ledger_entries(path, is_finished=False).keys() == {"unit-1", "unit-2"}
    ledger.close()


def test_a_unit_is_entered_once(path):
    ledger = Ledger(path, create=True)
    ledger.enter(_entry(1))
    with pytest.raises(sqlite3.IntegrityError):
        ledger.enter(_entry(2, "unit-1"))
    ledger.enter(_entry(3))
    assert ledger.total() == 2
    ledger.close()


def test_units_count_in_the_order_in_which_they_are_counted_and_anew_in_each_session(path):
    ledger = Ledger(path, create=True)
    for number in range(4):
        ledger.enter(_entry(number))
    for number in (2, 0):
        ledger.count(f"unit-{number}", "sha256:judged")
    assert [entry.unit for entry in ledger.counted_entries()] == ["unit-2", "unit-0"]
    assert {entry.evaluation for entry in ledger.counted_entries()} == {"sha256:judged"}
    ledger.settle()
    ledger.close()
    again = Ledger(path, create=False)
    assert list(again.counted_entries()) == []
    again.close()


def test_counting_rides_along_with_the_next_entry(path):
    ledger = Ledger(path, create=True)
    ledger.enter(_entry(1))
    ledger.count("unit-1", "sha256:judged")
    ledger.enter(_entry(2))
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT unit FROM units WHERE position = 1").fetchall() == [("unit-1",)]
    other.close()
    ledger.close()


def test_a_settled_ledger_is_one_file(path):
    ledger = Ledger(path, create=True)
    ledger.enter(_entry(1))
    ledger.settle()
    ledger.close()
    assert [file.name for file in path.parent.iterdir()] == ["ledger.sqlite"]
    # The file says of itself that it needs no log beside it, so that it can be read where nobody may write.
    assert path.read_bytes()[18:20] == b"\x01\x01"


def test_facts_about_the_run_are_kept(path):
    ledger = Ledger(path, create=True)
    assert ledger.run_fact("finished") is None
    ledger.note("finished", "then")
    ledger.note("finished", "now")
    assert ledger.run_fact("finished") == "now"
    ledger.close()


def test_facts_are_synced_and_what_was_counted_before_them_is_there_too(path):
    ledger = Ledger(path, create=True)
    ledger.enter(_entry(1))
    ledger.count("unit-1", "sha256:judged")
    said: list[str] = []
    ledger._connection.set_trace_callback(said.append)
    ledger.note("identity", "somebody")
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT unit FROM units WHERE position = 1").fetchall() == [("unit-1",)]
    other.close()
    ledger.close()
    levels = [text.partition("=")[2] for text in said if text.startswith("PRAGMA synchronous")]
    written = next(number for number, text in enumerate(said) if text.startswith("INSERT"))
    assert levels == ["FULL", "NORMAL"]
    assert said.index("PRAGMA synchronous=FULL") < written < said.index("PRAGMA synchronous=NORMAL")


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be looked at" * 99, b"\0" * 4096])
def test_a_file_that_is_no_ledger_is_an_error_that_says_so(path, content):
    path.write_bytes(content)
    with pytest.raises(EvidenceError, match=r"ledger\.sqlite"):
        Ledger(path, create=False)


def test_a_ledger_of_another_layout_is_refused(path):
    Ledger(path, create=True).close()
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version=99")
    other.close()
    with pytest.raises(EvidenceError, match="99"):
        Ledger(path, create=False)


def test_a_missing_ledger_is_not_made(path):
    with pytest.raises(EvidenceError, match="missing"):
        Ledger(path, create=False)
    assert not path.exists()
