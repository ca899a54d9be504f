"""What changed between two states."""

from hypothesis import given
from hypothesis import strategies as st

from builders import kubernetes_object
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.providers.service import differences
from sirocco.providers.service.differences import changed_fields

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=1), inner, max_size=3)
    ),
    max_leaves=10,
)


def object_diff(before, after):
    return differences.object_diff(before, after, KUBERNETES.wire)


def state_diff(before, after):
    return differences.state_diff(before, after, KUBERNETES.wire)


def test_a_changed_field_is_named_by_its_path():
    before = kubernetes_object(
        "deployment", "web", spec={"replicas": 2, "template": {"spec": {"containers": [{"image": "a:1"}]}}}
    )
    after = kubernetes_object(
        "deployment", "web", spec={"replicas": 5, "template": {"spec": {"containers": [{"image": "a:2"}]}}}
    )
    diff = object_diff(before, after)
    assert diff["changes"] == [
        {"path": "spec.replicas", "before": 2, "after": 5, "op": "replace"},
        {"path": "spec.template.spec.containers[0].image", "before": "a:1", "after": "a:2", "op": "replace"},
    ]


def test_what_changes_by_itself_is_no_change():
    before = kubernetes_object("deployment", "web", spec={"replicas": 2}, status={"readyReplicas": 0})
    after = kubernetes_object("deployment", "web", spec={"replicas": 2}, status={"readyReplicas": 2})
    after["metadata"] |= {
        "resourceVersion": "99",
        "generation": 7,
        "managedFields": [{}],
        "uid": "x",
        "creationTimestamp": "y",
    }
    assert object_diff(before, after)["changes"] == []
    assert state_diff([before], [after])["changes"] == []


def test_objects_that_came_and_went_are_named():
    kept, gone, new = (kubernetes_object("configmap", name, data={"a": "1"}) for name in ("kept", "gone", "new"))
    diff = state_diff([kept, gone], [kept, new])
    assert diff["added"] == ["ConfigMap/shop/new"]
    assert diff["removed"] == ["ConfigMap/shop/gone"]
    assert [(change["path"], change["op"]) for change in diff["changes"]] == [
        ("ConfigMap/shop/new", "add"),
        ("ConfigMap/shop/gone", "remove"),
    ]


def test_a_change_in_one_of_many_objects_says_which():
    before, after = (kubernetes_object("configmap", "a", data={"k": value}) for value in "xy")
    (change,) = state_diff([before], [after])["changes"]
    assert change == {"path": "ConfigMap/shop/a.data.k", "before": "x", "after": "y", "op": "replace"}


def test_an_absent_object_is_absent_in_the_difference():
    item = kubernetes_object("configmap", "a")
    assert object_diff(None, None)["changes"] == []
    assert [object_diff(item, None)["changes"][0]["op"], object_diff(None, item)["changes"][0]["op"]] == [
        "remove",
        "add",
    ]


@given(VALUES, VALUES)
def test_there_is_a_change_exactly_where_there_is_a_difference(one, other):
    assert bool(list(changed_fields(one, other))) is (one != other)
    assert list(changed_fields(one, one)) == []
