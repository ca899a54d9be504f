"""Managed fields: sets of fields, and who owns what after each write."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesim import Cluster
from kubesim.bodies.normalization import normalize_value
from kubesim.fields import custom_type, update_owners
from kubesim.fields.sets import (
    Fields,
    decode_fields,
    difference,
    elements,
    has_path,
    intersection,
    is_member,
    key_element,
    text_of,
    union,
    value_element,
)
from kubesim.fields.structures import Structure, structure_of
from kubesim.fields.values import value_at
from kubesim.status import Json
from kubesim.types.definitions import Type, definitions

Paths = frozenset[tuple[str, ...]]

ELEMENTS = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"s"', "i:0"])
PATHS: st.SearchStrategy[Paths] = st.frozensets(st.lists(ELEMENTS, min_size=1, max_size=3).map(tuple), max_size=6)


def as_set(paths: Paths) -> Fields:
    """The encoding, built one member at a time."""
    fields: Fields = {}
    for path in paths:
        node: Fields = {}
        for key in reversed(path):
            node = {key: node}
        fields = union(fields, node)
    return fields


def members(fields: Fields, prefix: tuple[str, ...] = ()) -> Paths:
    found: set[tuple[str, ...]] = set()
    for key in elements(fields):
        if is_member(fields[key]):
            found.add((*prefix, key))
        found |= members(fields[key], (*prefix, key))
    return frozenset(found)


@given(PATHS)
def test_the_encoding_holds_exactly_the_members(paths: Paths) -> None:
    fields = as_set(paths)
    assert members(fields) == paths
    assert all(has_path(fields, path) for path in paths)
    assert decode_fields(fields) == fields


@given(PATHS, PATHS)
def test_the_operations_are_those_of_sets_of_paths(one: Paths, other: Paths) -> None:
    left, right = as_set(one), as_set(other)
    for operation, expected in ((union, one | other), (difference, one - other), (intersection, one & other)):
        found = operation(left, right)
        assert members(found) == expected
        assert found == as_set(expected), "there is one encoding of a set"


def test_elements_are_written_as_the_server_writes_them() -> None:
    assert key_element(("containerPort", "protocol"), (80, "TCP")) == 'k:{"containerPort":80,"protocol":"TCP"}'
    assert value_element("a<b>&c") == 'v:"a\\u003cb\\u003e\\u0026c"'
    assert text_of(("f:spec", 'k:{"name":"a"}', 'v:"x"', "i:3")) == '.spec[name="a"][="x"][3]'


@pytest.mark.parametrize("raw", ["x", {"nocolon": {}}, {"f": {}}, {"k:[]": {}}, {"v:{": {}}, {"f:a": 5}, {"i:x": {}}])
def test_what_is_no_set_is_refused(raw: Any) -> None:
    with pytest.raises(ValueError, match=r".*"):
        decode_fields(raw)


def test_a_foreign_set_gets_the_servers_form() -> None:
    raw = {"f:a": {".": {}}, 'k:{ "b": 1, "a": 2}': {"f:x": None}, "z:later": {}}
    assert decode_fields(raw) == {"f:a": {}, 'k:{"a":2,"b":1}': {"f:x": {}}}


# --- who owns what

RELEASE = 20


def type_of(api_version: str, kind: str, minor: int = RELEASE) -> Type:
    group, _, version = api_version.rpartition("/")
    found = definitions(minor).of_kind(group, version, kind)
    assert found is not None
    return found


def config(**data: Any) -> Json:
    """A config map as the store holds it."""
    metadata = {"name": "c", "namespace": "n", "uid": "u", "creationTimestamp": "2024-01-01T00:00:00Z"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **({"data": data} if data else {})}


def write(old: Json | None, new: Json, manager: str, time: str = "t1", **options: Any) -> Json:
    given_type = type_of(new["apiVersion"], new["kind"], options.get("minor", RELEASE))
    settings = {"minor": RELEASE, **options}
    return update_owners(given_type, old, new, manager=manager, api_version=new["apiVersion"], now=time, **settings)


def owners(obj: Json) -> dict[str, Fields]:
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"].get("managedFields", [])}


def times(obj: Json) -> dict[str, str]:
    return {entry["manager"]: entry["time"] for entry in obj["metadata"]["managedFields"]}


def deployment(**spec: Any) -> Json:
    template = {"spec": {"containers": [{"name": "app", "image": "i:1", "ports": [{"containerPort": 80}]}]}}
    raw = {"metadata": {"name": "web"}, "spec": {"replicas": 1, "template": template, "selector": {}, **spec}}
    normal: Json = normalize_value(type_of("apps/v1", "Deployment"), raw)
    return {"apiVersion": "apps/v1", "kind": "Deployment", **normal}


def test_the_creator_owns_what_it_sent_and_structs_that_are_always_there_have_no_owner() -> None:
    made = write(None, deployment(), "maker")
    container = made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:template"]["f:spec"]["f:containers"]
    port = 'k:{"containerPort":80,"protocol":"TCP"}'
    assert owners(made) == {
        "maker": {"f:spec": {"f:replicas": {}, "f:selector": {}, "f:template": {"f:spec": {"f:containers": container}}}}
    }
    assert container == {
        'k:{"name":"app"}': {
            ".": {},
            "f:name": {},
            "f:image": {},
            "f:resources": {},
            "f:ports": {".": {}, port: {".": {}, "f:containerPort": {}}},
        }
    }


def test_an_atom_is_owned_as_a_whole() -> None:
    selector = {"matchLabels": {"app": "web"}}
    spread = {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1, "labelSelector": selector}
    template = {"spec": {"containers": [], "topologySpreadConstraints": [spread]}}
    made = write(None, deployment(selector=selector, template=template), "maker")
    spec = owners(made)["maker"]["f:spec"]
    key = 'k:{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}'
    assert spec["f:selector"] == {}
    assert spec["f:template"]["f:spec"]["f:topologySpreadConstraints"][key]["f:labelSelector"] == {}


def test_an_updated_field_changes_hands_and_a_removed_one_loses_its_owners() -> None:
    made = write(None, config(a="1", b="1"), "one")
    changed = write(made, config(a="2"), "two", "t2")
    assert owners(changed) == {"one": {"f:data": {}}, "two": {"f:data": {"f:a": {}}}}
    assert owners(write(changed, config(), "three")) == {}


def test_a_time_moves_only_when_the_set_of_its_owner_grows_or_changes() -> None:
    made = write(None, config(a="1"), "one", "t1")
    assert times(write(made, config(a="2"), "one", "t2")) == {"one": "t1"}
    assert times(write(made, config(a="1", b="1"), "one", "t2")) == {"one": "t2"}
    assert times(write(made, config(a="2"), "two", "t2")) == {"one": "t1", "two": "t2"}


def test_an_update_without_a_change_leaves_the_entries_as_they_are() -> None:
    made = write(None, config(a="1"), "one")
    assert write(made, config(a="1"), "two") == made


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param([], {}, id="an empty list forgets"),
        pytest.param([{}], {}, id="an empty entry forgets"),
        pytest.param([{"manager": "x", "fieldsType": "V2"}], {"one": {"f:data": {".": {}, "f:a": {}}}}, id="unreadable"),
        pytest.param(
            [{"manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
              "fieldsV1": {"f:data": {"f:a": {}}}}],
            {"x": {"f:data": {"f:a": {}}}},
            id="set by hand",
        ),
    ],
)  # fmt: skip
def test_a_request_may_replace_the_entries(sent: Any, expected: dict[str, Fields]) -> None:
    made = write(None, config(a="1"), "one")
    asked = config(a="1")
    asked["metadata"] = {**asked["metadata"], "managedFields": sent}
    assert owners(write(made, asked, "two")) == expected
    assert owners(write(made, asked, "two", subresource="status")) == owners(made), "but not through a subresource"


def test_an_object_without_owners_stays_without_in_the_recorded_release() -> None:
    assert owners(write(config(a="1"), config(a="2"), "one")) == {}


def test_in_an_environment_what_was_there_has_the_owner_who_would_have_made_it() -> None:
    assert owners(write(config(a="1", b="1"), config(a="2", b="1"), "agent", minor=33)) == {
        "kubectl-create": {"f:data": {".": {}, "f:b": {}}},
        "agent": {"f:data": {"f:a": {}}},
    }
    assert "managedFields" not in write(config(a="1"), config(a="1"), "agent", minor=33)["metadata"]
    observed = {**deployment(), "status": {"replicas": 1}}
    changed = {**observed, "spec": {**observed["spec"], "replicas": 2}}
    assert owners(write(observed, changed, "agent", minor=33))["kube-controller-manager"] == {
        "f:status": {"f:replicas": {}}
    }


def test_the_oldest_of_more_than_ten_updaters_become_one() -> None:
    obj = write(None, config(k0="0"), "m0", "t00")
    data = {"k0": "0"}
    for number in range(1, 12):
        data[f"k{number}"] = "0"
        obj = write(obj, config(**data), f"m{number}", f"t{number:02}")
    found = owners(obj)
    assert len(found) == 10
    assert found["ancient-changes"] == {"f:data": {".": {}, "f:k0": {}, "f:k1": {}, "f:k2": {}}}


def test_a_list_with_a_key_twice_leaves_an_object_without_owners() -> None:
    twice = {"spec": {"containers": [{"name": "a", "image": "i"}, {"name": "a", "image": "j"}]}}
    assert owners(write(None, deployment(template=twice), "one")) == {}


def test_whoever_owns_an_empty_struct_owns_what_others_put_there_after_the_next_write() -> None:
    made = write(None, deployment(), "one")
    filled = deployment()
    filled["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1"}}
    second = write(made, filled, "two")
    again = {**filled, "spec": {**filled["spec"], "replicas": 3}}
    path = ("f:spec", "f:template", "f:spec", "f:containers", 'k:{"name":"app"}', "f:resources", "f:limits", "f:cpu")
    assert not has_path(owners(second)["one"], path)
    assert has_path(owners(write(second, again, "three"))["one"], path)


def test_a_subresource_has_entries_of_its_own_in_later_releases_only() -> None:
    made = write(None, deployment(), "one")
    observed = {**made, "status": {"replicas": 2}}
    assert "subresource" not in write(made, observed, "kubelet", subresource="status")["metadata"]["managedFields"][-1]
    made = write(None, deployment(), "one", minor=33)
    observed = {**made, "status": {"replicas": 2}, "spec": {**made["spec"], "replicas": 9}}
    entries = write(made, observed, "kubelet", "t2", subresource="status", minor=33)["metadata"]["managedFields"]
    assert entries[-1]["subresource"] == "status"
    assert entries[-1]["fieldsV1"] == {"f:status": {"f:replicas": {}}}


OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
GIZMO: Json = {
    "schema": {
        "openAPIV3Schema": {
            "type": "object",
            "properties": {
                "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "list": {"type": "array", "items": {"type": "string"}},
                "open": OPEN,
            },
        }
    }
}


@pytest.mark.parametrize(
    ("minor", "below"), [(RELEASE, {}), (33, {".": {}, "f:b": {}})], ids=["the recorded release", "later releases"]
)
def test_a_custom_resource_is_owned_as_its_schema_says(minor: int, below: Fields) -> None:
    gizmo = {"apiVersion": "e.com/v1", "kind": "Gizmo", "metadata": {"name": "g", "finalizers": ["e.com/f"]}}
    content = {"tags": ["x"], "list": ["y"], "open": {"a": {"b": 1}}}
    made = update_owners(
        custom_type(GIZMO, minor), None, {**gizmo, **content}, manager="m", api_version="e.com/v1", now="t", minor=minor
    )
    assert owners(made)["m"] == {
        "f:metadata": {"f:finalizers": {".": {}, 'v:"e.com/f"': {}}},
        "f:tags": {".": {}, 'v:"x"': {}},
        "f:list": {},
        "f:open": {".": {}, "f:a": below},
    }


def test_owners_in_another_version_lose_what_changed_there_and_go_when_it_is_not_served() -> None:
    made = write(None, config(a="1"), "one")
    entry = made["metadata"]["managedFields"][0]
    renamed = {**entry, "manager": "two", "apiVersion": "v2", "fieldsV1": {"f:binaryData": {"f:a": {}, "f:b": {}}}}
    old = {**made, "metadata": {**made["metadata"], "managedFields": [entry, renamed]}}

    def second(obj: Json, api_version: str) -> tuple[Type, Json]:
        assert api_version == "v2"
        return type_of("v1", "ConfigMap"), {"metadata": {}, "binaryData": {**obj["data"], "b": "b"}}

    assert owners(write(old, config(a="2"), "three", in_version=second))["two"] == {"f:binaryData": {"f:b": {}}}
    assert "two" not in owners(write(old, config(a="2"), "three", in_version=lambda obj, version: None))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["manager", "time", "fieldsV1", "f:data", "k:{}", "v:1"]), inner)
    ),
    max_leaves=8,
)


@given(
    st.lists(
        JUNK | st.fixed_dictionaries({"fieldsType": st.just("FieldsV1"), "time": JUNK, "fieldsV1": JUNK}), max_size=2
    )
)
def test_entries_full_of_junk_never_break_a_write(entries: list[Any]) -> None:
    made = write(None, config(a="1"), "one")
    asked = config(a="2")
    asked["metadata"] = {**asked["metadata"], "managedFields": entries}
    assert write(made, asked, "two")["data"] == {"a": "2"}


def test_entries_with_times_that_are_no_text_are_ignored() -> None:
    made = write(None, config(a="1"), "one")
    entries = [{"manager": str(time), "fieldsType": "FieldsV1", "time": time} for time in (5, "x")]
    asked = {**config(a="1"), "metadata": {**config()["metadata"], "managedFields": entries}}
    assert owners(write(made, asked, "two")) == owners(made)


def test_an_object_too_deep_to_follow_is_stored_without_owners() -> None:
    deep: Json = {}
    for _ in range(900):
        deep = {"a": deep}
    custom = {"apiVersion": "e.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": deep}
    settings: Json = {"manager": "m", "api_version": "e.com/v1", "now": "t1", "minor": RELEASE}
    stored = update_owners(
        None, update_owners(None, None, custom, **settings), {**custom, "spec": {"a": {"a": 1}}}, **settings
    )
    assert stored["spec"] == {"a": {"a": 1}}


NAMES = st.sampled_from("ab")
TEXTS = st.sampled_from(["1", "2"])
ENVIRONMENT = st.lists(
    st.builds(lambda name, value: {"name": name, "value": value}, NAMES, TEXTS),
    max_size=2,
    unique_by=lambda item: item["name"],
)
CONTAINER: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "image": TEXTS,
        "env": ENVIRONMENT,
        "args": st.lists(TEXTS, max_size=2),
        "resources": st.sampled_from([{}, {"limits": {"cpu": "1"}}]),
    },
)
CONTAINERS = st.lists(CONTAINER, min_size=1, max_size=2, unique_by=lambda item: item["name"])
SPECS = st.fixed_dictionaries(
    {"template": st.fixed_dictionaries({"spec": st.fixed_dictionaries({"containers": CONTAINERS})})},
    optional={"replicas": st.integers(0, 2), "strategy": st.sampled_from([{}, {"type": "Recreate"}])},
)


@given(st.lists(st.tuples(SPECS, st.sampled_from(["one", "two"])), min_size=1, max_size=4))
def test_owned_fields_exist_and_every_field_of_the_last_write_has_an_owner(writes: list[tuple[Json, str]]) -> None:
    structure = structure_of(type_of("apps/v1", "Deployment"), RELEASE)
    obj: Json | None = None
    for spec, manager in writes:
        obj = write(obj, deployment(**spec), manager)
    assert obj is not None
    everybody: Fields = {}
    for fields in owners(obj).values():
        assert all(exists(structure, obj, path) for path in members(fields))
        everybody = union(everybody, fields)
    for item in obj["spec"]["template"]["spec"]["containers"]:
        for name in item:
            key = f'k:{{"name":"{item["name"]}"}}'
            found = everybody["f:spec"]["f:template"]["f:spec"]["f:containers"][key]
            assert f"f:{name}" in found


def exists(structure: Structure, obj: Json, path: tuple[str, ...]) -> bool:
    above = value_at(structure, obj, path[:-1])
    key = path[-1]
    if key[0] == "f":
        return isinstance(above, dict) and key[2:] in above
    return value_at(structure, obj, path) is not None


@pytest.mark.parametrize(("rules", "is_owned"), [({}, False), ({"rules": None}, False), ({"rules": []}, True)])
def test_a_list_that_is_given_as_empty_is_owned_and_one_that_is_null_is_not(rules, is_owned):
    """As `k8s.io/apimachinery` 0.34 has it for a Role, whose rules the server writes as null in all three cases."""
    body = {"metadata": {"name": "r", "labels": {"a": "b"}}, **rules}
    made = Cluster().request("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", body=body).body
    assert made["rules"] is None
    assert ("f:rules" in made["metadata"]["managedFields"][0]["fieldsV1"]) is is_owned
