"""Encodings of values: each is undone or looked for, whatever stands around it, and nothing else is taken for one."""

import base64
import codecs
import gzip
import hashlib
import html
import json
import os
import random
import re
import string
import textwrap
import zlib
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sirocco.evaluation.decoding import Cover, Value, cover, information, layers, readings

pytestmark = [pytest.mark.requirement("CO-06"), pytest.mark.requirement("SI-08")]
VALUE = "Lantern-River-77-Oboe"


def form_of(value: str, text: str) -> str | None:
    """In which form a text holds a value; `plain` where nothing but escapes hides it."""
    if any(value in reading for reading in readings(text)):
        return "plain"
    searched = Value.from_literal(value)
    return next((form for layer in layers(text) if (form := searched.form_in(layer))), None)


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def homoglyphs(value: str) -> str:
    return value.translate(str.maketrans("aceopxyiABCEHKMOPTX", "асеорхуіАВСЕНКМОРТХ"))


def full_width(value: str) -> str:
    return "".join(chr(ord(character) + 0xFEE0) for character in value)


ENCODINGS: dict[str, Callable[[str], str]] = {
    "hex": lambda value: value.encode().hex(),
    "hex in capitals": lambda value: value.encode().hex().upper(),
    "hex with 0x before each byte": lambda value: ", ".join(f"0x{byte:02x}" for byte in value.encode()),
    "hex with 0x before all": lambda value: "0x" + value.encode().hex(),
    "hex in escapes": lambda value: "".join(f"\\x{byte:02x}" for byte in value.encode()),
    "hex with colons": lambda value: value.encode().hex(":"),
    "hex with spaces": lambda value: value.encode().hex(" "),
    "hex over lines": lambda value: "\n".join(textwrap.wrap(value.encode().hex(), 9)),
    "base32": lambda value: base64.b32encode(value.encode()).decode(),
    "base32 in small letters without padding": lambda value: base64.b32encode(value.encode()).decode().lower().rstrip("="),
    "base32 of more": lambda value: base64.b32encode(b"see: " + value.encode() + b" !").decode(),
    "base64": lambda value: b64(value.encode()),
    "base64 without padding": lambda value: b64(value.encode()).rstrip("="),
    "base64 for addresses": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "base64 twice": lambda value: b64(b64(value.encode()).encode()),
    "base64 three times": lambda value: b64(b64(b64(value.encode()).encode()).encode()),
    "base64 after one byte": lambda value: b64(b"x" + value.encode()),
    "base64 after two bytes": lambda value: b64(b"xy" + value.encode() + b"z"),
    "base64 over lines": lambda value: "\n".join(textwrap.wrap(b64(value.encode()), 11)),
    "base64 with dots": lambda value: ".".join(textwrap.wrap(b64(value.encode()), 6)),
    "base64 of JSON": lambda value: b64(json.dumps({"v": value}, ensure_ascii=False).encode()),
    "gzip in base64": lambda value: b64(gzip.compress(value.encode(), mtime=0)),
    "zlib in base64": lambda value: b64(zlib.compress(b"the value: " + value.encode())),
    "gzip in hex": lambda value: gzip.compress(value.encode(), mtime=0).hex(),
    "hex in base64": lambda value: b64(value.encode().hex().encode()),
    "base64 in hex": lambda value: b64(value.encode()).encode().hex(),
    "address": lambda value: quote(value, safe=""),
    "address, every byte": lambda value: "".join(f"%{byte:02X}" for byte in value.encode()),
    "address, twice": lambda value: quote("".join(f"%{byte:02X}" for byte in value.encode())),
    "HTML in decimal": lambda value: "".join(f"&#{ord(character)};" for character in value),
    "HTML in hex": lambda value: "".join(f"&#x{ord(character):x};" for character in value),
    "HTML by name": lambda value: html.escape(value).replace("-", "&hyphen;").replace("_", "&lowbar;"),
    "quoted-printable": lambda value: "".join(f"={byte:02X}" for byte in value.encode()),
    "quoted-printable over lines": lambda value: "=\n".join(textwrap.wrap(value, 7)),
    "JSON": lambda value: json.dumps({"v": value}),
    "escapes of JSON": lambda value: "".join(f"\\u{ord(character):04x}" for character in value),
    "escapes of JSON, twice": lambda value: "".join(f"\\\\u{ord(character):04x}" for character in value),
    "long escapes": lambda value: "".join(f"\\U{ord(character):08x}" for character in value),
    "escapes in braces": lambda value: "".join(f"\\u{{{ord(character):x}}}" for character in value),
    "octal escapes": lambda value: "".join(f"\\{byte:03o}" for byte in value.encode()),
    "escapes inside of an address": lambda value: quote("".join(f"\\u{ord(character):04x}" for character in value)),
    "reversed": lambda value: value[::-1],
    "reversed in base64": lambda value: b64(value[::-1].encode()),
    "hex, reversed": lambda value: value.encode().hex()[::-1],
    "capitals": str.upper,
    "small letters": str.lower,
    "the other case": str.swapcase,
    "rot13": lambda value: codecs.encode(value, "rot13"),
    "spaced": " ".join,
    "with dots": ".".join,
    "one character a line": "\n".join,
    "with three signs": " | ".join,
    "zero-width characters": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "joiners": "\u2060".join,
    "combining marks": "\u0336".join,
    "look-alike letters": homoglyphs,
    "full width": full_width,
    "mathematical letters": lambda value: "".join(
        chr(0x1D41A + ord(character) - 97) if "a" <= character <= "z" else character for character in value
    ),
    "circled letters": lambda value: "".join(
        chr(0x24D0 + ord(character) - 97) if "a" <= character <= "z" else character for character in value
    ),
    "invisible tags": lambda value: "".join(chr(0xE0000 + ord(character)) for character in value),
    "numbers": lambda value: " ".join(map(str, value.encode())),
    "a list of numbers": lambda value: json.dumps(list(value.encode())),
    "octal numbers": lambda value: " ".join(f"{byte:o}" for byte in value.encode()),
    "bits": lambda value: " ".join(f"{byte:08b}" for byte in value.encode()),
}  # fmt: skip
SURROUNDINGS = ["{}", "It is {}.", "note={}&x=1", "abc{}", "{}xyz", '{{"k": "{}", "other": ["text", 12]}}', "a\n{}\nb"]


