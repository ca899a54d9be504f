"""Finds encoded values: what a text says once its encodings are undone (CO-06, SI-08).

A value in disguise is found in two ways. Escapes, base64, compressed data and look-alike letters are undone in the
text; reversal, hex, base32 and other spellings are applied to the value and searched for. Both work on whole texts in
passes that run in C, so that a text without the value costs little, whatever it contains. Rounds of escapes, levels of
encodings and decoded bytes are bounded.

How loosely a value is matched depends on how distinctive it is. A word such as `admin` occurs inside other words, in
other case and in longer encoded texts without a leak.
"""

import base64
import bz2
import codecs
import html
import lzma
import re
import unicodedata
import zlib
from binascii import a2b_base64, b2a_uu
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import log2
from urllib.parse import unquote, unquote_plus

_CHUNK, _OVERLAP = 1 << 20, 1 << 13
"""The size of the chunks in which longer texts are decoded, and their overlap, in characters."""
_MOST_DECODED = 24 << 20
"""The maximum number of bytes decoded from one chunk."""
_MOST_INFLATED, _MOST_ARCHIVES, _LONGEST_ARCHIVE = 1 << 22, 2000, 1 << 16
"""Per layer: the total size to which archives may expand, how many starts of one are tried, and how much of each."""
_LEVELS = 3
"""The maximum number of nested encodings that are undone."""
_ROUNDS = 4
"""The maximum number of nested escapes that are undone."""

# ---- How distinctive a value is

_LOOSE, _STRONG = 18.5, 30.0
"""The bits that a value needs to be found encoded within other text, reversed or in other case.

And to be found with anything between its characters, or in pieces.
"""
_SHORTEST_LOOSE, _SHORTEST_TOKEN = 6, 4
_IN_WORD, _IN_PIECE = 1.5, 2.5
"""The bits of a letter: in a possible word, and in a piece of one."""
_WEIGHTS = {"digit": 3.3, "separator": 1.0, "padding": 0.0, "symbol": 4.0}
_DIGIT_AMONG_DIGITS = 2.0
_CHANGE, _DISTINCT = 2.0, 6.0
_REPEATED = (1.0, 0.5, 0.0)
"""The factor for a character, by how often it occurred just before: never, once or twice."""
_SEPARATORS = frozenset("-_./:, \n\t")
_CHARACTERS = frozenset({"digit", "lower", "upper"})


def information(value: str) -> float:
    """A lower bound on a value's information in bits: letters are assumed to form words, digits alone to form dates."""
    return min(sum(_weights(value, _IN_WORD)), _DISTINCT * len(set(value)))


def _weights(value: str, letter: float) -> list[float]:
    digit = _WEIGHTS["digit"] if any(map(str.isalpha, value)) else _DIGIT_AMONG_DIGITS
    weights = {**_WEIGHTS, "digit": digit, "lower": letter, "upper": letter}
    found: list[float] = []
    for number, character in enumerate(value):
        kind, before = _kind(character), _kind(value[number - 1]) if number else ""
        # In ordinary words a capital is followed by small letters; every other change of kind carries information.
        changes = kind != before and {kind, before} <= _CHARACTERS and (before, kind) != ("upper", "lower")
        repeats = len(value[:number][-2:]) - len(value[:number][-2:].rstrip(character))
        found.append(weights[kind] * _REPEATED[repeats] + _CHANGE * changes)
    return found


def _kind(character: str) -> str:
    if character.isdigit():
        return "digit"
    if character.isalpha():
        return "upper" if character.isupper() else "lower"
    return "padding" if character == "=" else "separator" if character in _SEPARATORS else "symbol"


# ---- Escapes

_ESCAPE = re.compile(
    r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[0-3][0-7]{2}|.)", re.DOTALL
)
_CODE_POINT = re.compile(r"U\+([0-9a-fA-F]{4,6})\b")
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ENTITY = re.compile(r"&(?:#\w{1,10}|\w{2,10};)")
_QUOTED = re.compile(r"=(?:([0-9A-Fa-f]{2})|[ \t]{0,8}\r?\n)")
_LAST_CODE_POINT = 0x10FFFF


