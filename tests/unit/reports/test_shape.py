"""Whether a document has the shape of a schema, in words."""

import pytest

from sirocco.reports.shape import dotted, shape_problems

SCHEMA = {
    "type": "object",
    "required": ["name", "parts"],
    "properties": {
        "name": {"type": "string"},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}},
        "version": {"const": 2},
        "digest": {"type": "string", "pattern": "^sha256:"},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "status": {"anyOf": [{"enum": ["PASS", "FAIL"]}, {"type": "null"}]},
    },
    "additionalProperties": {"type": "number"},
    "$defs": {"Part": {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}}}},
}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"name": "a", "parts": [{"size": 1, "more": "x"}], "status": None, "weight": 0.5}, []),
        ([], ["the document is not a mapping"]),
        ({"parts": []}, ["name is missing"]),
        ({"name": 1, "parts": {}}, ["name is not a text", "parts is not a list"]),
        ({"name": "a", "parts": [{"size": 1}, {}]}, ["parts[1].size is missing"]),
        ({"name": "a", "parts": [{"size": True}]}, ["parts[0].size is not a whole number"]),
        ({"name": "a", "parts": [], "status": "MAYBE"}, ["status is none of PASS, FAIL"]),
        ({"name": "a", "parts": [], "weight": "heavy"}, ["weight is not a number"]),
        ({"name": "a", "parts": [], "version": 3}, ["version is not 2"]),
        ({"name": "a", "parts": [], "digest": "md5:1"}, ["digest does not have the form ^sha256:"]),
        ({"name": "a", "parts": [], "share": 1.5}, ["share is above 1"]),
        ({"name": "a", "parts": [], "share": float("nan")}, ["share is below 0", "share is above 1"]),
    ],
)
def test_every_missing_key_and_every_value_of_another_kind_is_named_with_its_place(document, said):
    assert [f"{dotted(path)} {problem}" for path, problem in shape_problems(document, SCHEMA)] == said
