"""Server-side apply: merging, conflicts, force, and what goes when it is no longer applied."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesim.fields import apply_configuration, configuration, update_owners
from kubesim.status import ApiError, Json
from kubesim.types.definitions import Type, definitions

RELEASE = 20
CURRENT = 33
TEXT = "expected string, got &value.valueUnstructured"
NOTE = "kubectl.kubernetes.io/last-applied-configuration"


def type_of(api_version: str, kind: str, minor: int) -> Type:
    group, _, version = api_version.rpartition("/")
    found = definitions(minor).of_kind(group, version, kind)
    assert found is not None
    return found


def apply(live: Json | None, patch: Json, manager: str = "one", **options: Any) -> Json:
    settings = {"force": False, "minor": RELEASE, "now": "2024-01-01T00:00:02Z", "api_version": "v1", **options}
    kind = options.pop("kind", None) or patch.get("kind", "ConfigMap")
    settings.pop("kind", None)
    type_ = type_of(settings["api_version"], kind, settings["minor"])
    return apply_configuration(type_, live, patch, manager=manager, **settings)


def update(old: Json | None, new: Json, manager: str, minor: int = RELEASE) -> Json:
    type_ = type_of(new["apiVersion"], new["kind"], minor)
    now = "2024-01-01T00:00:01Z"
    return update_owners(type_, old, new, manager=manager, api_version=new["apiVersion"], now=now, minor=minor)


def config(**data: str) -> Json:
    return annotated({}, **data)


def annotated(annotations: Json, **data: str) -> Json:
    metadata = {"name": "c", **({"annotations": annotations} if annotations else {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def pod(*containers: Json) -> Json:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": list(containers)}}


def owners(obj: Json) -> dict[str, Any]:
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"].get("managedFields", [])}


def refusal(*arguments: Any, **options: Any) -> Json:
    with pytest.raises(ApiError) as caught:
        apply(*arguments, **options)
    return caught.value.body


def test_the_first_apply_creates_the_object_and_owns_what_was_given() -> None:
    made = apply(None, config(a="1"))
    assert made["data"] == {"a": "1"}
    assert made["metadata"]["managedFields"] == [
        {"manager": "one", "operation": "Apply", "apiVersion": "v1", "time": "2024-01-01T00:00:02Z",
         "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}}}}
    ]  # fmt: skip


def test_applying_the_same_again_changes_nothing_not_even_the_time() -> None:
    made = apply(None, config(a="1"))
    assert apply(made, config(a="1"), now="2024-01-01T00:00:09Z") == made


def test_managers_of_different_fields_live_side_by_side_and_agreeing_ones_share() -> None:
    both = apply(apply(None, config(a="1")), config(a="1", b="2"), "two")
    assert both["data"] == {"a": "1", "b": "2"}
    assert owners(both) == {"one": {"f:data": {"f:a": {}}}, "two": {"f:data": {"f:a": {}, "f:b": {}}}}


def test_a_field_that_its_manager_no_longer_applies_goes_unless_somebody_else_owns_it() -> None:
    both = apply(apply(None, config(a="1", b="1", c="1")), config(b="1"), "two")
    updated_by_hand = update(both, {**both, "data": {**both["data"], "d": "1"}}, "hand")
    assert apply(updated_by_hand, config(a="1"))["data"] == {"a": "1", "b": "1", "d": "1"}


def test_one_conflict_is_told_in_one_line() -> None:
    found = refusal(apply(None, config(a="1")), config(a="2"), "two")
    assert found["message"] == 'Apply failed with 1 conflict: conflict with "one": .data.a'
    assert found["code"] == 409
    assert found["details"] == {
        "causes": [{"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.a"}]
    }


def test_more_conflicts_are_listed_by_manager() -> None:
    live = apply(apply(None, config(a="1", b="1")), config(d="1"), "alpha", now="2024-01-01T00:00:03Z")
    live = update(live, {**live, "data": {**live["data"], "c": "1"}}, "hand")
    assert refusal(live, config(a="2", b="2", c="2", d="2"), "two")["message"] == (
        'Apply failed with 4 conflicts: conflicts with "alpha":\n- .data.d\nconflicts with "hand" using v1:\n- .data.c\n'
        'conflicts with "one":\n- .data.a\n- .data.b'
    )


def test_the_recorded_release_shows_the_last_path_for_several_that_share_its_memory() -> None:
    def deployment(value: str) -> Json:
        spec = {"nodeName": value, "hostname": value}
        content = {"template": {"spec": spec}}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": content}

    for minor, expected in ((RELEASE, ["nodeName", "nodeName"]), (CURRENT, ["hostname", "nodeName"])):
        live = apply(None, deployment("a"), api_version="apps/v1", minor=minor)
        found = refusal(live, deployment("b"), "two", api_version="apps/v1", minor=minor)
        assert [cause["field"] for cause in found["details"]["causes"]] == [
            f".spec.template.spec.{name}" for name in expected
        ]


def test_force_takes_the_field_over() -> None:
    taken = apply(apply(None, config(a="1", b="1")), config(a="2"), "two", force=True)
    assert taken["data"] == {"a": "2", "b": "1"}
    assert owners(taken) == {"one": {"f:data": {"f:b": {}}}, "two": {"f:data": {"f:a": {}}}}


def test_an_object_without_owners_belongs_to_whoever_came_before() -> None:
    assert 'conflict with "before-first-apply" using v1' in refusal(config(a="1"), config(a="2"))["message"]
    assert set(owners(apply(config(a="1"), config(b="1")))) == {"before-first-apply", "one"}
    environment = refusal(config(a="1"), config(a="2"), minor=CURRENT)
    assert 'conflict with "kubectl-create" using v1' in environment["message"]


def test_server_side_kubectl_may_take_over_what_its_client_side_wrote() -> None:
    note = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}}'
    live = update(None, annotated({NOTE: note}, a="1", b="1"), "kubectl-client-side-apply")
    changed = apply(live, config(a="2"), "kubectl")
    assert changed["data"]["a"] == "2"
    assert changed["metadata"]["annotations"][NOTE] == (
        '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"c"}}\n'
    )
    assert refusal(live, config(b="2"), "kubectl")["message"].endswith(": .data.b")
    assert refusal(live, config(a="2"), "other")["message"].endswith(": .data.a")


def test_lists_with_keys_are_merged_by_item_and_their_keys_have_defaults() -> None:
    made = apply(None, pod({"name": "a", "image": "i", "ports": [{"containerPort": 80}]}))
    patch = pod({"name": "b", "image": "j"}, {"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP"}]})
    both = apply(made, patch, "two")
    assert [item["name"] for item in both["spec"]["containers"]] == ["a", "b"]
    assert both["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    later = apply(made, patch, "two", minor=CURRENT)
    assert [item["name"] for item in later["spec"]["containers"]] == ["b", "a"], "later releases keep the order applied"


def test_a_struct_goes_with_its_defaults_in_later_releases_only() -> None:
    check = {"exec": {"command": ["x"]}}
    for minor, expected in ((RELEASE, {"periodSeconds": 10}), (CURRENT, None)):
        made = apply(None, pod({"name": "a", "livenessProbe": check}), minor=minor)
        container = {**made["spec"]["containers"][0], "livenessProbe": {**check, "periodSeconds": 10}}
        defaulted = {**made, "spec": {**made["spec"], "containers": [container]}}
        left = apply(defaulted, pod({"name": "a"}), minor=minor)["spec"]["containers"][0]
        assert left.get("livenessProbe") == expected


def test_an_atomic_list_has_one_owner() -> None:
    made = apply(None, pod({"name": "a", "args": ["x"]}))
    assert refusal(made, pod({"name": "a", "args": ["x", "y"]}), "two")["message"].endswith(
        'conflict with "one": .spec.containers[name="a"].args'
    )


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        ({"data": {"a": 1}}, ".data.a: expected string, got &value.valueUnstructured{Value:1}"),
        ({"data": [1]}, ".data: expected map, got &{[1]}"),
        ({"immutable": "x"}, ".immutable: expected boolean, got &{x}"),
        ({"more": 1}, ".more: field not declared in schema"),
        (
            {"data": {"a": True, "b": None, "c": {"x": [1]}}},
            "\n".join(
                [
                    "errors:",
                    f"  .data.a: {TEXT}{{Value:true}}",
                    f'  .data.c: {TEXT}{{Value:map[string]interface {{}}{{"x":[]interface {{}}{{1}}}}}}',
                ]
            ),
        ),
    ],
)
def test_a_configuration_of_another_shape_is_refused_in_the_servers_words(patch: Json, text: str) -> None:
    found = refusal(None, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, **patch})
    assert found["code"] == 500
    assert found["message"] == f"failed to create typed patch object: {text}"


def test_other_versions_kinds_and_given_owners_are_refused() -> None:
    assert refusal(None, {"apiVersion": "v2", "kind": "ConfigMap"}, kind="ConfigMap")["message"] == (
        "Incorrect version specified in apply patch. Specified patch version: v2, expected: v1"
    )
    assert refusal(None, {"apiVersion": "v1", "kind": "Nonsense"}, kind="ConfigMap")["message"].endswith(
        "no corresponding type for /v1, Kind=Nonsense"
    )
    other = refusal(None, {"apiVersion": "v1", "kind": "Secret"}, kind="ConfigMap")["message"]
    assert other.startswith("failed to merge config: expected objects of the same type, but got {0x")
    own = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"managedFields": []}}
    assert refusal(None, own)["message"] == "metadata.managedFields must be nil"


def test_a_required_key_is_empty_when_it_is_left_out() -> None:
    made = apply(None, pod({"image": "i"}))
    assert owners(made)["one"]["f:spec"]["f:containers"] == {'k:{"name":""}': {".": {}, "f:image": {}}}


def test_a_key_without_default_must_be_given() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
    assert refusal(None, service)["message"].endswith(
        '.spec.ports: element 0: associative list with keys has an element that omits key field "protocol" '
        "(and doesn't have default value)"
    )
    assert apply(None, service, minor=CURRENT)["spec"]["ports"] == [{"port": 80, "targetPort": 0}]


def test_a_value_that_no_field_can_hold_is_refused_after_the_merge() -> None:
    bad = pod({"name": "a", "resources": {"limits": {"cpu": "much"}}})
    assert refusal(None, bad)["message"].startswith(
        "failed to convert new object to proper version: unable to convert unstructured object to /v1, Kind=Pod: "
    )


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"a: [1", "yaml: line 1: did not find expected ',' or ']'"),
        (b"[1]", "cannot unmarshal array into Go value of type map[string]interface {}"),
    ],
)
def test_a_body_that_is_no_configuration_is_refused(sent: bytes, expected: str) -> None:
    with pytest.raises(ApiError, match="error decoding YAML") as caught:
        configuration(sent)
    assert caught.value.body["message"].endswith(expected)


def test_a_configuration_may_be_yaml_or_json() -> None:
    assert configuration(b"data:\n  a: x\n") == configuration(b'{"data": {"a": "x"}}') == {"data": {"a": "x"}}


DATA = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["1", "2"]), max_size=3)


@given(DATA, DATA)
def test_disjoint_configurations_never_conflict(one: dict[str, str], other: dict[str, str]) -> None:
    rest = {key: value for key, value in other.items() if key not in one}
    both = apply(apply(None, config(**one)), config(**rest), "two")
    assert (both.get("data") or {}) == {**one, **rest}


@given(DATA, DATA, DATA)
def test_what_a_manager_applies_is_there_and_what_it_applied_before_is_not(
    one: dict[str, str], other: dict[str, str], hand: dict[str, str]
) -> None:
    live = apply(None, config(**one))
    live = update(live, {**live, "data": {**(live.get("data") or {}), **hand}}, "hand")
    result = apply(live, config(**other), force=True).get("data") or {}
    assert {key: result.get(key) for key in other} == other
    assert set(result) == set(other) | {key for key in hand if hand[key] != one.get(key)} - set(other) | (
        set(other) & set(hand)
    )


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "spec", "a", "containers"]), inner)
    ),
    max_leaves=8,
)


def test_a_configuration_too_deep_to_follow_is_refused() -> None:
    def nested(bottom: int) -> Json:
        value: Json = {"a": bottom}
        for _ in range(700):
            value = {"a": value}
        return {"apiVersion": "v1", "metadata": {"uid": "u"}, "spec": value}

    with pytest.raises(ApiError, match="exceeded max depth"):
        apply_configuration(
            None, nested(1), nested(2), manager="m", force=True, api_version="v1", now="t", minor=RELEASE
        )


@given(JUNK, JUNK)
def test_junk_is_applied_or_refused(metadata: Any, spec: Any) -> None:
    live = apply(None, pod({"name": "a", "image": "i"}))
    for patch in (
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec},
        {"apiVersion": metadata, "kind": spec},
    ):
        with contextlib.suppress(ApiError):
            assert apply(live, patch, kind="Pod")["metadata"]["name"]
