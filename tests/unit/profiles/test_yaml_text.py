import json
import string

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from sirocco.errors import Place, Severity
from sirocco.profiles.yaml_text import MAX_CHARACTERS, MAX_DEPTH, node_of, read_yaml, write_yaml

# JSON may hold characters raw that YAML wants escaped; what is left is common to both.
COMMON_TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn", "Zl", "Zp"], exclude_characters="\ufeff"), max_size=40
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
AMBIGUOUS = st.sampled_from(
    ["", "~", "null", "yes", "No", "on", "true", "TRUE", "1e3", "12e5", "0o17", "0x1F", "1_000", "12:30", "2024-01-01",
     ".inf", ".NaN", "<<", "=", "- a", "a: b", "#x", " x ", "+1", "-", "1.", ".5", "0b11", "!x", "&a", "*a", "|", "%"]
)  # fmt: skip
NUMBERS = st.one_of(st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False))


def json_data(text: st.SearchStrategy[str]) -> st.SearchStrategy[object]:
    texts = st.one_of(text, AMBIGUOUS)
    return st.recursive(
        st.one_of(st.none(), st.booleans(), NUMBERS, texts),
        lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(texts, inner, max_size=5)),
        max_leaves=25,
    )


PARAGRAPHS = st.lists(st.sampled_from(["a", "- b", "c: d", "# e", "", "  ", " f", "\tg", "'", "|", "%", "---", "..."]))
JSON_DATA = json_data(st.one_of(TEXT, PARAGRAPHS.map("\n".join)))
YAML_LIKE = st.text(
    st.sampled_from(string.ascii_lowercase[:3] + " \n\t:-?[]{}&*!|>'\"#%,@`0.~<=\\\r\x85\ufeff"), max_size=80
)


def value_of(text: str) -> object:
    read = read_yaml(text, "t.yaml")
    assert read.findings == ()
    assert len(read.documents) == 1
    return read.documents[0].value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes", "yes"), ("no", "no"), ("on", "on"), ("Off", "Off"), ("y", "y"), ("true", True), ("False", False),
        ("TRUE", True), ("tRUE", "tRUE"), ("null", None), ("~", None), ("---", None), ("Null", None), ("nULL", "nULL"),
        ("12", 12), ("-7", -7), ("+7", 7), ("010", 10), ("0o17", 15), ("0x1F", 31), ("0b11", "0b11"),
        ("1_000", "1_000"), ("12:30", "12:30"), ("190:20:30", "190:20:30"), ("2024-01-01", "2024-01-01"),
        ("2024-01-01T10:00:00Z", "2024-01-01T10:00:00Z"), ("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5), ("1.", 1.0),
        ("1.2.3", "1.2.3"), ("0.1.0", "0.1.0"), ("'12'", "12"), ('"true"', "true"), ("!!str 12", "12"), ("! 12", "12"),
        ("<<", "<<"), ("=", "="), ("1e", "1e"), ("-", [None]), (".", "."), ("10Gi", "10Gi"), ("50%", "50%"),
    ],
)  # fmt: skip
def test_plain_scalars_are_typed_by_the_core_schema_of_yaml_1_2(text: str, expected: object) -> None:
    value = value_of(text)
    assert value == expected
    assert type(value) is type(expected)


@given(json_data(COMMON_TEXT))
def test_json_is_read_as_it_is(data: object) -> None:
    assert value_of(json.dumps(data, ensure_ascii=False)) == data


@given(JSON_DATA)
@example({"commit": "7e10", "when": "2024-01-01", "mode": "0o17", "on": None})
def test_what_is_written_is_read_back_equal(data: object) -> None:
    assert value_of(write_yaml(data)) == data


@given(JSON_DATA)
def test_what_is_written_means_the_same_to_a_yaml_1_1_reader(data: object) -> None:
    assert yaml.safe_load(write_yaml(data)) == data


