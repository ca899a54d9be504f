"""Bodies become objects of a type, or are refused in the words of Go's decoders."""

import base64
import json
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesim.bodies.decoding import decode_body, decoded_options, normalize_value, unknown_fields
from kubesim.discovery.catalogue import CURRENT_RELEASE, RECORDED_RELEASE
from kubesim.status import ApiError
from kubesim.types.definitions import definitions

TYPES = definitions(RECORDED_RELEASE)
JSON, YAML = "application/json", "application/yaml"
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@dataclass(frozen=True)
class Row:
    kind: str
    group: str = ""
    version: str = "v1"


CONFIG_MAP, POD, DEPLOYMENT = Row("ConfigMap"), Row("Pod"), Row("Deployment", "apps")


def refusal(row, body, media_type=JSON, types=TYPES):
    with pytest.raises(ApiError) as error:
        decode_body(row, body, media_type, types)
    return error.value


def outcome(row, body, media_type):
    try:
        return decode_body(row, body, media_type, TYPES)
    except ApiError as error:
        return error


def pod(**fields):
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", **fields}]}}


def container(**fields):
    return decode_body(POD, pod(**fields), JSON, TYPES)["spec"]["containers"][0]


def test_unknown_fields_nulls_and_empty_values_go():
    obj = decode_body(CONFIG_MAP, {"metadata": {"name": "a", "labels": {}}, "data": None, "surprise": 1}, JSON, TYPES)
    assert obj == {
        "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "creationTimestamp": None},
    }  # fmt: skip


def test_what_go_always_writes_is_there():
    obj = decode_body(DEPLOYMENT, {"metadata": {"name": "a"}}, JSON, TYPES)
    assert obj["spec"] == {
        "selector": None, "template": {"metadata": {"creationTimestamp": None}, "spec": {"containers": None}},
        "strategy": {},
    }  # fmt: skip
    assert obj["status"] == {}


def test_a_zero_stays_where_go_has_a_pointer_and_goes_where_it_has_none():
    spec = decode_body(DEPLOYMENT, {"spec": {"replicas": 0, "minReadySeconds": 0, "paused": False}}, JSON, TYPES)[
        "spec"
    ]
    assert spec["replicas"] == 0
    assert {"minReadySeconds", "paused"}.isdisjoint(spec)


def test_names_are_matched_with_their_case():
    assert "image" not in container(Image="x")


def test_quantities_times_and_bytes_get_their_canonical_form():
    assert container(resources={"limits": {"cpu": "1000m"}})["resources"] == {"limits": {"cpu": "1"}}
    event = decode_body(Row("Event"), {"firstTimestamp": "2020-01-01T02:00:00.5+02:00"}, JSON, TYPES)
    assert (event["firstTimestamp"], event["lastTimestamp"]) == ("2020-01-01T00:00:00Z", None)
    secret = decode_body(Row("Secret"), {"data": {"a": "YQ\n==", "b": [98]}}, JSON, TYPES)
    assert secret["data"] == {"a": "YQ==", "b": "Yg=="}


def test_a_null_in_a_map_or_list_is_the_zero_value():
    obj = decode_body(CONFIG_MAP, {"metadata": {"finalizers": [None]}, "data": {"a": None}}, JSON, TYPES)
    assert (obj["metadata"]["finalizers"], obj["data"]) == ([""], {"a": ""})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "json parse error: unexpected end of JSON input (<empty>)"),
        (b"[]", 'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)'),
        (b'{"a":1,}', "json parse error: invalid character '}' looking for beginning of object key string ({\"a\":1,})"),
        (b"tru", "json parse error: invalid character ' ' in literal true (expecting 'e') (747275)"),
        (b'{"kind":5}', 'json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})'),
        (b'{"apiVersion":"a/b/c"}', 'unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})'),
    ],
)  # fmt: skip
def test_a_body_that_does_not_say_what_it_is_is_summarized(body, message):
    error = refusal(CONFIG_MAP, body)
    assert error.code == 400
    assert str(error).startswith("the object provided is unrecognized (must be of type ConfigMap): ")
    assert str(error).endswith(message)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"apiVersion": "v1", "kind": "Secret"}, "converting (v1.Secret) to (core.ConfigMap): unknown conversion"),
        ({"apiVersion": "v1", "kind": "Pood"}, 'no kind "Pood" is registered for version "v1" in scheme'),
        ({"apiVersion": "apps/v9", "kind": "ConfigMap"}, 'no kind "ConfigMap" is registered for version "apps/v9"'),
    ],
)
def test_another_kind_is_refused(body, problem):
    assert problem in str(refusal(CONFIG_MAP, body))