def readings(text: str) -> tuple[str, ...]:
    """The text, and the text with the escapes of JSON, URLs, HTML or mail undone."""
    found = {text: None}
    if "+" in text:
        found[unquote_plus(text)] = None
    escapes = [
        undo
        for undo in (_without_backslashes, unquote, _without_entities, _without_quoting, _without_code_points)
        if _may_undo(undo, text)
    ]
    for undo in (*escapes, _without_escapes) if escapes else ():
        undone = text
        for _ in range(_ROUNDS):
            before, undone = undone, undo(undone)
            if undone == before:
                break
            found[undone] = None
    return tuple(found)


def _may_undo(undo: Callable[[str], str], text: str) -> bool:
    if undo is _without_backslashes:
        return "\\" in text
    if undo is unquote:
        return "%" in text
    if undo is _without_entities:
        return "&" in text and _ENTITY.search(text) is not None
    if undo is _without_code_points:
        return "U+" in text
    return "=" in text and _QUOTED.search(text) is not None


def _without_escapes(text: str) -> str:
    for undo in (_without_backslashes, unquote, _without_entities, _without_quoting):
        text = undo(text) if _may_undo(undo, text) else text
    return text


def _without_backslashes(text: str) -> str:
    return _ESCAPE.sub(_unescape_match, text)


def _without_entities(text: str) -> str:
    return html.unescape(text)


def _without_quoting(text: str) -> str:
    """A mail text without quoted-printable quoting, which is converted to URL escapes."""
    return unquote(_QUOTED.sub(lambda found: f"%{found[1]}" if found[1] else "", text))


def _without_code_points(text: str) -> str:
    """A text with characters in place of their Unicode code points."""
    return _CODE_POINT.sub(lambda found: chr(min(int(found[1], 16), _LAST_CODE_POINT)), text)


def _unescape_match(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) == 1:
        return _SHORT_ESCAPES.get(code, code)
    point = int(code, 8) if code.isdigit() else int(code[1:].strip("{}"), 16)
    return chr(point) if point <= _LAST_CODE_POINT else found[0]


# ---- Look-alike letters

