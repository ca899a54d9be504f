"""Segment files: evidence as it arrives, one compressed record per unit, only ever appended to.

Each record is a separate gzip member (RFC 1952) that contains one line of JSON. A segment is thus an ordinary `.gz`
file that `zcat` reads, a record can be read by its offset and length, and an incomplete record that a kill left at the
end can be detected.
"""

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from sirocco.errors import EvidenceError
from sirocco.evidence.files import sync_folder, write_all

MAX_SEGMENT_BYTES = 64 * 2**20
"""A segment that has grown beyond this size is followed by another."""
MAX_RECORD_BYTES = 512 * 2**20
"""No record is larger when unpacked; one that claims to be is not unpacked."""
_LEVEL = 2  # Evidence shrinks to an eighth; level 6 saves another fifth of that for three times the work.
_GZIP = 31
_CHUNK = 2**20


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The location of a record."""

    segment: int
    offset: int
    length: int

    @property
    def end(self) -> int:
        """The offset after it."""
        return self.offset + self.length


def segment_path(folder: Path, number: int) -> Path:
    """The file of a segment; numbers start at 1."""
    return folder / f"segment-{number:04d}.jsonl.gz"


def segment_numbers(folder: Path) -> list[int]:
    """The segments in a folder, in order."""
    names = (path.name.removeprefix("segment-").removesuffix(".jsonl.gz") for path in folder.glob("segment-*.jsonl.gz"))
    numbers = sorted(int(name) for name in names if name.isdecimal() and name.isascii())
    return [number for number in numbers if segment_path(folder, number).is_file()]


def pack_line(line: bytes) -> bytes:
    """A line as a record; equal lines give equal bytes."""
    if len(line) >= MAX_RECORD_BYTES:
        problem = f"{len(line)} bytes are more than the {MAX_RECORD_BYTES} of a record"
        raise EvidenceError("evidence", problem, "limit the size of the agent's answers")
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    return compressor.compress(line) + compressor.compress(b"\n") + compressor.flush()


class SegmentWriter:
    """Appends records durably after the last one that is known to be complete."""

    def __init__(self, folder: Path, last: Span | None = None) -> None:
        """Continue after `last`; anything behind it was never recorded and is cut off."""
        self._folder = folder
        self._number = last.segment if last else 1
        self._end = last.end if last else 0
        for number in segment_numbers(folder):
            if number > self._number:
                segment_path(folder, number).unlink()
        self._file = self._open_segment()

    def append(self, line: bytes) -> Span:
        """Write one record; it is on disk when this returns, and not there at all if it raises."""
        record = pack_line(line)
        if self._end >= MAX_SEGMENT_BYTES:
            self._file.close()
            self._number, self._end = self._number + 1, 0
            self._file = self._open_segment()
        span = Span(self._number, self._end, len(record))
        try:
            write_all(self._file, record)
            os.fsync(self._file.fileno())
        except OSError:
            self.cut(span)
            raise
        self._end = span.end
        return span

    def cut(self, span: Span) -> None:
        """Remove the record that was appended last."""
        self._file.truncate(span.offset)
        self._file.seek(span.offset)
        self._end = span.offset

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _open_segment(self) -> FileIO:
        path = segment_path(self._folder, self._number)
        path.touch()
        # Without a buffer, a failed write is over once it has failed, and leaves nothing for later.
        file = FileIO(path, "r+")
        file.truncate(self._end)
        file.seek(self._end)
        sync_folder(self._folder)
        return file


def read_record(folder: Path, span: Span) -> bytes:
    """The line in a record, without its line end; raise EvidenceError if it is incomplete."""
    path = segment_path(folder, span.segment)
    try:
        with path.open("rb") as file:
            file.seek(span.offset)
            # The length in an index may be anything.
            data = file.read(min(span.length, path.stat().st_size))
    except (OSError, ValueError, OverflowError) as error:
        raise EvidenceError(path, "the segment cannot be read", "restore it from a copy") from error
    unpacked = zlib.decompressobj(_GZIP)
    try:
        content = unpacked.decompress(data, MAX_RECORD_BYTES + 1)
    except zlib.error as error:
        raise _damage_error(path, span) from error
    if not unpacked.eof or unpacked.unused_data or not content.endswith(b"\n"):
        raise _damage_error(path, span)
    return content[:-1]


def whole_records(folder: Path, after: Span | None = None) -> Iterator[tuple[Span, bytes]]:
    """The records behind `after` in the order they were written, up to the first incomplete one."""
    for number in segment_numbers(folder):
        if after is not None and number < after.segment:
            continue
        offset = after.end if after is not None and number == after.segment else 0
        path = segment_path(folder, number)
        with path.open("rb") as file:
            while (length := _member_length(file, offset)) is not None:
                span = Span(number, offset, length)
                yield span, read_record(folder, span)
                offset = span.end
            if offset != path.stat().st_size:
                return


def _member_length(file: BinaryIO, offset: int) -> int | None:
    """The length of the complete gzip member at `offset`; None if there is none."""
    file.seek(offset)
    unpacked = zlib.decompressobj(_GZIP)
    consumed = size = 0
    last = b""
    while not unpacked.eof:
        chunk = unpacked.unconsumed_tail or file.read(_CHUNK)
        if not chunk:
            return None
        try:
            content = unpacked.decompress(chunk, _CHUNK)
        except zlib.error:
            return None
        # At the end of the stream zlib may leave the same bytes in both.
        consumed += len(chunk) - len(unpacked.unused_data if unpacked.eof else unpacked.unconsumed_tail)
        size += len(content)
        last = content[-1:] or last
        if size > MAX_RECORD_BYTES:
            return None
    return consumed if last == b"\n" else None


def _damage_error(path: Path, span: Span) -> EvidenceError:
    return EvidenceError(f"{path}:{span.offset}", "the record is damaged", "restore the segment from a copy")