def test_another_version_of_the_same_kind_is_refused():
    assert str(refusal(DEPLOYMENT, {"apiVersion": "extensions/v1beta1", "kind": "Deployment"})) == (
        "the API version in the data (extensions/v1beta1) does not match the expected API version (apps/v1)"
    )


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"image": 5}, 'v1.Container.Image: ReadString: expects " or n, but found 5, error found in #10 byte of ...|,"image":5}]}}|...'),
        ({"command": "x"}, 'v1.Container.Command: []string: decode slice: expect [ or n, but found "'),
        ({"resources": 1}, "v1.Container.Resources: readObjectStart: expect { or n, but found 1"),
        ({"tty": "yes"}, 'v1.Container.TTY: ReadBool: expect t or f, but found "'),
        ({"ports": [{"containerPort": 1.5}]}, "[]v1.ContainerPort: v1.ContainerPort.ContainerPort: assertInteger: can not decode float as int"),
        ({"ports": [{"containerPort": 3000000000}]}, "ReadInt32: overflow: 3000000000"),
        ({"livenessProbe": {"httpGet": {"port": True}}}, "v1.Probe.Handler: HTTPGet: v1.HTTPGetAction.Port: unmarshalerDecoder: json: cannot unmarshal bool into Go value of type int32"),
        # It reads on, and blames the next field too.
        ({"image": 5, "workingDir": "/"}, "v1.Container.WorkingDir: Image: ReadString"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_named_with_the_way_to_it(fields, problem):
    text = str(refusal(POD, json.dumps(pod(**fields), separators=(",", ":")).encode()))
    assert text.startswith('Pod in version "v1" cannot be handled as a Pod: v1.Pod.Spec: v1.PodSpec.Containers: ')
    assert problem in text


def test_a_current_release_complains_like_the_standard_library():
    text = str(refusal(POD, pod(image=5), types=definitions(CURRENT_RELEASE)))
    assert text.endswith(
        "json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string"
    )


def test_yaml_is_taken_with_its_own_scalars_and_complaints():
    body = b"metadata: {name: x}\ndata: {a: 'yes', b: 2020-01-01}\nimmutable: on\n"
    obj = decode_body(CONFIG_MAP, body, f"{YAML}; charset=utf-8", TYPES)
    assert (obj["data"], obj["immutable"]) == ({"a": "yes", "b": "2020-01-01"}, True)
    assert "yaml: line 1: did not find expected ',' or ']'" in str(refusal(CONFIG_MAP, b"a: [1", YAML))


def test_a_document_of_aliases_does_not_grow_without_bounds():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    assert "excessive aliasing" in str(refusal(CONFIG_MAP, "\n".join(lines).encode(), YAML))


def test_no_content_type_means_json_and_another_one_is_refused():
    assert decode_body(CONFIG_MAP, b"{}", "", TYPES)["kind"] == "ConfigMap"
    assert refusal(CONFIG_MAP, b"{}", "text/plain").code == 415


def test_options_in_a_body_are_refused_with_500():
    assert decoded_options("DeleteOptions", b'{"gracePeriodSeconds":0}', JSON, TYPES)["gracePeriodSeconds"] == 0
    with pytest.raises(ApiError) as error:
        decoded_options("DeleteOptions", b'{"gracePeriodSeconds":"x"}', JSON, TYPES)
    assert error.value.code == 500


def test_unknown_fields_are_named_by_their_paths():
    type_ = TYPES.of_kind("", "v1", "Pod")
    body = pod(foo=1, resources={"limits": {"anything": "1"}, "bar": 2})
    assert unknown_fields(type_, body) == ["spec.containers[0].foo", "spec.containers[0].resources.bar"]


@settings(max_examples=2 * settings.default.max_examples)
@given(values)
def test_any_value_is_an_object_or_refused(value):
    for row in (POD, DEPLOYMENT, Row("Service"), Row("Event")):
        body = {"metadata": {"name": "x"}, "spec": value, "data": value}
        for sent in (value, body, json.dumps(body).encode()):
            obj = outcome(row, sent, JSON)
            if isinstance(obj, ApiError):
                assert obj.code == 400
                assert not str(obj).endswith(": unknown")
            else:
                assert normalize_value(TYPES.of_kind(row.group, row.version, row.kind), obj) == obj


@given(st.binary(max_size=60))
def test_any_bytes_are_an_object_or_refused(content):
    for media_type in (JSON, YAML, "application/vnd.kubernetes.protobuf"):
        for sent in (content, b"k8s\x00" + content):
            obj = outcome(CONFIG_MAP, sent, media_type)
            assert obj.code == 400 if isinstance(obj, ApiError) else obj["kind"] == "ConfigMap"


def test_a_body_that_nests_too_deep_is_refused():
    deep = b'{"metadata":' + b"[" * 20000
    assert "exceeded max depth" in str(refusal(CONFIG_MAP, deep))
    assert refusal(CONFIG_MAP, b'{"spec":' + b"[" * 5000 + b"]" * 5000 + b',"metadata":5}').code == 400


def test_half_a_surrogate_pair_is_replaced():
    obj = decode_body(CONFIG_MAP, b'{"data":{"a":"\\ud800x"}}', JSON, TYPES)
    obj["data"]["a"].encode()


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def part(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def envelope(api_version, kind, body):
    return b"k8s\x00" + part(1, part(1, api_version) + part(2, kind)) + part(2, body)


def test_protobuf_is_read_by_the_numbers_of_its_fields():
    meta = part(1, b"web") + part(11, part(1, b"app") + part(2, b"web")) + part(8, b"")
    volume = part(1, b"v") + part(2, part(2, part(1, b"Memory")))
    probe = part(1, part(2, part(2, part(1, 0) + part(2, 80)))) + part(2, 0)
    limits = part(1, part(1, b"cpu") + part(2, part(1, b"1000m")))
    box = part(1, b"c") + part(8, limits) + part(10, probe) + part(16, 0)
    body = part(1, meta) + part(2, part(1, volume) + part(2, box) + part(4, 0))
    obj = decode_body(POD, envelope(b"v1", b"Pod", body), "application/vnd.kubernetes.protobuf", TYPES)
    assert obj["metadata"] == {"name": "web", "creationTimestamp": None, "labels": {"app": "web"}}
    assert obj["spec"] == {
        "volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}],
        "containers": [
            {"name": "c", "resources": {"limits": {"cpu": "1"}}, "livenessProbe": {"httpGet": {"port": 80}}}
        ],
        "terminationGracePeriodSeconds": 0,
    }


def test_protobuf_carries_bytes_as_they_are():
    entry = part(1, b"key") + part(2, b"\x00\xff")
    secret = decode_body(
        Row("Secret"), envelope(b"v1", b"Secret", part(2, entry)), "application/vnd.kubernetes.protobuf", TYPES
    )
    assert base64.b64decode(secret["data"]["key"]) == b"\x00\xff"


def test_protobuf_of_another_kind_is_refused():
    error = refusal(POD, envelope(b"v1", b"Nope", b""), "application/vnd.kubernetes.protobuf")
    assert 'no kind "Nope" is registered' in str(error)