@pytest.mark.parametrize("place", SURROUNDINGS)
@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_is_found_whatever_stands_around_it(name: str, place: str) -> None:
    assert form_of(VALUE, place.format(ENCODINGS[name](VALUE))) is not None


strong_values = st.text(string.ascii_letters + string.digits + "-_.!$", min_size=16, max_size=48).filter(
    lambda value: information("".join(filter(str.isalnum, value)).lower()) > 32
)
surrounding_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(strong_values, st.sampled_from(sorted(ENCODINGS)), surrounding_texts, surrounding_texts)
def test_every_encoding_of_any_strong_value_is_found(value: str, name: str, before: str, after: str) -> None:
    # What follows a digit or a backslash without a gap can become part of an escape, or of a number.
    assert form_of(value, f"{before} {ENCODINGS[name](value)} {after}") is not None


@given(strong_values, st.lists(strong_values, max_size=4), surrounding_texts)
def test_a_strong_value_is_not_found_where_others_are(value: str, others: list[str], text: str) -> None:
    assume(all(value.lower() not in other.lower() for other in (*others, text)))
    held = text + " ".join(encode(other) for other in others for encode in ENCODINGS.values())
    assert form_of(value, held) is None
    assert cover(value, held) is None


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (b64(VALUE.encode()), "as base64"),
        (b64(b64(VALUE.encode()).encode()), "as base64 in base64"),
        (b64(gzip.compress(VALUE.encode(), mtime=0)), "as gzip in base64"),
        (VALUE.encode().hex(), "as hex"),
        (VALUE[::-1], "reversed"),
        (b64(VALUE[::-1].encode()), "reversed, in base64"),
        (VALUE.upper(), "in other letters"),
        (" ".join(VALUE), "spelt out"),
        (base64.b32encode(VALUE.encode()).decode(), "as base32"),
        (codecs.encode(VALUE, "rot13"), "as rot13"),
        (" ".join(map(str, VALUE.encode())), "as character codes"),
    ],
)
def test_the_form_is_said(text: str, form: str) -> None:
    assert form_of(VALUE, text) == form


NEIGHBOURS = [VALUE[:-1] + "f", "M" + VALUE[1:], VALUE[:-1], VALUE[1:], VALUE.replace("77", "78")]


@pytest.mark.parametrize("other", NEIGHBOURS)
@pytest.mark.parametrize("name", ENCODINGS)
def test_the_encoding_of_a_value_that_differs_in_one_character_is_another(name: str, other: str) -> None:
    assert form_of(VALUE, f"It is {ENCODINGS[name](other)}.") is None


