"""Quantities of resources, such as 250m or 1.5Gi: how they are read, compared and written in canonical form."""

import math
import re
from enum import StrEnum
from functools import lru_cache, total_ordering
from typing import Any, Self

_DECIMAL_EXPONENTS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL_EXPONENTS.items()}
_BINARY_EXPONENTS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_BINARY_SUFFIXES = {0: "", **{exponent // 10: suffix for suffix, exponent in _BINARY_EXPONENTS.items()}}

FORMAT_WORDS = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIX_WORDS = "unable to parse quantity's suffix"
_NUMBER_WORDS = "unable to parse numeric part of quantity"
_TEXT = re.compile(r"([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*(?:[-+]?[0-9]*))")
_NANO = -9
_MILLI = -3
_MAX_DIGITS = 18  # what surely fits into 64 bits
_MAX_INT64 = 2**63 - 1
_MAX_INT32 = 2**31
_LARGEST_EXPONENT = 400  # beyond it a number only counts as large or small


class QuantityError(ValueError):
    """A text that is not a quantity; the message is Go's."""


class Format(StrEnum):
    """The family of suffixes in which a quantity is written."""

    DECIMAL = "DecimalSI"
    BINARY = "BinarySI"
    EXPONENT = "DecimalExponent"


@total_ordering
class Quantity:
    """A number, `mantissa` × 10^`exponent`, and how to write it."""

    __slots__ = ("_text", "exponent", "format", "mantissa")

    def __init__(self, mantissa: int, exponent: int = 0, form: Format = Format.DECIMAL, text: str = "") -> None:
        self.mantissa = mantissa
        self.exponent = exponent
        self.format = form
        self._text = text

    @classmethod
    def parse(cls, text: str) -> Self:
        """The quantity that `text` means; raise `QuantityError`."""
        if text == "0":
            return cls(0, text=text)
        if not text:
            raise QuantityError(FORMAT_WORDS)
        match = _TEXT.fullmatch(text)
        if match is None:
            raise QuantityError(FORMAT_WORDS)
        sign, number, fraction, suffix = match[1], match[2] or "0", match[3] or "", match[4]
        exponent, form = _interpret_suffix(suffix)
        digits = number + fraction
        if form is Format.BINARY:
            return cls._from_binary(text, sign, number, fraction, exponent)
        value, scale = int(digits), exponent - len(fraction)
        signed = -value if sign == "-" else value
        if len(digits) <= _MAX_DIGITS and scale >= _NANO:
            is_canonical = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
            return cls(signed, scale, form, text if is_canonical else "")
        if not match[2] and match[3] is None and not text.lstrip("+-0"):
            return cls(0, form=form)
        return cls(*_round_up(signed, scale), form)

    @classmethod
    def _from_binary(cls, text: str, sign: str, number: str, fraction: str, exponent: int) -> Self:
        value = int(number + fraction)
        signed = -value if sign == "-" else value
        if not fraction and _MAX_DIGITS - 3 - len(number) - int(exponent * 3 / 10) - 1 >= 0:
            is_canonical = bool(value & 7)
            return cls(signed << exponent, 0, Format.BINARY, text if is_canonical else "")
        mantissa, scale = _round_up(signed << exponent, -len(fraction))
        if abs(mantissa) > _MAX_INT64 * 10**-scale:
            mantissa, scale = (_MAX_INT64 if mantissa > 0 else -_MAX_INT64), 0
        small = 0 < abs(mantissa) < 10**-scale
        return cls(mantissa, scale, Format.DECIMAL if small else Format.BINARY)

    def __str__(self) -> str:
        if self._text:
            return self._text
        if not self.mantissa:
            return "0"
        if self.format is Format.BINARY and self.exponent >= _NANO * 2:
            whole, rest = divmod(self.mantissa * 10 ** max(self.exponent, 0), 10 ** max(-self.exponent, 0))
            if not rest and abs(whole) >= 1024:
                whole, times = _without_factors(whole, 1024)
                return f"{whole}{_BINARY_SUFFIXES.get(times, '')}"
        mantissa, times = _without_factors(self.mantissa, 10)
        exponent = self.exponent + times
        mantissa, exponent = mantissa * 10 ** (exponent % 3), exponent - exponent % 3
        if self.format is Format.EXPONENT:
            return f"{mantissa}e{exponent}" if exponent else str(mantissa)
        return f"{mantissa}{_DECIMAL_SUFFIXES.get(exponent, '')}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nanos == other.nanos

    def __lt__(self, other: "Quantity") -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __add__(self, other: "Quantity") -> "Quantity":
        return _sum(self.nanos + other.nanos, self if self.mantissa else other)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return _sum(self.nanos - other.nanos, self if self.mantissa else other)

    @property
    def text(self) -> str:
        """Its text if it was read from the canonical one; otherwise empty."""
        return self._text

    @property
    def nanos(self) -> int:
        """The number in billionths, the finest unit of any quantity."""
        power = min(self.exponent - _NANO, _LARGEST_EXPONENT)
        if power >= 0:
            return self.mantissa * int(10**power)
        return -(-self.mantissa // int(10 ** min(-power, _LARGEST_EXPONENT)))

    @property
    def milli(self) -> int:
        """The number in thousandths, rounded up."""
        return -(-self.nanos // 10**6)

    @property
    def value(self) -> int:
        """The number in units, rounded up."""
        return -(-self.nanos // 10**9)


def canonical_quantity(value: Any, *, thousandths: bool = False) -> str:
    """What the server writes for a quantity given as a text or a number; raise `QuantityError`.

    Lists of resources are rounded up to `thousandths`.
    """
    if isinstance(value, str):
        return _canonical_text(value.strip(), thousandths)
    if value is None:
        return "0"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise QuantityError(FORMAT_WORDS)
    return _canonical_text(repr(value), thousandths)


@lru_cache(4096)
def quantity(text: str) -> Quantity:
    """The quantity of a text known to be valid; anything else counts as zero."""
    try:
        return Quantity.parse(str(text).strip())
    except QuantityError:
        return Quantity(0)


@lru_cache(4096)
def amount_of(text: str) -> float:
    """A quantity such as 256Mi, 500m or 1e3 as a number; 0 if it is invalid."""
    try:
        return quantity(text).nanos / 10**9
    except OverflowError:
        return math.inf


@lru_cache(4096)
def _canonical_text(text: str, thousandths: bool) -> str:  # noqa: FBT001  cached calls are cheapest by position
    parsed = Quantity.parse(text)
    if thousandths and parsed.exponent < _MILLI:
        parsed = Quantity(*_round_up(parsed.mantissa, parsed.exponent, _MILLI), parsed.format)
    return str(parsed)


def _interpret_suffix(suffix: str) -> tuple[int, Format]:
    if suffix in _DECIMAL_EXPONENTS:
        return _DECIMAL_EXPONENTS[suffix], Format.DECIMAL
    if suffix in _BINARY_EXPONENTS:
        return _BINARY_EXPONENTS[suffix], Format.BINARY
    if suffix[0] in "eE" and re.fullmatch(r"[+-]?[0-9]+", suffix[1:]) and len(suffix) < _MAX_DIGITS:
        wrapped = (int(suffix[1:]) + _MAX_INT32) % (2 * _MAX_INT32) - _MAX_INT32
        return wrapped, Format.EXPONENT
    raise QuantityError(_SUFFIX_WORDS)


def _round_up(mantissa: int, exponent: int, finest: int = _NANO) -> tuple[int, int]:
    """Round up, so that any amount counts at least as the smallest step."""
    if exponent >= finest or not mantissa:
        return mantissa, exponent
    step = 10 ** min(finest - exponent, _LARGEST_EXPONENT)
    size = -(-abs(mantissa) // step)
    return (size if mantissa > 0 else -size), finest


def _without_factors(number: int, base: int) -> tuple[int, int]:
    times = 0
    while number % base == 0:
        number, times = number // base, times + 1
    return number, times


def _sum(nanos: int, like: Quantity) -> Quantity:
    return Quantity(nanos, _NANO, like.format)
