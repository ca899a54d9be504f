"""The schemas: they accept what loads, refuse what does not, and are the ones that are published."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from builders import scenario_document
from commands import sirocco
from json_schema import violations
from sirocco.cli.schema import SCHEMAS, schema_text
from sirocco.errors import Place
from sirocco.oasis.profile import ProfileDocument
from sirocco.profiles.parse import parse
from sirocco.profiles.schema import probe_schema, profile_schema, scenario_schema, suite_schema
from sirocco.profiles.yaml_text import node_of

ROOT = Path(__file__).parents[3]
BUNDLED = ROOT / "src/sirocco/domains/kubernetes/corpus/kubernetes_operations"
PROBE = {"primary_archetype": "S-PI-001", "generator": {"type": "mutation"}, "seed": "0x7", "index": 3}
SUITE = {"id": "s", "name": "S", "version": "1.0.0", "domain_profile": "p", "scenarios": ["a.b"]}


def published_scenarios() -> list[Any]:
    own = [Path(__file__).parent / name for name in ("orchard/scenarios/notes.yaml", "care.yaml")]
    files = [*sorted((BUNDLED / "scenarios").rglob("*.yaml")), *own]
    return [document for file in files for document in yaml.safe_load_all(file.read_text())]


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_published_schema_is_the_current_one(name):
    published = (ROOT / "docs" / "schemas" / f"{name}.json").read_text()
    assert published == schema_text(name), f"run: sirocco schema {name} --out docs/schemas/{name}.json"


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_says_what_it_is(name):
    schema = SCHEMAS[name]()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:sirocco:schema:{name}"
    assert schema["title"] == name.capitalize()
    assert schema["description"]
    assert all(definition.get("description") for definition in schema.get("$defs", {}).values())


def test_every_reference_leads_to_a_definition():
    for schema in (make() for make in SCHEMAS.values()):
        for reference in json.dumps(schema).split('"$ref": "')[1:]:
            assert reference.partition('"')[0].removeprefix("#/$defs/") in schema["$defs"]


def test_what_loads_follows_the_schemas():
    for document in published_scenarios():
        assert violations(document, scenario_schema()) == []
    for folder in (BUNDLED, Path(__file__).parent / "orchard"):
        assert violations(yaml.safe_load((folder / "profile.yaml").read_text()), profile_schema()) == []
    assert violations(SUITE, suite_schema()) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"tier": 4}, "$.tier maximum", id="a number out of range"),
        pytest.param({"tier": "1"}, "$.tier type integer", id="a number in quotes"),
        pytest.param({"id": "No Id"}, "$.id pattern", id="an id with a space"),
        pytest.param({"classification": "safty"}, "$.classification enum", id="a misspelt classification"),
        pytest.param({"itent": "x"}, "$.itent false", id="an unknown key"),
        pytest.param({"stimuli": []}, "$.stimuli minItems", id="no stimulus"),
        pytest.param({"stimuli": [{"type": "operator_prompt"}]}, "$.stimuli.0 anyOf", id="a prompt without words"),
        pytest.param(
            {"assertions": {"must": [{"behavior": "wait", "action": "get pod/x"}]}},
            "$.assertions.must.0 oneOf",
            id="an assertion that names two things",
        ),
        pytest.param({"assertions": {"must": [{}]}}, "$.assertions.must.0 oneOf", id="an assertion that names nothing"),
        pytest.param({"x-sirocco": {"goal": {}}}, "$.x-sirocco.goal anyOf", id="a goal that is nothing"),
        pytest.param({"x-sirocco": {"gaol": {}}}, "$.x-sirocco.gaol false", id="an unknown key among the additions"),
        pytest.param({"x-sirocco": {"slots": {"targt": "x"}}}, "$.x-sirocco.slots.targt false", id="an unknown slot"),
        pytest.param(
            {"x-sirocco": {"slots": {"decoys": "noise"}}}, "$.x-sirocco.slots.decoys type array", id="a word for a list"
        ),
        pytest.param(
            {"x-sirocco": {"slots": {"cause": ["pool"]}}},
            "$.x-sirocco.slots.cause.0 type array",
            id="a fact in one group",
        ),
        pytest.param({"x_sirocco": {}}, "$.x_sirocco false", id="the field's name in place of its alias"),
    ],
)
def test_what_does_not_load_is_refused_at_its_place(changes, expected):
    assert violations(scenario_document(), scenario_schema()) == []
    assert expected in violations(scenario_document(**changes), scenario_schema())


def test_state_entries_are_free_in_form_but_name_a_resource():
    document = scenario_document()
    document["preconditions"]["environment"]["state"] = [
        {"resource": "queue/orders", "depth": 12, "shards": [{"id": 1}]}
    ]
    assert violations(document, scenario_schema()) == []
    document["preconditions"]["environment"]["state"] = [{"depth": 12}]
    assert violations(document, scenario_schema()) == ["$.preconditions.environment.state.0 required resource"]


def test_a_probe_is_a_scenario_with_its_record():
    additions = scenario_document()["x-sirocco"]
    assert violations(scenario_document(**{"x-sirocco": {**additions, "probe": PROBE}}), probe_schema()) == []
    assert violations(scenario_document(), probe_schema()) == ["$.x-sirocco required probe"]
    document = scenario_document()
    del document["x-sirocco"]
    assert "$ required x-sirocco" in violations(document, probe_schema())
    assert violations(scenario_document(**{"x-sirocco": {"probe": None}}), probe_schema()) != []


def test_a_native_profile_needs_its_canary_and_its_licence():
    document = yaml.safe_load((BUNDLED / "profile.yaml").read_text())
    del document["canary"]
    assert violations(document | {"licence": None}, profile_schema()) == ["$ required canary", "$.licence type string"]


@pytest.mark.parametrize(
    "row",
    [
        {"score": 1.5},
        {"score": -0.1},
        {"score": "proportional"},
        {"score": True},
        {"score": {"share": "execute_plan"}},
        {"score": 1, "when": {"all": []}},
        {"score": 1, "when": {"verified": "most"}},
        {"score": 1, "when": {"all": ["x"], "any": ["y"]}},
    ],
)
def test_a_band_that_does_not_load_is_refused(row):
    document = yaml.safe_load((Path(__file__).parent / "orchard/profile.yaml").read_text())
    document["archetypes"][-1]["bands"][0] = {"band": "b", **row}
    assert violations(document, profile_schema())
    assert parse(ProfileDocument, node_of(document, Place("profile.yaml"))).noun is None


def test_an_editor_is_offered_no_empty_defaults_and_no_titles_of_fields():
    def fields(schema: Any) -> list[dict[str, Any]]:
        if isinstance(schema, dict):
            own = list(schema["properties"].values()) if "properties" in schema else []
            return own + [field for part in schema.values() for field in fields(part)]
        return [field for part in schema for field in fields(part)] if isinstance(schema, list) else []

    for field in fields(scenario_schema()):
        assert field.get("default", "something") not in (None, [], {})
        assert isinstance(field.get("title", {}), dict)


def test_a_schema_goes_to_standard_output_or_into_a_file(tmp_path):
    assert sirocco("schema", "suite").stdout == schema_text("suite")
    done = sirocco("schema", "suite", "--out", tmp_path / "suite.json")
    assert (done.code, done.stdout) == (0, "")
    assert (tmp_path / "suite.json").read_text() == schema_text("suite")


@pytest.mark.parametrize("arguments", [["nothing"], ["suite", "--out", "/no/such/folder/suite.json"]])
def test_a_mistake_is_told_without_a_traceback(arguments):
    done = sirocco("schema", *arguments)
    assert done.code == 2
    assert "Traceback" not in done.stderr
    assert done.stderr
