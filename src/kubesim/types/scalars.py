"""Values transmitted as text: times and bytes, how Go reads them, writes them and complains about them."""

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

_TIME_LAYOUT = "2006-01-02T15:04:05Z07:00"
_MICRO_TIME_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"
_USUAL_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_QUANTUM = 4


class UnreadableError(ValueError):
    """A text that Go cannot read; the message is Go's."""


@lru_cache(4096)
def canonical_time(text: str) -> str | None:
    """A time as the server writes it, in seconds; None for Go's zero time; raise `UnreadableError`."""
    moment = _parse_time(text, _TIME_LAYOUT)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


@lru_cache(4096)
def canonical_micro_time(text: str) -> str | None:
    """A time as the server writes it, in microseconds; None for Go's zero time; raise `UnreadableError`."""
    moment = _parse_time(text, _MICRO_TIME_LAYOUT)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def canonical_bytes(text: str) -> str:
    """Base64 as the server writes it; raise `UnreadableError`."""
    try:
        return base64.b64encode(base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)).decode()
    except (binascii.Error, ValueError):
        place = _corrupt_byte(text.encode("utf-8", "surrogatepass"))
        raise UnreadableError(f"illegal base64 data at input byte {place}") from None


def _parse_time(text: str, layout: str) -> datetime | None:
    match = _USUAL_TIME.fullmatch(text)
    if match is None or (layout == _MICRO_TIME_LAYOUT and len(match[7] or "") != len(".000000")):
        raise UnreadableError(_time_problem(text, layout))
    hours, minutes = (0, 0) if match[8] == "Z" else (int(match[8][1:3]), int(match[8][4:]))
    offset = timedelta(hours=hours, minutes=minutes) * (-1 if match[8][0] == "-" else 1)
    try:
        fraction = int((match[7] or ".0")[1:7].ljust(6, "0"))
        year, month, day, hour, minute, second = (int(match[number]) for number in range(1, 7))
        moment = datetime(year, month, day, hour, minute, second, fraction, timezone(offset)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UnreadableError(_time_problem(text, layout)) from None
    return None if moment == datetime.min.replace(tzinfo=UTC) else moment


_ELEMENTS = (
    # literal before it, its name in the layout, its pattern, its greatest value, the message when out of range
    ("", "2006", r"\d{4}", 9999, ""),
    ("-", "01", r"\d\d", 12, "month"),
    ("-", "02", r"\d\d", 99, ""),
    ("T", "15", r"\d\d?", 23, "hour"),
    (":", "04", r"\d\d", 59, "minute"),
    (":", "05", r"\d\d", 59, "second"),
)


def _time_problem(text: str, layout: str) -> str:
    """Why Go cannot read a time: it goes through the layout and names the first element that does not fit."""
    rest = text
    for literal, element, pattern, greatest, name in _ELEMENTS:
        if not rest.startswith(literal):
            return _cannot_parse(text, layout, rest, literal)
        rest = rest[len(literal) :]
        match = re.match(pattern, rest, re.ASCII)
        if match is None:
            return _cannot_parse(text, layout, rest, element)
        rest = rest[match.end() :]
        if int(match[0]) > greatest or (name == "month" and not int(match[0])):
            return f'parsing time "{text}": {name} out of range'
    fraction = re.match(r"\.\d{6}" if layout == _MICRO_TIME_LAYOUT else r"(?:\.\d+)?", rest, re.ASCII)
    if fraction is None:
        return _cannot_parse(text, layout, rest[7:] if len(rest) > len(".000000") else rest, ".000000")
    rest = rest[fraction.end() :]
    zone = re.match(r"Z|[+-]\d\d:\d\d", rest, re.ASCII)
    if zone is None:
        return _cannot_parse(text, layout, rest, "Z07:00")
    if rest := rest[zone.end() :]:
        return f'parsing time "{text}": extra text: "{rest}"'
    return f'parsing time "{text}": day out of range'


def _cannot_parse(text: str, layout: str, rest: str, element: str) -> str:
    return f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{element}"'


def _corrupt_byte(source: bytes) -> int:
    """Where Go's decoder finds the first byte that is not base64."""
    position = 0
    while position < len(source):
        filled = 0
        while filled < _QUANTUM:
            if position == len(source):
                return position - filled if filled else position
            byte = source[position]
            position += 1
            if byte in _ALPHABET:
                filled += 1
            elif byte in b"\r\n":
                continue
            elif byte != ord("=") or filled < 2:
                return position - 1
            else:
                return _corrupt_padding(source, position, filled)
    return position


def _corrupt_padding(source: bytes, position: int, filled: int) -> int:
    while position < len(source) and source[position] in b"\r\n":
        position += 1
    if filled == 2:
        if position == len(source):
            return position
        if source[position] != ord("="):
            return position - 1
        position += 1
    while position < len(source) and source[position] in b"\r\n":
        position += 1
    return position
