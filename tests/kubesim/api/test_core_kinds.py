"""The core group: what the server fills in, what it refuses and in which words, what a write may change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesim.discovery.catalogue import RECORDED_RELEASE, catalogue
from kubesim.kinds.defaults import fill_defaults
from kubesim.kinds.strategy import prepared_for_create, prepared_for_update
from kubesim.kinds.validation import creation_causes, update_causes
from kubesim.kinds.validation.edits import Edit, edits
from kubesim.kinds.validation.go_comparison import semantically_equal
from kubesim.kinds.validation.go_difference import go_difference
from kubesim.kinds.validation.go_values import go_quote, go_text
from kubesim.names import qualified_name_problems


def resource(plural, minor=RECORDED_RELEASE):
    return catalogue(minor).find("", "v1", plural)


def new(plural, name="x", minor=RECORDED_RELEASE, **content):
    row = resource(plural, minor)
    place = {"namespace": "shop"} if row.namespaced else {}
    body = {"kind": row.kind, "apiVersion": "v1", "metadata": {"name": name, **place}, **content}
    return prepared_for_create(row, fill_defaults(row, body))


def pod(*containers, **spec):
    return new("pods", spec={"containers": [{"name": "app", "image": "app:1", **item} for item in containers], **spec})


def stored(obj):
    return {**obj, "metadata": {**obj["metadata"], "uid": "u", "resourceVersion": "7"}}


def problems(plural, obj):
    return [(cause.field, cause.message) for cause in creation_causes(resource(plural), obj)]


def changes(plural, obj, old, subresource=""):
    return [(cause.field, cause.message) for cause in update_causes(resource(plural), obj, old, subresource)]


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("app", "Always"),
        ("app:latest", "Always"),
        ("app:1", "IfNotPresent"),
        ("registry.example:5000/app", "Always"),
        ("app@sha256:" + "0" * 64, "IfNotPresent"),
        ("Upper/app", "IfNotPresent"),
        ("", "IfNotPresent"),
    ],
)
def test_the_image_decides_when_it_is_pulled(image, policy):
    assert pod({"image": image})["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_a_pod_asks_for_what_it_is_limited_to_and_a_template_does_not():
    limited = {"resources": {"limits": {"cpu": "1"}}}
    assert pod(limited)["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1"}
    template = new("podtemplates", template={"spec": {"containers": [{"name": "app", "image": "app:1", **limited}]}})
    assert "requests" not in template["template"]["spec"]["containers"][0]["resources"]


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        ([{}], "BestEffort"),
        ([{"resources": {"requests": {"cpu": "1"}}}], "Burstable"),
        ([{"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}], "Guaranteed"),
        ([{"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}, {"name": "b"}], "Burstable"),
        ([{"resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"memory": "0"}}}], "Burstable"),
        ([{"resources": {"requests": {"ephemeral-storage": "1"}}}], "BestEffort"),
    ],
)
def test_a_pods_quality_of_service_follows_from_what_it_asks_for(containers, expected):
    assert pod(*containers)["status"] == {"phase": "Pending", "qosClass": expected}


def test_plain_text_of_a_secret_is_encoded_and_wins():
    secret = new("secrets", data={"a": "b2xk", "b": "b2xk"}, stringData={"a": "new"})
    assert (secret["data"], "stringData" in secret) == ({"a": "bmV3", "b": "b2xk"}, False)


def test_limits_of_a_range_follow_from_each_other():
    limits = new("limitranges", spec={"limits": [{"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1"}}]})
    (limit,) = limits["spec"]["limits"]
    assert (limit["default"], limit["defaultRequest"]) == ({"cpu": "2"}, {"cpu": "2", "memory": "1"})


def test_a_valid_object_has_no_causes():
    assert problems("pods", pod({})) == []
    assert problems("services", new("services", spec={"ports": [{"port": 80}]})) == []


@pytest.mark.parametrize(
    ("plural", "obj", "expected"),
    [
        ("pods", lambda: pod({"image": ""}), ("spec.containers[0].image", "Required value")),
        (
            "pods",
            lambda: pod({"ports": [{"containerPort": 70000}]}),
            (
                "spec.containers[0].ports[0].containerPort",
                "Invalid value: 70000: must be between 1 and 65535, inclusive",
            ),
        ),
        (
            "pods",
            lambda: pod({"volumeMounts": [{"name": "gone", "mountPath": "/x"}]}),
            ("spec.containers[0].volumeMounts[0].name", 'Not found: "gone"'),
        ),
        (
            "pods",
            lambda: pod({"resources": {"requests": {"cpu": "1500m"}, "limits": {"cpu": "1"}}}),
            ("spec.containers[0].resources.requests", 'Invalid value: "1500m": must be less than or equal to cpu limit'),
        ),
        (
            "pods",
            lambda: pod({}, restartPolicy="Sometimes"),
            (
                "spec.restartPolicy",
                'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
            ),
        ),
        ("services", lambda: new("services"), ("spec.ports", "Required value")),
        ("secrets", lambda: new("secrets", type="kubernetes.io/tls", data={"tls.crt": ""}), ("data[tls.key]", "Required value")),
        (
            "events",
            lambda: new("events", involvedObject={"namespace": "other"}),
            ("involvedObject.namespace", 'Invalid value: "other": does not match event.namespace'),
        ),
        (
            "persistentvolumeclaims",
            lambda: new("persistentvolumeclaims", spec={"accessModes": ["ReadWriteOnce"]}),
            ("spec.resources[storage]", "Required value"),
        ),
    ],
)  # fmt: skip
def test_what_the_server_refuses_is_named_in_its_words(plural, obj, expected):
    assert problems(plural, obj()) == [expected]


def test_a_name_has_every_problem_told():
    found = [message for _, message in problems("configmaps", new("configmaps", name="A" * 254))]
    assert [text.rpartition('": ')[2][:30] for text in found] == [
        "must be no more than 253 chara",
        "a lowercase RFC 1123 subdomain",
    ]


def test_a_pods_image_may_change_and_its_command_may_not():
    old = stored(pod({"command": ["run"]}))
    assert changes("pods", stored(pod({"image": "app:2", "command": ["run"]})), old) == []
    ((field, message),) = changes("pods", stored(pod({"command": ["stop"]})), old)
    assert field == "spec"
    assert '-\u00a0\t\t\tCommand:    []string{"stop"},' in message
    assert "..." in message


def test_an_immutable_secret_keeps_its_data():
    old = stored(new("secrets", data={"a": "eA=="}, immutable=True))
    altered = stored(new("secrets", data={"a": "eQ=="}, immutable=True))
    assert changes("secrets", altered, old) == [("data", "Forbidden: field is immutable when `immutable` is set")]


def test_an_address_of_a_service_stays():
    old = stored(new("services", spec={"ports": [{"port": 80}], "clusterIP": "10.96.0.9"}))
    other = stored(new("services", spec={"ports": [{"port": 80}], "clusterIP": "10.96.0.8"}))
    expected = ("spec.clusterIPs[0]", 'Invalid value: []string{"10.96.0.8"}: may not change once set')
    assert changes("services", other, old) == [expected]


def test_a_write_of_the_object_leaves_its_status_and_the_other_way_round():
    old = stored(pod({}))
    row = resource("pods")
    running = {**old, "status": {"phase": "Running"}, "spec": {**old["spec"], "nodeName": "n"}}
    assert prepared_for_update(row, running, old)["status"] == old["status"]
    written = prepared_for_update(row, running, old, "status")
    assert (written["status"], written["spec"]) == ({"phase": "Running"}, old["spec"])


def test_a_release_drops_what_it_does_not_serve_yet():
    spec = {"ports": [{"port": 80}], "ipFamilies": ["IPv4"]}
    assert "ipFamilies" not in new("services", spec=spec)["spec"]
    assert new("services", minor=33, spec=spec)["spec"]["ipFamilies"] == ["IPv4"]


def test_structs_print_as_go_prints_them():
    selector = {"matchLabels": {"b": "2", "a": "1"}}
    assert go_text("v1.LabelSelector", selector) == (
        'v1.LabelSelector{MatchLabels:map[string]string{"a":"1", "b":"2"}, '
        "MatchExpressions:[]v1.LabelSelectorRequirement(nil)}"
    )
    assert go_text("core.ResourceList", {"cpu": "500m"}) == (
        'core.ResourceList{"cpu":resource.Quantity{i:resource.int64Amount{value:500, scale:-3}, '
        'd:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"500m", Format:"DecimalSI"}}'
    )
    assert go_text("*v1.Time", None) == "(*v1.Time)(nil)"


@given(st.text())
def test_a_quoted_text_is_one_line_of_printable_marks(text):
    found = go_quote(text)
    assert found[0] == found[-1] == '"'
    assert found.isprintable()


@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), max_size=8))
def test_the_steps_between_two_lists_lead_from_one_to_the_other(one, other):
    left = right = 0
    for step in edits(len(one), len(other), lambda a, b: (1, 0) if one[a] == other[b] else (0, 1)):
        if step is Edit.KEPT:
            assert one[left] == other[right]
        left += step is not Edit.INSERTED
        right += step is not Edit.REMOVED
    assert (left, right) == (len(one), len(other))


_SPECS = st.fixed_dictionaries(
    {},
    optional={
        "nodeName": st.sampled_from(["a", "b"]),
        "hostNetwork": st.booleans(),
        "nodeSelector": st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy")),
        "containers": st.lists(st.fixed_dictionaries({"name": st.sampled_from("ab")}), max_size=3),
        "activeDeadlineSeconds": st.integers(0, 3),
        "securityContext": st.fixed_dictionaries({"supplementalGroups": st.lists(st.integers(0, 3), max_size=4)}),
    },
)


@given(_SPECS, _SPECS)
def test_a_difference_is_printed_exactly_when_there_is_one(one, other):
    printed = go_difference("core.PodSpec", one, other)
    if not semantically_equal("core.PodSpec", one, other):
        assert printed.startswith("\u00a0\u00a0core.PodSpec{")
        assert any(line[:1] in {"-", "+"} for line in printed.splitlines())
    assert go_difference("core.PodSpec", one, one) == ""


@given(st.text(max_size=80))
def test_no_text_breaks_the_rules_for_names(text):
    assert isinstance(qualified_name_problems(text), list)
