"""Custom resources: a definition is checked, its resource is served, and its schema decides what objects hold."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesim import Cluster
from kubesim.custom_definitions import marked_for_deletion, settle_definitions
from kubesim.discovery.catalogue import (
    CURRENT_RELEASE,
    Resource,
    catalogue,
    is_established,
)
from kubesim.kinds.defaults import fill_defaults
from kubesim.kinds.strategy import prepared_for_create, prepared_for_update
from kubesim.kinds.validation import creation_causes
from kubesim.kinds.validation.schemas import schema_causes
from kubesim.store import Ids, Store

NOW = "2030-01-01T00:00:00Z"
SERVED = catalogue(CURRENT_RELEASE)
DEFINITIONS = SERVED.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
SPEC = {
    "type": "object", "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 5},
        "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "maxItems": 2},
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "port": {"x-kubernetes-int-or-string": True},
    },
}  # fmt: skip
SCHEMA = {"type": "object", "properties": {"spec": SPEC, "status": {"type": "object"}}}
VERSION = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA},
           "subresources": {"status": {}}}  # fmt: skip
ROW = Resource("widgets.example.com", "widgets", "Widget", "example.com", custom=VERSION, stored="example.com/v1",
               subresources=DEFINITIONS.subresources)  # fmt: skip


def definition(**spec):
    names = {"plural": "widgets", "kind": "Widget"}
    body = {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [VERSION], **spec}
    obj = {"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1", "spec": body,
           "metadata": {"name": "widgets.example.com", "uid": "u-1"}}  # fmt: skip
    return prepared_for_create(DEFINITIONS, fill_defaults(DEFINITIONS, obj))


def widget(**spec):
    metadata = {"name": "w", "namespace": "shop", "uid": "u-2"}
    return {"kind": "Widget", "apiVersion": "example.com/v1", "metadata": metadata, "spec": spec}


def test_a_definition_gets_its_other_names_and_its_first_status():
    made = definition()
    assert made["spec"]["names"] == {
        "plural": "widgets",
        "kind": "Widget",
        "singular": "widget",
        "listKind": "WidgetList",
    }
    assert made["status"] == {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]}
    assert creation_causes(DEFINITIONS, made) == []


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({"scope": "Everywhere"}, ["spec.scope"]),
        ({"group": "example"}, ["metadata.name", "spec.group"]),
        ({"versions": [{**VERSION, "schema": None}]}, ["spec.versions[0].schema.openAPIV3Schema"]),
        ({"versions": [{**VERSION, "schema": {"openAPIV3Schema": {"properties": {"spec": {}}}}}]},
         ["spec.validation.openAPIV3Schema.properties[spec].type", "spec.validation.openAPIV3Schema.type"]),
    ],
)  # fmt: skip
def test_a_bad_definition_is_refused_where_it_is_bad(spec, fields):
    assert [cause.field for cause in creation_causes(DEFINITIONS, definition(**spec))] == fields


def test_a_stored_definition_is_served_and_goes_with_its_objects():
    store = Store(Ids(1))
    store.write(DEFINITIONS, definition())
    settle_definitions(store, SERVED, NOW)
    (found,) = store.items(DEFINITIONS.noun)
    assert is_established(found)
    assert found["status"]["acceptedNames"]["kind"] == "Widget"
    store.write(ROW, widget(size=1))
    store.write(DEFINITIONS, marked_for_deletion(found, NOW))
    settle_definitions(store, SERVED, NOW)
    assert store.items(DEFINITIONS.noun) == []
    assert store.items(ROW.noun) == []


def test_a_schema_prunes_what_it_does_not_know_and_fills_in_defaults():
    kept = fill_defaults(ROW, widget(size=1, junk=2, any={"x": {"y": 1}}, tags=None))
    assert kept["spec"] == {"size": 1, "any": {"x": {"y": 1}}, "color": "red"}
    assert kept["metadata"] == widget()["metadata"]


def test_a_good_object_has_no_problem():
    assert creation_causes(ROW, widget(size=5, tags=["a"], port="http", color="blue")) == []


@pytest.mark.parametrize(
    ("spec", "field", "words"),
    [
        ({}, "spec.size", "Required value"),
        ({"size": 9}, "spec.size", "Invalid value: 9: spec.size in body should be less than or equal to 5"),
        ({"size": "x"}, "spec.size", 'Invalid value: "string": spec.size in body must be of type integer: "string"'),
        ({"size": 1, "color": "green"}, "spec.color", 'Unsupported value: "green": supported values: "red", "blue"'),
        ({"size": 1, "tags": ["A"]}, "spec.tags", "Invalid value: \"A\": spec.tags in body should match '^[a-z]+$'"),
        ({"size": 1, "tags": ["a", "b", "c"]}, "spec.tags",
         "Too many: 0: must have at most 2 items"),
        ({"size": 1, "port": True}, "spec.port",
         'Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"'),
    ],
)  # fmt: skip
def test_a_bad_object_is_refused_in_the_librarys_words(spec, field, words):
    causes = creation_causes(ROW, widget(**spec))
    assert [(cause.field, cause.message) for cause in causes] == [(field, words)]


def test_an_object_of_another_kind_is_refused():
    causes = creation_causes(ROW, {**widget(size=1), "kind": "Gadget"})
    assert [cause.message for cause in causes] == ['Invalid value: "Gadget": must be Widget']


def test_status_has_a_path_of_its_own_where_the_definition_says_so():
    made = prepared_for_create(ROW, {**widget(size=1), "status": {"phase": "New"}})
    assert "status" not in made
    assert made["metadata"]["generation"] == 1
    sent = {**made, "spec": {"size": 2}, "status": {"phase": "Ready"}}
    assert "status" not in prepared_for_update(ROW, sent, made)
    reported = prepared_for_update(ROW, sent, made, "status")
    assert (reported["spec"], reported["status"]) == ({"size": 1}, {"phase": "Ready"})
    plain = replace(ROW, subresources=())
    assert prepared_for_update(plain, sent, made)["status"] == {"phase": "Ready"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["size", "tags", "any", "x"]), inner),
    max_leaves=8,
)


@given(json_values)
def test_no_value_can_break_the_check_against_a_schema(value):
    assert isinstance(schema_causes(SCHEMA, {"spec": value}), list)
    assert isinstance(fill_defaults(ROW, {**widget(), "spec": value}), dict)


def test_the_versions_of_a_definition_are_shown_in_full_when_none_is_stored():
    causes = creation_causes(DEFINITIONS, definition(versions=[{**VERSION, "storage": False}]))
    assert causes[0].field == "spec.versions"
    assert '[{"Name":"v1","Served":true,"Storage":false,"Deprecated":false' in causes[0].message


@pytest.mark.parametrize(
    ("subresources", "owned"), [({}, {"f:spec", "f:status"}), ({"subresources": {"status": {}}}, {"f:spec"})]
)
def test_a_status_that_has_no_path_of_its_own_is_owned_like_any_field(subresources, owned):
    cluster = Cluster()
    version = {key: value for key, value in VERSION.items() if key != "subresources"} | subresources
    named = {"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1"}
    spec = {
        "group": "example.com",
        "names": {"plural": "widgets", "kind": "Widget"},
        "scope": "Namespaced",
        "versions": [version],
    }
    body = {**named, "metadata": {"name": "widgets.example.com"}, "spec": spec}
    assert cluster.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body=body).status == 201
    made = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w"},
        "spec": {"size": 1},
        "status": {},
    }
    answer = cluster.request("POST", "/apis/example.com/v1/namespaces/default/widgets", body=made)
    assert answer.status == 201
    assert set(answer.body["metadata"]["managedFields"][0]["fieldsV1"]) == owned
