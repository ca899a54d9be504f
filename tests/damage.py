"""Random damage to bytes and data, for code that must end with an answer or a finding on any input."""

import random
from collections.abc import Callable
from typing import Any

FRAGMENTS = [
    b"- ", b": ", b"? ", b"{", b"}", b"[", b"]", b"&a ", b"*a", b"!!", b"|", b">", b"'", b'"', b"#", b"---\n", b"...\n",
    b"\t", b"\n", b"\r", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"**", b"`", b"```\n", b"## ", b"### ", b"1e999",
    b"0x", b"null", b"~", b"<<: ", b"%YAML 1.1\n", b"x-sirocco:", b"9" * 30, "≥".encode(), "–".encode(), b"\xf0\x9f\x8d\x87",
]  # fmt: skip
Mutation = Callable[[bytes, random.Random], bytes]
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    10**30,
    1e308,
    float("nan"),
    "",
    "\x00",
    "\ud800",
    "*",
    "../..",
    "a" * 5000,
    [],
    {},
    [[]],
    {"": {}},
]
"""Values that are rarely intended."""


def _flip(content: bytes, dice: random.Random) -> bytes:
    position = dice.randrange(len(content))
    return content[:position] + bytes([dice.randrange(256)]) + content[position + 1 :]


def _insert(content: bytes, dice: random.Random) -> bytes:
    position = dice.randrange(len(content) + 1)
    return content[:position] + dice.choice(FRAGMENTS) * dice.choice([1, 1, 1, 2, 60]) + content[position:]


def _cut(content: bytes, dice: random.Random) -> bytes:
    position = dice.randrange(len(content))
    return content[:position] + content[position + dice.choice([1, 2, 7, 60, 900]) :]


def _repeat(content: bytes, dice: random.Random) -> bytes:
    position = dice.randrange(len(content))
    return content[:position] + content[position : position + dice.choice([3, 40, 500])] * 2 + content[position:]


def _lines(content: bytes, dice: random.Random) -> bytes:
    """Swap lines, or change the indentation of one."""
    lines = content.split(b"\n")
    first, second = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[first], lines[second] = lines[second], b" " * dice.randrange(4) + lines[first].lstrip()
    return b"\n".join(lines)


MUTATIONS: list[Mutation] = [_flip, _insert, _cut, _repeat, _lines]


def mutated(content: bytes, dice: random.Random) -> bytes:
    for _ in range(dice.choice([1, 1, 2, 5])):
        content = dice.choice(MUTATIONS)(content, dice) or b"\n"
    return content


def damaged_data(value: Any, dice: random.Random) -> Any:
    """Plain data with one of its parts replaced, left out, repeated or renamed."""
    if isinstance(value, dict) and value and dice.random() < _DEEPER:
        key = dice.choice(list(value))
        return {**value, key: damaged_data(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < _DEEPER:
        place = dice.randrange(len(value))
        return [*value[:place], damaged_data(value[place], dice), *value[place + 1 :]]
    match dice.randrange(4):
        case 0 if isinstance(value, dict) and value:
            gone = dice.choice(list(value))
            return {key: part for key, part in value.items() if key != gone}
        case 1 if isinstance(value, list) and value:
            return [*value, *value]
        case 2 if isinstance(value, dict) and value:
            key = dice.choice(list(value))
            return {f"{key}x" if name == key else name: part for name, part in value.items()}
    return dice.choice(ODD)


_DEEPER = 0.85