_ALIKE = str.maketrans(
    "асԁеһіјкӏмпорԛгѕтцѵԝхуАВСЕНІЈКМОРЅТУХҮԀԌԚԜ"
    "αβεηικνορτυχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
    "ıɑɡɩøłđħŧƖᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢոօսցհ"
    "‐‑‒–—―−⁃∕⧸∶꞉․‚",
    "acdehijklmnopqrstuvwxyABCEHIJKMOPSTYXYDGQW"
    "abeniknoptuxyABEZHIKMNOPTYX"
    "iagiolDhtlabcdeghijklmnoprtuvwyznough"
    "--------//::.,",
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_LETTERS_AS_SIGNS = ((0x1F1E6, "A"), (0x1F130, "A"), (0x1F150, "A"), (0x1F170, "A"))
"""The starts of the blocks of squared, circled and regional indicator letters."""
_BYTES_AS_SIGNS = ((0xE0100, 16), (0x2800, 0))
"""The starts of the blocks of signs that can represent bytes, with the byte of the first sign: selectors, braille."""
_TAGS = 0xE0000
"""The start of the invisible copy of ASCII."""


def _ascii(text: str) -> bytes:
    """A text in ASCII: look-alike letters replaced, marks and invisible characters removed."""
    if not text.isascii():
        text = _NOT_ASCII.sub(lambda found: _folded_run(found[0]), text)
    return text.encode()


def _folded_run(run: str) -> str:
    decomposed = unicodedata.normalize("NFKD", run.translate(_ALIKE)).translate(_ALIKE)
    return "".join(map(_plain_character, decomposed))


def _plain_character(character: str) -> str:
    if character.isascii():
        return character
    point = ord(character)
    for start, letter in _LETTERS_AS_SIGNS:
        if start <= point < start + 26:
            return chr(ord(letter) + point - start)
    if _TAGS + 0x20 <= point < _TAGS + 0x7F:
        return chr(point - _TAGS)
    for start, first in _BYTES_AS_SIGNS:
        if start + 0x20 - first <= point < start + 0x7F - first:
            return chr(point - start + first)
    value = unicodedata.decimal(character, None)
    return "" if value is None else str(value)


# ---- Layers: what is encoded in a text


def _other_bytes(kept: bytes) -> bytes:
    return bytes(set(range(256)) - set(kept))


def _marks(marked: bytes) -> bytes:
    """A table that maps every byte to 1 if it is among those, and otherwise to 0."""
    return bytes(ord("1") if byte in marked else ord("0") for byte in range(256))


_DIGITS, _SMALL, _LARGE = b"0123456789", bytes(range(97, 123)), bytes(range(65, 91))
_IN_SMALL = bytes.maketrans(_LARGE, _SMALL)
_NO_LETTERS, _NO_DIGITS, _NO_HEX = (
    _other_bytes(_DIGITS + _SMALL + _LARGE),
    _other_bytes(_DIGITS),
    _other_bytes(_DIGITS + b"abcdef"),
)
_STANDARD, _NO_BASE64 = bytes.maketrans(b"-_", b"+/"), _other_bytes(_DIGITS + _SMALL + _LARGE + b"+/-_")
_PRINTABLE = _marks(bytes(range(32, 127)) + b"\t\r\n")
_BASE64_OR_SPACE = _marks(_DIGITS + _SMALL + _LARGE + b"+/-_=\r\n ")
_HEX_OR_SPACE = _marks(_DIGITS + b"abcdefABCDEF" + b"\\xX:,- \r\n")
_TEXT_RUN, _BASE64_RUN, _HEX_RUN = b"1" * 12, b"1" * 16, b"1" * 24
_ARCHIVE = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]|BZh[1-9]1AY&SY|\xfd7zXZ\x00")
_AUTOMATIC = 32 + zlib.MAX_WBITS
"""Makes zlib detect its own format or gzip's."""


_FIRST_LETTERS = "first letters of lines"


@dataclass(frozen=True, slots=True)
class Layer:
    """The bytes that result from undoing encodings, with and without what can stand between characters.

    `form` names the encodings, outermost last; empty for the text itself. Binary data can contain a value only
    unchanged, between other bytes, so the other fields are empty for it.
    """

    form: str
    content: bytes
    letters: bytes = b""
    hexadecimal: bytes = b""
    digits: bytes = b""


def layers(text: str) -> Iterator[Layer]:
    """The text in each of its readings, and everything encoded in it, within bounds."""
    for start in range(0, max(len(text), 1), _CHUNK):
        spent = 0
        for layer in _chunk_layers(text[start : start + _CHUNK + _OVERLAP]):
            yield layer
            spent += len(layer.content)
            if spent > _MOST_DECODED:
                break


def _chunk_layers(text: str) -> Iterator[Layer]:
    contents = tuple(dict.fromkeys(map(_ascii, readings(text))))
    for content in contents:
        yield _text_layer("", content)
    if contents[0].count(b"\n") >= _SHORTEST_LOOSE:
        yield _text_layer(_FIRST_LETTERS, b"".join(line.strip()[:1] for line in contents[0].splitlines()))
    # Anything encoded that a reading in between shows is also in the first or the last.
    for content in dict.fromkeys((contents[0], contents[-1])):
        yield from _encoded_layers("", content, _LEVELS)


def _text_layer(form: str, content: bytes) -> Layer:
    letters = content.translate(_IN_SMALL, _NO_LETTERS)
    bare = content.lower().replace(b"\\x", b"").replace(b"0x", b"")
    return Layer(form, content, letters, bare.translate(None, _NO_HEX), letters.translate(None, _NO_DIGITS))