@given(st.one_of(st.text(max_size=200), YAML_LIKE))
@example("\ud800")
@example("a: \x00")
@example("%YAML 9.9\n---\na")
@example("? : ? : ?")
@example("!<tag:yaml.org,2002:map> []")
@example("\ufeff# byte order mark\na: 1")
@example("a: \ufeffb")
def test_no_text_crashes_the_reader(text: str) -> None:
    read = read_yaml(text, "t.yaml")
    lines = text.count("\n") + text.count("\r") + text.count("\x85") + text.count("\u2028") + text.count("\u2029") + 1
    assert all(finding.severity is Severity.ERROR for finding in read.findings)
    assert all(1 <= finding.place.line <= lines + 1 and finding.place.column >= 1 for finding in read.findings)
    json.dumps([document.value for document in read.documents], allow_nan=False)


@given(json_data(COMMON_TEXT))
def test_every_value_has_a_place_where_its_text_stands(data: object) -> None:
    text = json.dumps({"outer": data}, indent=1, ensure_ascii=False)
    document = read_yaml(text, "t.yaml").documents[0]
    place = document.place_of(("outer",))
    line = text.split("\n")[place.line - 1]
    assert line[place.column - 1 :].startswith(json.dumps(data, indent=1, ensure_ascii=False).split("\n")[0])


def test_the_place_of_a_missing_value_is_that_of_the_mapping_around_it() -> None:
    document = read_yaml("a:\n  - b: 1\n    c: {d: 2}\n", "t.yaml").documents[0]
    assert document.place_of(("a", 0, "c", "d")) == Place("t.yaml", 3, 12)
    assert document.place_of(("a", 0, "nowhere")) == Place("t.yaml", 2, 5)
    assert document.place_of_key(("a", 0, "c")) == Place("t.yaml", 3, 5)


def test_columns_count_characters_not_bytes() -> None:
    assert read_yaml("ключ: {длина: 3, б: x}", "t.yaml").documents[0].place_of(("ключ", "б")) == Place("t.yaml", 1, 21)


def test_a_file_may_hold_several_documents_and_a_line_of_dashes_inside_a_text() -> None:
    read = read_yaml("# first\n---\na: |\n  one\n  ---\n  two\n---\nb: 2\n", "t.yaml")
    assert [document.value for document in read.documents] == [{"a": "one\n---\ntwo\n"}, {"b": 2}]


def test_documents_before_a_syntax_error_are_still_read() -> None:
    read = read_yaml("a: 1\n---\nb: [\n", "t.yaml")
    assert [document.value for document in read.documents] == [{"a": 1}]
    assert [finding.rule for finding in read.findings] == ["yaml-syntax"]


def test_an_alias_stands_for_the_value_of_its_anchor() -> None:
    assert value_of("a: &x {k: [1, 2]}\nb: *x\n") == {"a": {"k": [1, 2]}, "b": {"k": [1, 2]}}


def test_anchors_do_not_reach_into_the_next_document() -> None:
    assert [finding.rule for finding in read_yaml("a: &x 1\n---\nb: *x\n", "t.yaml").findings] == ["yaml-alias"]


def test_aliases_that_would_multiply_are_refused_where_they_pass_the_bound() -> None:
    levels = ["- &l0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"- &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12)]
    read = read_yaml("\n".join(levels), "t.yaml")
    assert read.documents == ()
    assert [(finding.rule, finding.place.line) for finding in read.findings] == [("yaml-limit", 5)]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_refused(opening: str) -> None:
    read = read_yaml(opening * 100_000, "t.yaml")
    assert read.documents == ()
    assert "yaml-limit" in {finding.rule for finding in read.findings}


def test_a_text_that_is_too_long_is_refused_unread() -> None:
    assert [finding.rule for finding in read_yaml("#" * (MAX_CHARACTERS + 1), "t").findings] == ["yaml-limit"]


@given(JSON_DATA)
def test_a_document_from_no_text_keeps_its_data(data: object) -> None:
    node = node_of(data, Place("draft"))
    assert node.value == data
    assert node.place_of(("a", 0)) == Place("draft")


@pytest.mark.parametrize(
    "value",
    [{1: "x"}, {"a": {2, 3}}, [float("nan")], ["\ud800"], {"\ud800": 1}, [b"x"], object()],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_json_data_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        node_of(value, Place("draft"))


def test_data_that_is_nested_too_deep_is_refused() -> None:
    data: object = "core"
    for _ in range(MAX_DEPTH + 1):
        data = [data]
    with pytest.raises(ValueError, match="deeper"):
        node_of(data, Place("draft"))