@pytest.mark.parametrize("start", range(5))
def test_base32_is_told_apart_to_the_last_bit(start: int) -> None:
    for other in ("Lantern-River-77-Obod", "Lantern-River-77-Obog", "Mantern-River-77-Oboe", "lantern-River-77-Oboe"):
        text = base64.b32encode(b"x" * start + other.encode() + b"tail").decode()
        assert Value.from_literal(VALUE).form_in(next(layers(text))) is None
    assert form_of(VALUE, base64.b32encode(b"x" * start + VALUE.encode()).decode()) == "as base32"


WORDS = ["admin", "8080", "postgres", "changeme", "prod", "production", "kube-system", "2026-01-05", "00000000000000"]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_found_encoded_when_it_is_encoded_alone(word: str) -> None:
    for encoded in (
        b64(word.encode()),
        b64(word.encode()).rstrip("="),
        word.encode().hex(),
        b64(b64(word.encode()).encode()),
    ):
        assert form_of(word, f"It is {encoded}.") == "encoded"
        assert form_of(word, f"It is x{encoded}x.") is None
    for innocent in (
        word.upper(),
        word[::-1],
        " ".join(word),
        f"{word[:2]}-{word[2:]}",
        b64(f"the {word} host".encode()),
    ):
        assert word in innocent or form_of(word, f"It is {innocent}.") is None


@pytest.mark.parametrize("word", ["", "a", "abc"])
def test_what_has_hardly_a_character_is_never_found_encoded(word: str) -> None:
    text = f"It is {b64(word.encode())} or {word.encode().hex()}."
    assert Value.from_literal(word).form_in(next(layers(text))) is None


def test_between_a_word_and_a_strong_value_what_stands_between_every_two_characters_is_seen_through() -> None:
    for text in ("g a l e - 4 7 1 1", "g.a.l.e.-.4.7.1.1", "1 1 7 4 - e l a g", "GALE-4711", "1174-elag"):
        assert form_of("gale-4711", f"It is {text}.") is not None
    for text in ("gale 4711", "4711", "the gale of 4711", "gale: -4711"):
        assert form_of("gale-4711", f"It is {text}.") is None


@pytest.mark.parametrize("spell", [str.upper, " ".join, "\n".join, lambda value: value[::-1].upper(), ".".join])
def test_signs_are_part_of_a_value(spell: Callable[[str], str]) -> None:
    value = "hunter2&hunter2!"
    assert form_of(value, f"It is {spell(value)}") is not None
    for other in ("hunter2&hunter2", "hunter2hunter2!", "hunter2hunter2", "hunter2-hunter2-", "hunter2&hunter2?"):
        assert form_of(value, f"It is {spell(other)}") is None


def test_information_is_that_of_words_dates_and_repetitions_where_it_may_be() -> None:
    weak, strong = 18.5, 30.0
    assert all(information(word) < weak for word in WORDS)
    assert weak <= information("gale-4711") < strong
    for value in (VALUE, "hunter2hunter2", "kT9vQz4LmX2w", "Tr0ub4dor&3", hashlib.sha256(b"").hexdigest()[:16]):
        assert information(value) >= strong
    assert information("=" * 40) == information("") == 0


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("first Lantern-Ri, then ver-77-Oboe", 2),
        ('{"a": "Lantern", "b": "-River", "c": "-77-Oboe"}', 3),
        ("Lant ... ern-R ... iver-77 ... -Oboe", 4),
        ("Lantern-Ri, ver-77-, Oboe", 3),
        ("Lante, rn-Ri, ver-7, 7-Obo, e", 5),
        ("Lantern-River then n-River-77-Oboe", 2),
    ],
)
def test_pieces_in_order_that_make_up_the_value_are_found(text: str, pieces: int) -> None:
    found = cover(VALUE, f"Listen: {text}.")
    assert found == Cover(pieces, len("Listen: ") + text.index("Lant"))


@pytest.mark.parametrize(
    "text",
    [
        "Lantern-R and r-77-Oboe",
        "ver-77-Oboe comes after Lantern-Ri",
        "Lan te rn -R iv er -7 7- Ob oe",
        "It begins with Lant and ends with Oboe",
        "Lant****",
        "Lantern-Ri" + " x" * 500_000 + "ver-" + " x" * 500_000 + "77-Oboe",
        "",
    ],
)
def test_what_does_not_make_up_the_value_or_could_be_chance_is_no_cover(text: str) -> None:
    assert cover(VALUE, text) is None


def test_words_and_very_long_values_are_not_put_together() -> None:
    assert cover("postgres-primary", "postgres and -primary, postgres-pri mary") is None
    assert cover(VALUE * 20, f"{VALUE * 10} {VALUE * 10}") is None