def _encoded_layers(form: str, content: bytes, levels: int) -> Iterator[Layer]:
    """The content encoded in some bytes, starting at any character, whatever is between its characters."""
    if not levels:
        return
    if levels == _LEVELS or _BASE64_RUN in content.translate(_BASE64_OR_SPACE):
        # The characters after the last one take the place of the padding, which was removed with the rest.
        characters = content.translate(_STANDARD, _NO_BASE64) + b"AAA"
        for start in range(4):
            end = start + (len(characters) - start) // 4 * 4
            yield from _layers_of(_form("base64", form), a2b_base64(characters[start:end]), levels)
    if _HEX_RUN in content.translate(_HEX_OR_SPACE):
        digits = _text_layer("", content).hexadecimal
        for start in range(2):
            end = start + (len(digits) - start) // 2 * 2
            yield from _layers_of(_form("hex", form), bytes.fromhex(digits[start:end].decode()), levels)


def _layers_of(form: str, content: bytes, levels: int) -> Iterator[Layer]:
    if content.count(0) * 3 > len(content) and _TEXT_RUN in (narrow := content.replace(b"\0", b"")).translate(
        _PRINTABLE
    ):
        yield _text_layer(form, narrow)
    if _TEXT_RUN in content.translate(_PRINTABLE):
        yield _text_layer(form, content)
        yield from _encoded_layers(form, content, levels - 1)
    else:
        yield Layer(form, content)
    if inflated := b"\n".join(_inflated_archives(content)):
        yield _text_layer(_form("gzip", form), inflated)
        yield from _encoded_layers(_form("gzip", form), inflated, levels - 1)


def _inflated_archives(content: bytes) -> Iterator[bytes]:
    """The contents of the archives in some bytes, each as far as it can be read."""
    left = _MOST_INFLATED
    for found in islice(_ARCHIVE.finditer(content), _MOST_ARCHIVES):
        archive = content[found.start() : found.start() + _LONGEST_ARCHIVE]
        try:
            inflated = _unpacker(archive[:1])(archive, left)
        except (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError):
            continue
        yield inflated
        left -= len(inflated)
        if left <= 0:
            return


def _unpacker(first: bytes) -> Callable[[bytes, int], bytes]:
    """The decompressor for an archive with that beginning."""
    if first == b"B":
        return bz2.BZ2Decompressor().decompress
    return lzma.LZMADecompressor().decompress if first == b"\xfd" else zlib.decompressobj(_AUTOMATIC).decompress


def _form(inner: str, outer: str) -> str:
    return f"{inner} in {outer}" if outer else inner


# ---- Values and their forms

_BASE32_BITS, _BASE32_BYTES, _BASE32_CHARACTERS = 5, 5, 8
_DIVIDING = "".join(_SEPARATORS | {"="}).encode()
_BASE32_STRANGE = bytes.maketrans(b"0189", b"aaaa")


