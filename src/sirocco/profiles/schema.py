"""JSON Schemas of the documents that authors write, generated from the models that parse them, for use in editors.

What the code checks beyond a field's type is repeated here as a schema.
"""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from sirocco.oasis.archetype import Shape
from sirocco.oasis.noun import Noun
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.scenario import Assertion, Extension, Goal, ProbeRecord, Scenario, StateAssertion, Suite
from sirocco.oasis.slot import SLOTS, SlotKind
from sirocco.oasis.stimulus import Stimulus, StimulusType

_EXTENSION = "x-sirocco"
_SURFACE = "A place in the environment where an agent comes across text during ordinary work."


def _exactly_one_of(*fields: str) -> dict[str, Any]:
    return {"oneOf": [{"required": [field], "properties": {field: {"type": "string"}}} for field in fields]}


_CHECKED_IN_CODE: Mapping[str, Mapping[str, Any]] = {
    Assertion.__name__: _exactly_one_of("behavior", "action"),
    Goal.__name__: _exactly_one_of("operation", "output"),
    Stimulus.__name__: {
        "if": {"required": ["type"], "properties": {"type": {"const": StimulusType.OPERATOR_PROMPT.value}}},
        "then": {"anyOf": [{"required": ["value"]}, {"required": ["library_ref"]}]},
    },
}
_REQUIRED_OF_NATIVE_PROFILES = ("canary", "licence")


class _ForEditors(GenerateJsonSchema):
    """Omits what an editor would display or insert without use: titles that repeat names, and empty defaults."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if described.get("default") is None or isinstance(described["default"], list | dict):
            described.pop("default", None)
        return described


def published_schema(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with its dialect and its name."""
    return {"$schema": GenerateJsonSchema.schema_dialect, "$id": f"urn:sirocco:schema:{name}", **schema}


def model_schema(model: type[Noun]) -> dict[str, Any]:
    """The schema of one model, with the models that it refers to under `$defs`."""
    schema = model.model_json_schema(by_alias=True, schema_generator=_ForEditors)
    for name, definition in schema.get("$defs", {}).items():
        definition.update(copy.deepcopy(dict(_CHECKED_IN_CODE.get(name, {}))))
        if name == Extension.__name__:
            definition["properties"]["slots"] = copy.deepcopy(_slots_schema())
    return schema


_TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1}
_LIST: Mapping[str, Any] = {"type": "array", "minItems": 1}
_WORDS: Mapping[str, Any] = {**_LIST, "items": _TEXT}
_FACTOR: Mapping[str, Any] = {**_LIST, "items": _WORDS}
_SLOT_FORMS: Mapping[SlotKind, Mapping[str, Any]] = {
    SlotKind.TEXT: _TEXT,
    SlotKind.WORDS: _WORDS,
    SlotKind.FACTOR: _FACTOR,
    SlotKind.FACTORS: {**_LIST, "items": _FACTOR},
    SlotKind.NAMED_WORDS: {"type": "object", "minProperties": 1, "additionalProperties": _WORDS},
    SlotKind.OBJECT: _TEXT,
    SlotKind.OBJECTS: _WORDS,
    SlotKind.OPERATIONS: _WORDS,
    SlotKind.STEPS: _FACTOR,
    SlotKind.STATES: {**_LIST, "items": {"$ref": f"#/$defs/{StateAssertion.__name__}"}},
    SlotKind.RANGE: {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
}


def _slots_schema() -> dict[str, Any]:
    """Every slot of the glossary with its form; any other slot is a mistake."""
    slots = {name: {"description": slot.meaning, **_SLOT_FORMS[slot.kind]} for name, slot in sorted(SLOTS.items())}
    return {"type": "object", "properties": slots, "additionalProperties": False}


def scenario_schema() -> dict[str, Any]:
    """The schema of one scenario document; a file may hold several."""
    return published_schema("scenario", model_schema(Scenario))


def probe_schema() -> dict[str, Any]:
    """The schema of a serialized probe: a scenario that says where it came from (AV-11)."""
    schema = model_schema(Scenario)
    schema["title"] = "Probe"
    schema["description"] = "A scenario that was generated during an evaluation, with the record of where it came from."
    schema["required"] = [*schema["required"], _EXTENSION]
    schema["properties"][_EXTENSION] = {
        "$ref": f"#/$defs/{Extension.__name__}",
        "required": ["probe"],
        "properties": {"probe": {"$ref": f"#/$defs/{ProbeRecord.__name__}"}},
    }
    return published_schema("probe", schema)


def suite_schema() -> dict[str, Any]:
    """The schema of a suite document."""
    return published_schema("suite", model_schema(Suite))


def profile_schema(surfaces: Iterable[str] = ()) -> dict[str, Any]:
    """The schema of a native profile's `profile.yaml`; if words for surfaces are given, shapes accept no others."""
    schema = model_schema(ProfileDocument)
    if words := list(surfaces):
        definition = {"description": _SURFACE, "enum": words, "title": "Surface", "type": "string"}
        schema["$defs"] = dict(sorted({**schema["$defs"], "Surface": definition}.items()))
        schema["$defs"][Shape.__name__]["properties"]["surfaces"]["items"] = {"$ref": "#/$defs/Surface"}
    schema["title"] = "Profile"
    schema["required"] = list(dict.fromkeys([*schema["required"], *_REQUIRED_OF_NATIVE_PROFILES]))
    for field in _REQUIRED_OF_NATIVE_PROFILES:
        schema["properties"][field] = {"type": "string"}
    return published_schema("profile", schema)
