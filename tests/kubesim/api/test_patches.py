"""The patch kinds as pure functions: what they make of a document, and what they refuse."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesim.discovery.catalogue import CURRENT_RELEASE, RECORDED_RELEASE
from kubesim.patching.json_patch import json_patch
from kubesim.patching.patches import (
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    apply_patch,
    merge_patch,
)
from kubesim.status import ApiError
from kubesim.types.definitions import definitions

TYPES = definitions(RECORDED_RELEASE)
POD, SERVICE, CONFIG_MAP = (TYPES.of_kind("", "v1", kind) for kind in ("Pod", "Service", "ConfigMap"))
DEPLOYMENT = TYPES.of_kind("apps", "v1", "Deployment")
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.text(max_size=3), JSON_VALUES, max_size=4)
DIRECTIVES = st.sampled_from(["$patch", "$retainKeys", "$setElementOrder/containers", "$deleteFromPrimitiveList/args"])


def pod(*items, **spec):
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": {"containers": list(items), **spec}}


def strategic(document, patch, type_=POD):
    return apply_patch(STRATEGIC_MERGE_PATCH, document, patch, type_)


def names(document, field="containers"):
    return [item["name"] for item in document["spec"].get(field) or ()]


def refusal(media_type, document, patch, type_=POD):
    with pytest.raises(ApiError) as error:
        apply_patch(media_type, document, patch, type_)
    return error.value


def outcome(media_type, document, patch):
    try:
        return apply_patch(media_type, document, patch, POD)
    except ApiError as error:
        return error


def test_a_merge_patch_merges_maps_replaces_lists_and_removes_nulls():
    document = {"labels": {"a": "1", "b": "2"}, "items": [1, 2], "kept": True}
    patch = {"labels": {"a": None, "c": "3"}, "items": [3], "new": {"x": None, "y": [None, 1]}}
    assert merge_patch(document, patch) == {
        "labels": {"b": "2", "c": "3"}, "items": [3], "kept": True, "new": {"y": [1]},
    }  # fmt: skip


@given(DOCUMENTS, DOCUMENTS.filter(lambda document: "None" not in repr(document)))
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
        ({"op": "add", "path": "/list/-1", "value": "x"}, {"list": [1, 2, "x"], "map": {"a": 1}}),
        ({"op": "replace", "path": "/list/0", "value": "x"}, {"list": ["x", 2], "map": {"a": 1}}),
        ({"op": "replace", "path": "/map/b", "value": 2}, {"list": [1, 2], "map": {"a": 1, "b": 2}}),
        ({"op": "remove", "path": "/list/0"}, {"list": [2], "map": {"a": 1}}),
        ({"op": "copy", "from": "/map/a", "path": "/map/z"}, {"list": [1, 2], "map": {"a": 1, "z": 1}}),
        ({"op": "move", "from": "/map/a", "path": "/z"}, {"list": [1, 2], "map": {}, "z": 1}),
        ({"op": "test", "path": "/map/a", "value": 1}, {"list": [1, 2], "map": {"a": 1}}),
        ({"op": "test", "path": "/map/none", "value": None}, {"list": [1, 2], "map": {"a": 1}}),
    ],
)
def test_json_patch_operations(operation, expected):
    assert json_patch({"list": [1, 2], "map": {"a": 1}}, [operation]) == expected


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/map/a", "value": 2},
        {"op": "test", "path": "/map/a", "value": True},
        {"op": "remove", "path": "/none"},
        {"op": "add", "path": "/none/deeper", "value": 1},
        {"op": "add", "path": "/list/9", "value": 1},
        {"op": "add", "path": "no slash", "value": 1},
        {"op": "jump", "path": "/map"},
        {"op": [], "path": "/map"},
        {"op": {}, "path": "/map"},
        {"op": "add"},
        {},
    ],
)
def test_a_json_patch_that_cannot_be_carried_out_is_refused_as_a_whole(operation):
    document = {"list": [1, 2], "map": {"a": 1}}
    error = refusal(JSON_PATCH, document, [{"op": "add", "path": "/x", "value": 1}, operation], None)
    assert (error.code, error.body["details"]) == (422, {})


def test_copies_do_not_grow_without_bounds():
    copies = [{"op": "copy", "from": "/data", "path": f"/data/{number}"} for number in range(40)]
    assert refusal(JSON_PATCH, {"data": {"x": "y" * 100}}, copies, None).code == 422


@pytest.mark.parametrize(
    ("media_type", "patch", "code", "message"),
    [
        (JSON_PATCH, b'{"data":{}}', 400, "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        (JSON_PATCH, b"[5]", 400, "json: cannot unmarshal number into Go value of type jsonpatch.Operation"),
        (JSON_PATCH, b"[", 400, "unexpected end of JSON input"),
        (MERGE_PATCH, b"{", 500, "Invalid JSON Patch"),
        (MERGE_PATCH, b"null", 500, "Invalid JSON Patch"),
        (STRATEGIC_MERGE_PATCH, b"{", 400, "unexpected EOF"),
        (
            STRATEGIC_MERGE_PATCH,
            b"[]",
            400,
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
    ],
)
def test_what_is_no_patch_is_refused(media_type, patch, code, message):
    error = refusal(media_type, pod(), patch)
    assert (error.code, str(error)) == (code, message)


def test_a_merge_patch_whose_result_is_no_object_shows_it_and_says_why():
    document = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "creationTimestamp": None}}
    error = refusal(MERGE_PATCH, document, {"data": {"b": 5, "a": "x"}}, CONFIG_MAP)
    shown = (
        '{"apiVersion":"v1","data":{"a":"x","b":5},"kind":"ConfigMap","metadata":{"name":"a","creationTimestamp":null}}'
    )
    problem = (
        'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.TypeMeta: Kind: Data: ReadString: expects " or n, but found 5, error'
    )
    assert error.code == 422
    assert str(error).startswith(f' "" is invalid: patch: Invalid value: {json.dumps(shown)}: {problem}')


def test_a_patch_cannot_make_an_object_another_kind():
    assert 'no kind "Nope" is registered for version "v1"' in str(refusal(MERGE_PATCH, pod(), {"kind": "Nope"}))
    assert strategic(pod(), {"kind": "Nope"})["kind"] == "Pod"


def test_strategic_merge_changes_adds_and_deletes_containers_by_name():
    document = pod({"name": "app", "image": "a:1", "env": [{"name": "X", "value": "1"}]})
    changed = strategic(document, {"spec": {"containers": [{"name": "app", "image": "a:2"}]}})
    assert changed["spec"]["containers"][0]["image"] == "a:2"
    assert changed["spec"]["containers"][0]["env"] == [{"name": "X", "value": "1"}]
    gone = strategic(changed, {"spec": {"containers": [{"name": "app", "$patch": "delete"}, {"name": "b"}]}})
    assert names(gone) == ["b"]


def test_a_new_item_of_a_strategic_merge_patch_comes_before_the_old_ones():
    assert names(strategic(pod({"name": "old"}), {"spec": {"containers": [{"name": "new"}]}})) == ["new", "old"]


def test_items_of_a_patch_are_woven_into_the_old_order():
    document = pod(*({"name": name} for name in "abcd"))
    patch = {"spec": {"containers": [{"name": "n"}, {"name": "c"}]}}
    assert names(strategic(document, patch)) == ["n", "a", "b", "c", "d"]


def test_an_order_that_a_patch_asks_for_is_kept():
    order = [{"name": name} for name in ("c", "new", "a")]
    patch = {"spec": {"$setElementOrder/containers": order, "containers": [{"name": "new"}]}}
    assert names(strategic(pod({"name": "a"}, {"name": "b"}, {"name": "c"}), patch)) == ["b", "c", "new", "a"]


def test_strategic_merge_uses_the_key_of_each_list():
    box = {
        "name": "c",
        "ports": [{"containerPort": 80, "name": "a"}],
        "volumeMounts": [{"mountPath": "/a", "name": "x"}],
    }
    patch = {"ports": [{"containerPort": 80, "name": "b"}], "volumeMounts": [{"mountPath": "/a", "name": "y"}]}
    done = strategic(pod(box), {"spec": {"containers": [{"name": "c", **patch}]}})["spec"]["containers"][0]
    assert done["ports"] == [{"containerPort": 80, "name": "b"}]
    assert done["volumeMounts"] == [{"mountPath": "/a", "name": "y"}]
    service = {"spec": {"ports": [{"port": 80, "name": "http", "targetPort": 1}]}}
    done = strategic(service, {"spec": {"ports": [{"port": 80, "name": "web"}]}}, SERVICE)
    assert done["spec"]["ports"] == [{"port": 80, "name": "web", "targetPort": 1}]


def test_strategic_merge_replaces_other_lists_and_obeys_directives():
    document = pod({"name": "c", "args": ["a", "b"]}, nodeSelector={"a": "1"})
    document["metadata"] |= {"finalizers": ["x/a", "x/b"]}
    assert strategic(document, {"metadata": {"finalizers": ["x/c"]}})["metadata"]["finalizers"] == ["x/c", "x/a", "x/b"]
    deletion = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x/a"]}}
    assert strategic(document, deletion)["metadata"]["finalizers"] == ["x/b"]
    replacing = {"spec": {"nodeSelector": {"$patch": "replace", "b": "2"}}}
    assert strategic(document, replacing)["spec"]["nodeSelector"] == {"b": "2"}
    args = strategic(document, {"spec": {"containers": [{"name": "c", "args": ["z"]}]}})["spec"]["containers"][0][
        "args"
    ]
    assert args == ["z"]


def test_only_the_keys_that_a_patch_retains_stay():
    document = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    assert strategic(document, patch, DEPLOYMENT)["spec"]["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        ({"containers": [{"image": "x"}]}, 500, "map: map[image:x] does not contain declared merge key: name"),
        ({"containers": [{"name": "a", "$patch": "odd"}]}, 500, "unknown patch type: odd in map: map[$patch:odd name:a]"),
        ({"containers": ["x"]}, 500, "list element types are not identical: [[map[name:a]] [x]]"),
        ({"containers": [{"name": "a", "$retainKeys": "x"}]}, 400, "invalid patch format of retainKeys"),
        ({"nodeName": 5}, 422, ' "" is invalid: patch: Invalid value: "map[spec:map[nodeName:5]]": cannot convert int64 to string'),
        ({"priority": "x"}, 422, ' "" is invalid: patch: Invalid value: "map[spec:map[priority:x]]": unrecognized type: int32'),
        ({"volumes": "x"}, 422, ' "" is invalid: patch: Invalid value: "map[spec:map[volumes:x]]": cannot restore slice from string'),
    ],
)  # fmt: skip
def test_a_strategic_merge_patch_that_makes_no_sense_is_refused(patch, code, message):
    error = refusal(STRATEGIC_MERGE_PATCH, pod({"name": "a"}), {"spec": patch})
    assert (error.code, str(error)) == (code, message)


def test_nulls_in_what_a_patch_adds_were_kept_once():
    added = {"metadata": {"annotations": {"a": None, "b": "1"}}}
    assert strategic(pod(), added)["metadata"]["annotations"] == {"a": "", "b": "1"}
    current = definitions(CURRENT_RELEASE).of_kind("", "v1", "Pod")
    assert strategic(pod(), added, current)["metadata"]["annotations"] == {"b": "1"}


def test_a_patch_leaves_its_document_and_itself_alone():
    document = pod({"name": "a", "env": [{"name": "X"}]})
    patch = {
        "spec": {"$setElementOrder/containers": [{"name": "a"}], "containers": [{"name": "a", "$retainKeys": ["name"]}]}
    }
    before = repr((document, patch))
    strategic(document, patch)
    assert repr((document, patch)) == before


@settings(max_examples=2 * settings.default.max_examples)
@given(
    st.dictionaries(
        st.sampled_from(["containers", "volumes", "nodeSelector", "nodeName", "hostAliases"]) | DIRECTIVES,
        JSON_VALUES
        | st.lists(
            st.dictionaries(st.sampled_from(["name", "image", "env", "ip"]) | DIRECTIVES, JSON_VALUES), max_size=3
        ),
        max_size=3,
    ),
    st.sampled_from([MERGE_PATCH, STRATEGIC_MERGE_PATCH]),
)
def test_any_patch_gives_a_pod_or_a_refusal(spec, media_type):
    document = pod({"name": "a", "args": ["x"]}, volumes=[{"name": "v", "emptyDir": {}}], nodeSelector={"a": "b"})
    for patch in ({"spec": spec}, spec):
        done = outcome(media_type, document, patch)
        assert done.code in {400, 422, 500} if isinstance(done, ApiError) else done["kind"] == "Pod"


@given(st.lists(st.fixed_dictionaries({}, optional={
    "op": st.sampled_from(["add", "remove", "replace", "test", "copy", "move", 5]),
    "path": st.sampled_from(["/spec/containers/0", "/spec/containers/-", "/metadata/name", "/", "", 5, "/kind"]),
    "from": st.sampled_from(["/spec/containers/0/name", "/spec", "/x", None]),
    "value": JSON_VALUES,
}), max_size=3))  # fmt: skip
def test_any_json_patch_gives_a_pod_or_a_refusal(operations):
    done = outcome(JSON_PATCH, pod({"name": "a"}), json.dumps(operations).encode())
    assert done.code in {400, 422} if isinstance(done, ApiError) else done["kind"] == "Pod"