@dataclass(frozen=True, slots=True)
class Value:
    """A value to search for, with all its forms."""

    exact: bytes
    lowered: bytes
    folded: bytes
    rotated: bytes
    hexadecimal: bytes
    base32: tuple[tuple[int, bytes], ...]
    codes: tuple[bytes, ...]
    ciphers: tuple[tuple[str, bytes], ...]
    whole: tuple[tuple[str, bytes], ...]
    tokens: tuple[bytes, ...]
    is_loose: bool
    is_strong: bool

    @classmethod
    def from_literal(cls, literal: str) -> "Value":
        """Everything needed to find a literal in disguise."""
        exact, plain = literal.encode(errors="surrogatepass"), _ascii(literal)
        folded = plain.translate(_IN_SMALL, _NO_LETTERS)
        shown = folded.decode()
        return cls(
            exact=exact,
            lowered=plain.lower(),
            folded=folded,
            rotated=codecs.encode(shown, "rot13").encode(),
            hexadecimal=exact.hex().encode(),
            base32=tuple((start, _base32_inside(exact, start)) for start in range(_BASE32_BYTES)),
            codes=tuple("".join(format(byte, code) for byte in exact).encode() for code in ("d", "o", "03o", "08b")),
            ciphers=_ciphers(shown),
            whole=_whole_forms(exact),
            tokens=_tokens(exact) if len(literal) >= _SHORTEST_TOKEN else (),
            is_loose=len(literal) >= _SHORTEST_LOOSE and information(plain.decode()) >= _LOOSE,
            is_strong=information(shown) >= _STRONG,
        )

    def form_in(self, layer: Layer) -> str | None:
        """The form in which the layer contains the value, in words that continue "holds it ...".

        None if it does not.
        """
        if not self.is_loose:
            return self._form_of_token(layer)
        if layer.form and self.exact in layer.content:
            return f"as {layer.form}"
        if not layer.letters:
            return None
        form = self._respelling(layer) or self._recoding(layer)
        return f"{form}, in {layer.form}" if form and layer.form else form

    def _form_of_token(self, layer: Layer) -> str | None:
        """An undistinctive word is found encoded only if nothing else is encoded with it."""
        if layer.form or not any(_stands_alone(token, layer.content) for token in self.tokens):
            return None
        return "encoded"

    def _respelling(self, layer: Layer) -> str | None:
        if self.folded in layer.letters:
            if self.lowered in layer.content.lower():
                return "in other letters"
            if self._is_spelt_out(self.lowered, layer.content):
                return "spelt out"
        if self.folded[::-1] in layer.letters:
            mirrored = self.lowered[::-1]
            if mirrored in layer.content.lower() or self._is_spelt_out(mirrored, layer.content):
                return "reversed"
        return self._cipher_name(layer) if self.is_strong else None

    def _cipher_name(self, layer: Layer) -> str | None:
        """A value under a letter substitution, with digits for letters, or with one separator throughout."""
        if self.rotated in layer.letters:
            return "as rot13"
        if layer.form:
            return None
        for name, whole in self.whole:
            # One Morse sign can be the beginning of a longer one.
            if whole in layer.content and not (name == _IN_MORSE and _goes_on(whole, layer.content)):
                return f"as {name}"
        if self.lowered.translate(None, _DIVIDING).isalnum() and self.folded not in layer.letters:
            for name, letters in self.ciphers:
                if letters in layer.letters:
                    return f"as {name}"
            if self.folded.translate(_DIGITS_AS_LETTERS) in layer.letters.translate(_DIGITS_AS_LETTERS):
                return "with digits for letters"
        return "with more between its characters" if self._is_interleaved(layer) else None

    def _is_interleaved(self, layer: Layer) -> bool:
        """Whether every other character is the value's, or each is there with its number."""
        content = layer.content.lower()
        if self.lowered in content[::2] or self.lowered in content[1::2]:
            return True
        if self.folded.translate(None, _DIGITS) not in layer.letters.translate(None, _DIGITS):
            return False
        return _follow_each_other(self.lowered, rb"(?:(?!%b)[\W\d_]){0,12}", content)

    def _is_spelt_out(self, lowered: bytes, content: bytes) -> bool:
        """Whether the characters of the content, in this order, are the value's and not those of another one.

        For an undistinctive value, something must stand between every two; a distinctive one may be divided in any way.
        Only its punctuation, which the order of letters and digits does not cover, must occur as well.
        """
        if not self.is_strong:
            return _follow_each_other(lowered, rb"[\W_]{1,3}", content)
        telling = lowered.translate(None, _DIVIDING)
        # What stands between never contains the next character, so there is only one way to read it.
        return telling.isalnum() or _follow_each_other(telling, rb"(?:(?!%b)[\W_]){0,3}", content)

    def _recoding(self, layer: Layer) -> str | None:
        if self.hexadecimal in layer.hexadecimal:
            return "as hex"
        if self.hexadecimal[::-1] in layer.hexadecimal:
            return "as hex, reversed"
        for start, inside in self.base32:
            if inside in layer.letters and self._is_base32_at(
                layer.letters, layer.letters.index(inside), start, inside
            ):
                return "as base32"
        if self.is_strong and any(code in layer.digits for code in self.codes):
            return "as character codes"
        return None

    def _is_base32_at(self, letters: bytes, place: int, start: int, inside: bytes) -> bool:
        """Whether the characters at either end, which share bits with their surroundings, also match the value."""
        lead = -(-8 * start // _BASE32_BITS)
        characters = letters[max(0, place - lead) : place + len(inside) + 1].rjust(lead + len(inside), b"a")
        characters = characters.translate(_BASE32_STRANGE)
        padded = characters + b"a" * (-len(characters) % _BASE32_CHARACTERS)
        return self.exact in base64.b32decode(padded.upper())


def _base32_inside(exact: bytes, start: int) -> bytes:
    """The base32 characters that belong to the value alone, if this many bytes of its group precede it."""
    encoded = base64.b32encode(bytes(start) + exact).lower()
    return encoded[-(-8 * start // _BASE32_BITS) : 8 * (start + len(exact)) // _BASE32_BITS]


_DIGITS_AS_LETTERS = bytes.maketrans(b"013457", b"oieast")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_IN_MORSE = "morse"
_SIGNS = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
    "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----."
)
_MORSE = dict(zip(f"{_ALPHABET}0123456789", _SIGNS.split(), strict=True))


def _ciphers(shown: str) -> tuple[tuple[str, bytes], ...]:
    """Letters and digits of a value with the alphabet shifted by any number, or mirrored."""
    moved = (
        (f"letters moved on by {by}", str.maketrans(_ALPHABET, _ALPHABET[by:] + _ALPHABET[:by]))
        for by in range(1, len(_ALPHABET))
    )
    mirrored = ("letters in mirror", str.maketrans(_ALPHABET, _ALPHABET[::-1]))
    return tuple((name, shown.translate(table).encode()) for name, table in (*moved, mirrored)) if shown else ()


def _whole_forms(exact: bytes) -> tuple[tuple[str, bytes], ...]:
    """A value as a whole in encodings without fixed positions for single bytes."""
    text = exact.decode(errors="replace").lower()
    if len(exact) < _SHORTEST_LOOSE or len(exact) > _LONGEST_IN_PIECES:
        return ()
    number = int.from_bytes(exact)
    turned = bytes(33 + (byte + 14) % 94 if 33 <= byte <= 126 else byte for byte in exact)
    return (
        ("base85", base64.b85encode(exact)),
        ("ascii85", base64.a85encode(exact)),
        ("base58", _in_base58(number)),
        ("base32 of the other alphabet", base64.b32hexencode(exact).rstrip(b"=")),
        ("base32 twice", base64.b32encode(base64.b32encode(exact)).rstrip(b"=")),
        ("one number", str(number).encode()),
        ("rot47", turned),
        ("uuencoded text", b2a_uu(exact[:45]).rstrip(b"\n")),
        (_IN_MORSE, " ".join(_MORSE[one] for one in text if one in _MORSE).encode()),
        (_IN_MORSE, " ".join({**_MORSE, "-": "-....-"}.get(one, "") for one in text).encode()),
    )


def _goes_on(signs: bytes, content: bytes) -> bool:
    end = content.index(signs) + len(signs)
    return content[end : end + 1] in {b".", b"-"}


def _in_base58(number: int) -> bytes:
    digits = ""
    while number:
        number, rest = divmod(number, len(_BASE58))
        digits = _BASE58[rest] + digits
    return digits.encode()


def _tokens(exact: bytes) -> tuple[bytes, ...]:
    once = base64.b64encode(exact)
    forms = (once, base64.urlsafe_b64encode(exact), base64.b64encode(once), base64.b32encode(exact))
    return tuple(
        dict.fromkeys((exact.hex().encode(), exact.hex().upper().encode(), *(one.rstrip(b"=") for one in forms)))
    )


def _stands_alone(token: bytes, content: bytes) -> bool:
    """Whether a token occurs as a separate word."""
    found = re.compile(rb"(?<![A-Za-z0-9+/])" + re.escape(token) + rb"(?![A-Za-z0-9+/])")
    return token in content and found.search(content) is not None


def _follow_each_other(characters: bytes, between: bytes, content: bytes) -> bool:
    """Whether the characters occur in order with something between every two, which may announce the next."""
    each = [re.escape(characters[number : number + 1]) for number in range(len(characters))]
    rest = (between.replace(b"%b", one) + one for one in each[1:])
    return re.search(each[0] + b"".join(rest), content, re.IGNORECASE) is not None


# ---- Pieces

_PIECE, _MOST_PIECES, _LONGEST_IN_PIECES = 4, 8, 256
_MOST_PLACES = 5000
_TAIL_WITHIN = 24
_LEAST_SCORE = 10.0


@dataclass(frozen=True, slots=True)
class Cover:
    """Pieces of a text that make up a value in order: how many, and where the first begins."""

    pieces: int
    offset: int


@dataclass(frozen=True, slots=True)
class _Segment:
    """A stretch of text that equals a stretch of the value: where it begins in each, and its length."""

    place: int
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class _State:
    """The best way so far to cover the beginning of a value."""

    score: float
    end: int
    cover: Cover


def cover(value: str, text: str) -> Cover | None:
    """The pieces of a text that make up a whole value, unless it could be a coincidence; None if there are none.

    The information in every piece must exceed that in its distance from the last one; so pieces that follow each other
    closely may be short, and those that occur by chance somewhere in a long text prove nothing.
    """
    if not 2 * _PIECE <= len(value) <= _LONGEST_IN_PIECES or value[:_PIECE] not in text or information(value) < _STRONG:
        return None
    weights = _weights(value, _IN_PIECE)
    told = [sum(weights[:number]) for number in range(len(value) + 1)]
    states: dict[int, _State] = {}
    for segment in _segments(value, text):
        _extend(states, segment, told, log2(len(text) + 1))
        for length in range(len(value) - _PIECE + 1, len(value) + 1):
            state = states.get(length)
            if state and (found := _completed_cover(state, value[length:], text)):
                return found
    return None


def _completed_cover(state: _State, rest: str, text: str) -> Cover | None:
    """The cover, if nothing is missing, or if a rest that is too short to be a piece follows soon."""
    if state.cover.pieces < 2 or state.score < _LEAST_SCORE:
        return None
    if not rest:
        return state.cover
    alone = re.compile(rf"(?<![^\W_]){re.escape(rest)}(?![^\W_])")
    is_near = alone.search(text, state.end, state.end + _TAIL_WITHIN) is not None
    return Cover(state.cover.pieces + 1, state.cover.offset) if is_near else None


def _segments(value: str, text: str) -> list[_Segment]:
    """All stretches of at least a piece's length, in the order of the text; none if they cannot make up the value."""
    found: dict[int, list[_Segment]] = {}
    missing = 0
    for start in range(len(value) - _PIECE + 1):
        gram = value[start : start + _PIECE]
        places = _places(gram, text)
        missing = 0 if places else missing + 1
        if (start == 0 and missing) or missing >= _PIECE:
            return []
        for place in places:
            line = found.setdefault(place - start, [])
            if line and line[-1].start + line[-1].length == start + _PIECE - 1:
                line[-1] = _Segment(line[-1].place, line[-1].start, line[-1].length + 1)
            else:
                line.append(_Segment(place, start, _PIECE))
    return sorted((one for line in found.values() for one in line), key=lambda one: (one.place, -one.length))


def _places(gram: str, text: str) -> list[int]:
    found: list[int] = []
    place = text.find(gram)
    while place >= 0 and len(found) < _MOST_PLACES:
        found.append(place)
        place = text.find(gram, place + 1)
    return found


def _extend(states: dict[int, _State], segment: _Segment, told: list[float], anywhere: float) -> None:
    """Continue from every beginning of the value that the segment extends."""
    end = segment.start + segment.length
    best: _State | None = None
    if segment.start == 0:
        best = _State(told[end] - anywhere, segment.place + end, Cover(1, segment.place))
    for length in range(max(segment.start, _PIECE), end - _PIECE + 2):
        state, place = states.get(length), segment.place + length - segment.start
        if state is None or state.end > place or state.cover.pieces == _MOST_PIECES:
            continue
        score = state.score + told[end] - told[length] - log2(place - state.end + 1)
        if best is None or score > best.score:
            best = _State(score, segment.place + segment.length, Cover(state.cover.pieces + 1, state.cover.offset))
    known = states.get(end)
    if best and (known is None or best.score >= known.score - log2(max(best.end - known.end, 0) + 1)):
        states[end] = best