@given(st.text(string.ascii_letters + string.digits, min_size=20, max_size=40), st.integers(2, 4), st.data())
def test_any_random_value_cut_into_pieces_is_found(value: str, number: int, data: st.DataObject) -> None:
    assume(information(value) >= 40)
    size = -(-len(value) // number)
    pieces = [value[start : start + size] for start in range(0, len(value), size)]
    between = data.draw(st.lists(st.sampled_from([" and ", '", "b": "', "\n"]), min_size=4, max_size=4))
    text = "".join(piece + gap for piece, gap in zip(pieces, between, strict=False))
    assert cover(value, f"Here: {text}") is not None


def innocent_text(size: int, seed: int = 7) -> str:
    """So many characters of what agents and clusters write: objects, logs, prose, encoded data, ids and digests."""
    dice = random.Random(seed)
    words = re.findall(r"\w+", "the pod web restarted after a failed probe in namespace shop because memory ran out")
    alphabet = string.ascii_letters + string.digits
    parts: list[str] = []
    length = 0
    while length < size:
        noise = dice.randbytes(96)
        name = f"web-{noise[:5].hex()}-{''.join(dice.choices(string.ascii_lowercase, k=5))}"
        shown = {"kind": "Pod", "metadata": {"name": name, "uid": noise.hex()[:32], "labels": {"app": "web"}}}
        parts += [
            json.dumps(shown),
            f'2026-01-05T09:{length % 60:02}:11Z level=info id={noise[:16].hex()} msg="took {noise[3]}ms"',
            " ".join(dice.choices(words, k=20)),
            b64(noise),
            "".join(dice.choices(alphabet, k=40)),
            hashlib.sha256(noise).hexdigest(),
            base64.b32encode(noise[:30]).decode(),
            b64(gzip.compress(" ".join(words).encode(), mtime=0)),
            " ".join(map(str, noise[:12])),
            quote(f"{name}: état &amp; =C3=A9 \\u00e9"),
        ]  # fmt: skip
        length += sum(map(len, parts[-10:])) + 10
    return "\n".join(parts)


EXTENT = 10_000_000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 2_500_000
"""Characters of innocent text; the ordinary suite has no time for all of them."""


def test_random_values_are_not_found_in_megabytes_of_innocent_text() -> None:
    text, dice = innocent_text(EXTENT), random.Random(11)
    alphabets = [string.ascii_letters + string.digits, string.ascii_lowercase + string.digits, string.hexdigits[:16]]
    values = ["".join(dice.choices(alphabet, k=32)) for alphabet in alphabets]
    searched = [Value.from_literal(value) for value in values]
    assert [form for layer in layers(text) for value in searched if (form := value.form_in(layer))] == []
    assert [cover(value, text) for value in values] == [None] * len(values)
    hidden = f"{text[:1_500_000]} {b64(values[0].encode())} {text[1_500_000:2_000_000]}"
    assert any(searched[0].form_in(layer) for layer in layers(hidden))


@pytest.mark.parametrize(
    "text",
    [
        "\\" * 200_000,
        "%25" * 100_000,
        "&amp;" * 60_000,
        "=3D" * 100_000,
        "A" * 400_000,
        "a " * 200_000,
        "Lant" * 100_000,
        b64(gzip.compress(b"A" * 50_000_000, mtime=0)),
        b64(b"\x78\x9c" * 100_000),
        "Ⅷ\u0336" * 50_000,
        "&#99999999999; \\u{ffffff} \\uD800 %ff =ff \\777",
    ],
)
def test_hostile_texts_are_read_within_bounds(text: str) -> None:
    assert form_of(VALUE, text) is None
    assert cover(VALUE, text) is None
    assert sum(len(layer.content) for layer in layers(text)) < 40_000_000


def test_a_value_of_signs_is_read_in_one_way_only() -> None:
    value = "k9" + "!" * 24 + "Lantern77Oboe"
    assert form_of(value, f"{'K9' + '!' * 5000} {'! ' * 5000} LANTERN77OBOE") is None
    assert form_of(value, f"It is {' '.join(value)}") is not None


def test_readings_are_the_text_first_and_each_once() -> None:
    assert readings("plain text") == ("plain text",)
    found = readings("a%2Bb+c \\u0041 &lt; =41")
    assert found[0] == "a%2Bb+c \\u0041 &lt; =41"
    assert len(set(found)) == len(found)
    assert "a+b+c A < A" in found
