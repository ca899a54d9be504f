"""The patch kinds, as pure functions and through the API."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.providers.simulator.kubernetes.patches import json_patch, merge_patch, strategic_merge
from sirocco.providers.simulator.kubernetes.status import ApiError

JSON_VALUES = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.text(max_size=3), JSON_VALUES, max_size=4)


def containers(*items):
    return {"spec": {"containers": list(items)}}


def test_a_merge_patch_merges_maps_replaces_lists_and_removes_nulls():
    document = {"labels": {"a": "1", "b": "2"}, "items": [1, 2], "kept": True}
    patch = {"labels": {"a": None, "c": "3"}, "items": [3]}
    assert merge_patch(document, patch) == {"labels": {"b": "2", "c": "3"}, "items": [3], "kept": True}


@given(DOCUMENTS, DOCUMENTS)
def test_a_merge_patch_without_nulls_is_idempotent_and_leaves_its_input_alone(document, patch):
    before = repr(document)
    once = merge_patch(document, patch)
    assert merge_patch(once, patch) == once
    assert merge_patch(document, {}) == document
    assert repr(document) == before


@given(DOCUMENTS)
def test_a_json_patch_can_build_any_document_and_take_it_apart_again(document):
    pointers = {key: "/" + key.replace("~", "~0").replace("/", "~1") for key in document}
    built = json_patch({}, [{"op": "add", "path": pointers[key], "value": value} for key, value in document.items()])
    assert built == document
    assert json_patch(built, [{"op": "remove", "path": pointers[key]} for key in document]) == {}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/list/1", "value": "x"}, {"list": [1, "x", 2], "map": {"a": 1}}),
        ({"op": "add", "path": "/list/-", "value": "x"}, {"list": [1, 2, "x"], "map": {"a": 1}}),
        ({"op": "replace", "path": "/list/0", "value": "x"}, {"list": ["x", 2], "map": {"a": 1}}),
        ({"op": "replace", "path": "/map/b", "value": 2}, {"list": [1, 2], "map": {"a": 1, "b": 2}}),
        ({"op": "remove", "path": "/list/0"}, {"list": [2], "map": {"a": 1}}),
        ({"op": "copy", "from": "/map/a", "path": "/map/z"}, {"list": [1, 2], "map": {"a": 1, "z": 1}}),
        ({"op": "move", "from": "/map/a", "path": "/z"}, {"list": [1, 2], "map": {}, "z": 1}),
        ({"op": "test", "path": "/map/a", "value": 1}, {"list": [1, 2], "map": {"a": 1}}),
    ],
)
def test_json_patch_operations(operation, expected):
    assert json_patch({"list": [1, 2], "map": {"a": 1}}, [operation]) == expected


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/map/a", "value": 2},
        {"op": "remove", "path": "/none"},
        {"op": "add", "path": "/none/deeper", "value": 1},
        {"op": "add", "path": "/list/9", "value": 1},
        {"op": "add", "path": "no slash", "value": 1},
        {"op": "jump", "path": "/map"},
        {"op": "add", "path": "/map"},
        "text",
    ],
)
def test_a_json_patch_that_cannot_be_carried_out_is_refused_as_a_whole(operation):
    with pytest.raises(ApiError) as refused:
        json_patch({"list": [1, 2], "map": {"a": 1}}, [{"op": "add", "path": "/x", "value": 1}, operation])
    assert refused.value.code == 422


def test_strategic_merge_changes_adds_and_deletes_containers_by_name():
    document = containers({"name": "app", "image": "a:1", "env": [{"name": "X", "value": "1"}]})
    changed = strategic_merge(document, containers({"name": "app", "image": "a:2"}, {"name": "side", "image": "s:1"}))
    assert changed == containers(
        {"name": "app", "image": "a:2", "env": [{"name": "X", "value": "1"}]}, {"name": "side", "image": "s:1"}
    )
    assert strategic_merge(changed, containers({"name": "app", "$patch": "delete"})) == containers(
        {"name": "side", "image": "s:1"}
    )


def test_strategic_merge_uses_the_key_of_each_list():
    document = {"ports": [{"port": 80, "name": "http"}], "volumeMounts": [{"mountPath": "/a", "name": "x"}]}
    patch = {"ports": [{"port": 80, "name": "web"}], "volumeMounts": [{"mountPath": "/b", "name": "y"}]}
    assert strategic_merge(document, patch) == {
        "ports": [{"port": 80, "name": "web"}],
        "volumeMounts": [{"mountPath": "/a", "name": "x"}, {"mountPath": "/b", "name": "y"}],
    }
    by_container_port = {"ports": [{"containerPort": 80}, {"containerPort": 90}]}
    assert strategic_merge({"ports": [{"containerPort": 80, "name": "a"}]}, by_container_port) == {
        "ports": [{"containerPort": 80, "name": "a"}, {"containerPort": 90}]
    }


def test_strategic_merge_replaces_other_lists_and_obeys_directives():
    assert strategic_merge({"args": ["a", "b"]}, {"args": ["c"]}) == {"args": ["c"]}
    assert strategic_merge({"finalizers": ["a"]}, {"finalizers": ["b"]}) == {"finalizers": ["a", "b"]}
    assert strategic_merge({"finalizers": ["a", "b"]}, {"$deleteFromPrimitiveList/finalizers": ["a"]}) == {
        "finalizers": ["b"]
    }
    assert strategic_merge({"labels": {"a": "1"}}, {"labels": {"$patch": "replace", "b": "2"}}) == {
        "labels": {"b": "2"}
    }
    ordered = {"$setElementOrder/env": [{"name": "B"}, {"name": "A"}], "env": [{"name": "B", "value": "2"}]}
    assert strategic_merge({"env": [{"name": "A", "value": "1"}]}, ordered)["env"] == [
        {"name": "B", "value": "2"},
        {"name": "A", "value": "1"},
    ]


def test_strategic_merge_without_the_merge_key_is_refused():
    with pytest.raises(ApiError) as refused:
        strategic_merge(containers({"name": "app"}), containers({"image": "x"}))
    assert str(refused.value) == "map: map[image:x] does not contain declared merge key: name"


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/merge-patch+json", {"spec": {"replicas": 3}}),
        ("application/strategic-merge-patch+json", {"spec": {"replicas": 3}}),
        ("application/json-patch+json", [{"op": "replace", "path": "/spec/replicas", "value": 3}]),
        (
            "application/apply-patch+yaml",
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 3}},
        ),
    ],
)
def test_each_patch_kind_scales_a_deployment(provisioned, content_type, body):
    live = provisioned({"resource": "deployment/web"})
    path = "/apis/apps/v1/namespaces/shop/deployments/web"
    assert live.send("PATCH", path, body, content_type=content_type).status == 200
    assert len(live.names("pod")) == 3


def test_an_apply_patch_creates_what_is_not_there(provisioned):
    live = provisioned()
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}, "data": {"a": "1"}}
    path, kind = "/api/v1/namespaces/shop/configmaps/new", {"content_type": "application/apply-patch+yaml"}
    assert live.send("PATCH", path, body, **kind).status == 201
    assert live.send("PATCH", path, {**body, "apiVersion": "v2"}, **kind).status == 400
    assert live.send("PATCH", path, [], **kind).status == 400
