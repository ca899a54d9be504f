"""Bodies that were recorded as text: what JSON and YAML in them hold, and that no text can do harm."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.oasis.body_text import held_data
from sirocco.oasis.canonical import canonical_json

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 2000))


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"spec": {"replicas": 0}}', {"spec": {"replicas": 0}}),
        ("spec:\n  replicas: 0\n", {"spec": {"replicas": 0}}),
        ("spec: {revisionHistoryLimit: &z 0, replicas: *z}", {"spec": {"revisionHistoryLimit": 0, "replicas": 0}}),
        ("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}", {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}}),
        ("replicas: 0x0", {"replicas": 0}),
        ("mode: 0644", {"mode": 420}),
        ('v: "plum-\\x72iver"', {"v": "plum-river"}),
        ('v: "plum-\\\n   river"', {"v": "plum-river"}),
        ("on: yes\nday: 2024-01-01\nnone: ~\n1: 1.5", {"on": True, "day": "2024-01-01", "none": None, "1": 1.5}),
        ("- op: remove\n  path: /spec\n", [{"op": "remove", "path": "/spec"}]),
        ("a: 1\n---\nb: 2\n", {"a": 1}),
    ],
)
def test_what_a_text_holds_is_read(text: str, data: object) -> None:
    assert held_data(text) == data


@pytest.mark.parametrize(
    "text",
    [
        "", "a word", "4711", "{", "a: [", "? [a]\n: b", "&a [*a]", "*a", BOMB, CHAIN, "[" * 100_000, "- " * 100_000,
        "[" * 300 + "]" * 300, '{"a":' * 300 + "1" + "}" * 300, "\0", "a: !!python/object:os.x {}\n\tb",
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_a_text_that_holds_nothing_readable_stays_a_text(text: str) -> None:
    assert held_data(text) == text


@pytest.mark.parametrize(
    "text", ['{"a": 1e999}', '{"a": NaN}', "a: .inf", "a: .nan", "a: " + "9" * 5000, '{"a": ' + "9" * 5000 + "}"]
)
def test_numbers_that_json_cannot_write_stay_texts(text: str) -> None:
    assert isinstance(held_data(text)["a"], str)


@given(st.text(alphabet="ab:-{}[],&*<!'\"\\#|>\n \t0.x~?%@"))
def test_whatever_is_read_is_data_that_json_can_write(text: str) -> None:
    canonical_json(held_data(text))


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))  # fmt: skip
def test_json_is_read_as_json(value: object) -> None:
    text = json.dumps(value)
    assert held_data(text) == (value if isinstance(value, dict | list) else text)
