"""Segments: whatever is appended comes back, and whatever a kill leaves at the end is told from what is whole."""

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.errors import EvidenceError
from sirocco.evidence import segments
from sirocco.evidence.segments import (
    SegmentWriter,
    Span,
    pack_line,
    read_record,
    segment_numbers,
    segment_path,
    whole_records,
)

TEXTS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=200), max_size=6)


def _written(folder: Path, texts: list[str]) -> list[Span]:
    writer = SegmentWriter(folder)
    try:
        return [writer.append(text.encode()) for text in texts]
    finally:
        writer.close()


@given(TEXTS)
def test_every_record_comes_back_by_its_place_and_in_order(texts):
    with TemporaryDirectory() as name:
        folder = Path(name)
        spans = _written(folder, texts)
        assert [read_record(folder, span).decode() for span in spans] == texts
        assert [(span, line.decode()) for span, line in whole_records(folder)] == list(zip(spans, texts, strict=True))


@given(TEXTS)
def test_a_segment_is_an_ordinary_gzip_file(texts):
    with TemporaryDirectory() as name:
        _written(Path(name), texts)
        content = gzip.decompress(segment_path(Path(name), 1).read_bytes()) if texts else b""
        assert content.decode() == "".join(f"{text}\n" for text in texts)


@given(TEXTS, st.data())
def test_a_file_that_is_cut_anywhere_keeps_exactly_the_records_that_are_whole(texts, data):
    with TemporaryDirectory() as name:
        folder = Path(name)
        spans = _written(folder, texts)
        file = segment_path(folder, 1)
        cut = data.draw(st.integers(0, file.stat().st_size))
        file.write_bytes(file.read_bytes()[:cut])
        whole = [span for span in spans if span.end <= cut]
        assert [span for span, _ in whole_records(folder)] == whole
        writer = SegmentWriter(folder, whole[-1] if whole else None)
        writer.append(b"next")
        writer.close()
        assert [line.decode() for _, line in whole_records(folder)] == [*texts[: len(whole)], "next"]


@given(TEXTS.filter(bool), st.binary(min_size=1, max_size=100))
def test_rubbish_behind_the_last_record_is_no_record_and_is_cut_off(texts, rubbish):
    with TemporaryDirectory() as name:
        folder = Path(name)
        spans = _written(folder, texts)
        file = segment_path(folder, 1)
        size = file.stat().st_size
        file.write_bytes(file.read_bytes() + rubbish)
        assert [span for span, _ in whole_records(folder)] == spans
        SegmentWriter(folder, spans[-1]).close()
        assert file.stat().st_size == size


@given(st.text(min_size=1, max_size=300), st.data())
def test_a_flipped_bit_is_noticed(text, data):
    with TemporaryDirectory() as name:
        folder = Path(name)
        (span,) = _written(folder, [text.replace("\n", " ")])
        file = segment_path(folder, 1)
        content = bytearray(file.read_bytes())
        # The header holds a time, flags for readers and the system it came from: they change nothing that is read.
        position = data.draw(st.integers(10, len(content) - 1))
        content[position] ^= 1 << data.draw(st.integers(0, 7))
        file.write_bytes(content)
        try:
            line = read_record(folder, span)
        except EvidenceError:
            return
        assert line.decode() == text.replace("\n", " ")


@pytest.mark.parametrize(
    "span", [Span(1, 1, 10), Span(1, 0, 5), Span(1, 0, 10_000), Span(1, 10**9, 4), Span(1, 2**70, 4), Span(2, 0, 4)]
)
def test_a_wrong_place_is_an_error_that_says_where(tmp_path, span):
    _written(tmp_path, ["a", "b"])
    with pytest.raises(EvidenceError, match="segment-000"):
        read_record(tmp_path, span)


def test_a_segment_that_is_large_is_followed_by_another(tmp_path, monkeypatch):
    monkeypatch.setattr(segments, "MAX_SEGMENT_BYTES", 60)
    texts = [f"record {number}" for number in range(9)]
    spans = _written(tmp_path, texts)
    assert len(segment_numbers(tmp_path)) > 2
    assert [line.decode() for _, line in whole_records(tmp_path)] == texts
    assert [line.decode() for _, line in whole_records(tmp_path, spans[3])] == texts[4:]
    # Going on after a record of an earlier segment, as when the later ones were never entered in the ledger.
    writer = SegmentWriter(tmp_path, spans[3])
    writer.append(b"again")
    writer.close()
    assert [line.decode() for _, line in whole_records(tmp_path)] == [*texts[:4], "again"]


def test_a_record_that_claims_to_be_huge_is_not_unpacked(tmp_path, monkeypatch):
    (span,) = _written(tmp_path, ["x" * 5000])
    monkeypatch.setattr(segments, "MAX_RECORD_BYTES", 4000)
    with pytest.raises(EvidenceError):
        read_record(tmp_path, span)
    assert list(whole_records(tmp_path)) == []
    with pytest.raises(EvidenceError, match="more than"):
        pack_line(b"x" * 5000)


def test_a_write_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    writer = SegmentWriter(tmp_path)
    first = writer.append(b"first")

    def half(file, content) -> None:
        file.write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(segments, "write_all", half)
        with pytest.raises(OSError, match="No space"):
            writer.append(b"second")
    assert segment_path(tmp_path, 1).stat().st_size == first.end
    writer.append(b"third")
    writer.close()
    assert [line for _, line in whole_records(tmp_path)] == [b"first", b"third"]


def test_equal_texts_give_equal_bytes():
    assert pack_line(b"same") == pack_line(b"same")


def test_a_record_larger_than_what_is_unpacked_at_once_hides_none_behind_it(tmp_path):
    texts = ["a" * (segments._CHUNK + 100), "next", "b" * (2 * segments._CHUNK), "last"]
    spans = _written(tmp_path, texts)
    assert [span for span, _ in whole_records(tmp_path)] == spans
