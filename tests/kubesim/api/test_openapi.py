"""The description of the API that kubectl explain and apply read."""

import json

import pytest

from kubesim.discovery.catalogue import (
    CURRENT_RELEASE,
    RECORDED_RELEASE,
    ServedCatalogue,
    catalogue,
)
from kubesim.discovery.openapi import answer
from kubesim.types.definitions import definitions

JSON = "application/json"


def document(path, served=None):
    text, content_type = answer(served or catalogue(CURRENT_RELEASE), definitions(CURRENT_RELEASE), path, JSON)
    assert content_type == JSON
    return json.loads(text)


def references(value):
    if isinstance(value, dict):
        for key, part in value.items():
            if key == "$ref" and isinstance(part, str):
                yield part
            else:
                yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def test_the_index_leads_to_a_document_of_every_group_and_version():
    places = document("/openapi/v3")["paths"]
    assert {"api/v1", "apis/apps/v1"} <= places.keys()
    for place, entry in places.items():
        assert entry["serverRelativeURL"].startswith(f"/openapi/v3/{place}?hash=")
        assert document(entry["serverRelativeURL"])["openapi"] == "3.0.0"


@pytest.mark.parametrize("path", ["/openapi/v3/api/v1", "/openapi/v3/apis/apps/v1", "/openapi/v2"])
def test_every_reference_leads_somewhere_and_no_type_is_null(path):
    found = document(path)
    schemas = found["definitions"] if path.endswith("v2") else found["components"]["schemas"]
    place = "#/definitions/" if path.endswith("v2") else "#/components/schemas/"
    assert {reference.removeprefix(place) for reference in references(found)} <= schemas.keys()
    assert '"null"' not in json.dumps(found)


def test_writes_list_the_parameter_by_which_clients_leave_validation_to_the_server():
    paths = document("/openapi/v3/apis/apps/v1")["paths"]
    for place, method in (("deployments", "post"), ("deployments/{name}", "patch"), ("deployments/{name}", "put")):
        operation = paths[f"/apis/apps/v1/namespaces/{{namespace}}/{place}"][method]
        assert "fieldValidation" in {parameter["name"] for parameter in operation["parameters"]}
        assert operation["x-kubernetes-group-version-kind"]["kind"] == "Deployment"


def test_merge_keys_are_kept_for_clients_that_compute_patches():
    spec = document("/openapi/v3/api/v1")["components"]["schemas"]["io.k8s.api.core.v1.PodSpec"]
    assert spec["properties"]["containers"]["x-kubernetes-patch-merge-key"] == "name"


def test_a_custom_resource_is_described_by_its_definition():
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"enum": ["s", "l"]}}}},
    }
    names = {"plural": "widgets", "kind": "Widget"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    stored = {
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }
    served = ServedCatalogue(catalogue(CURRENT_RELEASE)).current([stored])
    assert "apis/example.com/v1" in document("/openapi/v3", served)["paths"]
    shown = document("/openapi/v3/apis/example.com/v1", served)["components"]["schemas"]["com.example.v1.Widget"]
    assert shown["properties"]["spec"]["properties"]["size"]["enum"] == ["s", "l"]
    assert shown["x-kubernetes-group-version-kind"] == [{"group": "example.com", "version": "v1", "kind": "Widget"}]


def test_an_old_client_that_asks_for_protobuf_gets_a_type_that_it_can_parse():
    accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
    text, content_type = answer(catalogue(CURRENT_RELEASE), definitions(CURRENT_RELEASE), "/openapi/v2", accept)
    assert text == ""
    assert "@" not in content_type


@pytest.mark.parametrize(
    "path", ["/openapi/v3/api/v2", "/openapi/v3/apis/apps", "/openapi/v3/apis/v1", "/openapi", "/openapi/v3/x"]
)
def test_other_paths_are_not_described(path):
    assert answer(catalogue(CURRENT_RELEASE), definitions(CURRENT_RELEASE), path, JSON) is None


def test_the_recorded_release_knew_no_version_3():
    assert answer(catalogue(RECORDED_RELEASE), definitions(RECORDED_RELEASE), "/openapi/v3", JSON) is None
