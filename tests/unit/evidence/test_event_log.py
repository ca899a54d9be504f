"""The list of events: in order, each once, whole lines only."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.evidence.event_log import EventLog

EVENTS = st.lists(st.fixed_dictionaries({"event": st.sampled_from("abc"), "text": st.text(max_size=5)}), max_size=8)


def _append(path: Path, events) -> None:
    log = EventLog(path)
    for number, event in enumerate(events):
        log.append(f"t{number}", event)
    log.sync()
    log.close()


def _events(path: Path) -> list[dict]:
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [{key: value for key, value in line.items() if key != "time"} for line in lines]


@given(EVENTS, st.data())
def test_after_a_cut_anywhere_the_same_events_give_the_same_list(events, data):
    with TemporaryDirectory() as name:
        path = Path(name) / "events.jsonl"
        _append(path, events)
        content = path.read_bytes()
        path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
        _append(path, events)
        assert _events(path) == events


def test_what_happens_once_more_is_written_once_more(tmp_path):
    path = tmp_path / "events.jsonl"
    _append(path, [{"event": "a"}])
    log = EventLog(path)
    log.append("t", {"event": "run_resumed"}, always=True)
    log.append("t", {"event": "a"})
    log.append("t", {"event": "a"})
    log.close()
    assert [event["event"] for event in _events(path)] == ["a", "run_resumed", "a"]


def test_a_line_that_is_no_event_is_left_alone(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"[]\nnonsense\n\xff\n")
    _append(path, [{"event": "a"}])
    assert path.read_bytes().startswith(b"[]\nnonsense\n\xff\n{")


def test_a_write_that_fails_leaves_whole_lines(tmp_path, monkeypatch):
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    log.append("t", {"event": "a"})

    def half(file, content) -> None:
        file.write(content[:3])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("sirocco.evidence.event_log.write_all", half)
        with pytest.raises(OSError, match="No space"):
            log.append("t", {"event": "b"})
    log.append("t", {"event": "c"})
    log.close()
    assert [event["event"] for event in _events(path)] == ["a", "c"]
