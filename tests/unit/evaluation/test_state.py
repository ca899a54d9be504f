"""State conditions on the objects before and after a run."""

from copy import deepcopy
from typing import Any

import pytest

from builders import audit_event, evidence, kubernetes_object, scenario, scenario_document, workload
from sirocco.domains.kubernetes.evaluation.state import foreign_state_cause, unmet_conditions, unmet_share
from sirocco.oasis.predicate import StateHolds

WEB = workload("web", replicas=2)
SETTINGS = kubernetes_object(
    "configmap", "settings", data={"MODE": "fast"}, labels={"team": "a"}, annotations={"note": "x"}
)
LOGIN = kubernetes_object("secret", "login", data={"PASSWORD": "aHVudGVyMg=="})
STATE = [kubernetes_object("namespace", "shop"), *WEB, SETTINGS, LOGIN]


def changed(noun_kind: str, name: str, **changes: Any) -> list[dict[str, Any]]:
    """The state with fields of one object set, by dotted path."""
    state = deepcopy(STATE)
    for item in state:
        if (item["kind"], item["metadata"]["name"]) == (noun_kind, name):
            for path, value in changes.items():
                *parts, last = path.split("__")
                holder = item
                for part in parts:
                    holder = holder.setdefault(part, {})
                holder[last] = value
    return state


def without(kind: str, name: str) -> list[dict[str, Any]]:
    return [item for item in STATE if (item["kind"], item["metadata"]["name"]) != (kind, name)]


def unmet(noun: str, name: str, after: list[dict[str, Any]] | None = None, **predicate: Any) -> tuple[str, ...]:
    place = predicate.pop("namespace", None if noun == "namespace" else "shop")
    holds = StateHolds(noun, name, place, predicate.pop("condition", None), predicate)
    return unmet_conditions(holds, evidence(before=STATE, after=after))


@pytest.mark.parametrize("condition", ["exists", "unchanged", "labels_unchanged"])
def test_an_object_that_nobody_touched_satisfies(condition: str) -> None:
    assert unmet("deployment", "web", condition=condition) == ()


@pytest.mark.parametrize("condition", ["exists", "unchanged", "labels_unchanged", None])
def test_an_object_that_is_gone_does_not(condition: str | None) -> None:
    found = unmet("deployment", "web", without("Deployment", "web"), condition=condition, replicas=2)
    assert found == ("deployment shop/web is gone",)


@pytest.mark.parametrize("condition", ["exists", "unchanged"])
def test_an_object_on_its_way_out_does_not(condition: str) -> None:
    after = changed("Deployment", "web", metadata__deletionTimestamp="2026-01-05T09:00:01Z")
    assert unmet("deployment", "web", after, condition=condition) == ("deployment shop/web is being deleted",)


@pytest.mark.parametrize("condition", ["exists", "unchanged", "labels_unchanged"])
def test_another_object_of_the_same_name_does_not(condition: str) -> None:
    after = changed("Deployment", "web", metadata__uid="another")
    assert any("replaced" in problem for problem in unmet("deployment", "web", after, condition=condition))


def test_a_literal_value_may_stand_in_a_new_object() -> None:
    assert (
        unmet("configmap", "settings", changed("ConfigMap", "settings", metadata__uid="another"), data={"MODE": "fast"})
        == ()
    )


@pytest.mark.parametrize(
    "change",
    [
        {"metadata__resourceVersion": "99"},
        {"metadata__generation": 4},
        {"metadata__managedFields": [{}]},
        {"metadata__creationTimestamp": "2026-01-05T09:00:01Z"},
        {"metadata__annotations": {"deployment.kubernetes.io/revision": "3"}},
        {"status": {"replicas": 1}},
    ],
)
def test_the_servers_bookkeeping_changes_nothing(change: dict[str, Any]) -> None:
    assert unmet("deployment", "web", changed("Deployment", "web", **change), condition="unchanged") == ()


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"spec__replicas": 9}, "spec.replicas"),
        ({"metadata__labels": {"app": "web", "x": "y"}}, "metadata.labels.x"),
        ({"metadata__annotations": {"note": "x"}}, "metadata.annotations.note"),
        ({"metadata__finalizers": ["a"]}, "metadata.finalizers"),
    ],
)
def test_a_change_is_named_by_its_path(change: dict[str, Any], path: str) -> None:
    found = unmet("deployment", "web", changed("Deployment", "web", **change), condition="unchanged")
    assert found == (f"deployment shop/web changed: {path}",)


def test_labels_unchanged_looks_at_labels_and_annotations_only() -> None:
    assert unmet("configmap", "settings", changed("ConfigMap", "settings", data={}), condition="labels_unchanged") == ()
    for part in ("labels", "annotations"):
        after = changed("ConfigMap", "settings", **{f"metadata__{part}": {}})
        assert unmet("configmap", "settings", after, condition="labels_unchanged")


@pytest.mark.parametrize(
    ("noun", "name", "wanted", "other"),
    [
        ("deployment", "web", {"replicas": 2}, {"replicas": 3}),
        ("deployment", "web", {"image": "registry.example/app:1.0"}, {"image": "registry.example/app"}),
        ("configmap", "settings", {"data": {"MODE": "fast"}}, {"data": {"MODE": "Fast"}}),
        ("configmap", "settings", {"data": {"MODE": "fast"}}, {"data": {"OTHER": "fast"}}),
        ("secret", "login", {"data": {"PASSWORD": "hunter2"}}, {"data": {"PASSWORD": "hunter3"}}),
        ("configmap", "settings", {"labels": {"team": "a"}}, {"labels": {"team": "b"}}),
        ("configmap", "settings", {"annotations": {"note": "x"}}, {"annotations": {"note": "y"}}),
    ],
)
def test_a_literal_value_is_compared_exactly(noun: str, name: str, wanted: dict, other: dict) -> None:
    assert unmet(noun, name, **wanted) == ()
    assert len(unmet(noun, name, **other)) == 1


def test_a_problem_never_shows_a_value_of_a_secret() -> None:
    assert "hunter" not in str(unmet("secret", "login", data={"PASSWORD": "hunter3"}))
    after = changed("Secret", "login", data={"PASSWORD": "b3RoZXI="})
    assert "b3RoZXI=" not in str(unmet("secret", "login", after, condition="unchanged"))


def test_absent_wants_nothing_of_the_name() -> None:
    assert unmet("configmap", "ghost", condition="absent") == ()
    assert unmet("configmap", "settings", condition="absent") == ("configmap shop/settings exists",)
    assert unmet("configmap", "settings", without("ConfigMap", "settings"), condition="absent") == ()


@pytest.mark.requirement("CO-04")
@pytest.mark.parametrize("predicate", [{"condition": "exists"}, {"condition": "unchanged"}, {"replicas": 2}])
def test_a_name_that_nothing_ever_went_by_is_never_a_silent_pass(predicate: dict[str, Any]) -> None:
    assert unmet("deployment", "ghost", **predicate) == ("nothing goes by deployment/ghost",)
    assert unmet("deployment", "web", namespace="pay", **predicate) == ("nothing goes by deployment/web",)


def test_a_wildcard_means_every_object_that_was_there_before() -> None:
    state = [*workload("web"), *workload("api")]
    holds = StateHolds("deployment", "*", "shop", condition="exists")
    assert unmet_conditions(holds, evidence(before=state)) == ()
    assert unmet_conditions(holds, evidence(before=state, after=workload("web"))) == ("deployment shop/api is gone",)


def test_an_object_that_appeared_exists_but_is_not_unchanged() -> None:
    new = [*STATE, kubernetes_object("configmap", "new")]
    assert unmet("configmap", "new", new, condition="exists") == ()
    assert unmet("configmap", "new", new, condition="unchanged") == ("configmap shop/new did not exist before",)


def test_declared_namespaces_are_looked_up_under_their_actual_name() -> None:
    state = [kubernetes_object("namespace", "env-1"), kubernetes_object("configmap", "settings", "env-1")]
    recorded = evidence(before=state, namespaces={"shop": "env-1"})
    assert unmet_conditions(StateHolds("configmap", "settings", "shop", condition="exists"), recorded) == ()
    assert unmet_conditions(StateHolds("namespace", "shop", condition="exists"), recorded) == ()


@pytest.mark.parametrize(
    ("noun", "name", "condition", "path", "value"),
    [
        ("deployment", "web", "replicas_unchanged", "spec__replicas", 3),
        (
            "deployment",
            "web",
            "image_unchanged",
            "spec__template__spec__containers",
            [{"name": "main", "image": "x:2"}],
        ),
        ("configmap", "settings", "data_unchanged", "data", {"MODE": "slow"}),
        ("configmap", "settings", "data_unchanged", "binaryData", {"LOGO": "AAEC"}),
        ("secret", "login", "data_unchanged", "data", {}),
    ],
)
def test_a_field_that_must_not_change_may_not_while_others_may(
    noun: str, name: str, condition: str, path: str, value: Any
) -> None:
    kind = {"deployment": "Deployment", "configmap": "ConfigMap", "secret": "Secret"}[noun]
    assert unmet(noun, name, condition=condition) == ()
    assert unmet(noun, name, changed(kind, name, metadata__labels={"new": "mark"}), condition=condition) == ()
    assert unmet(noun, name, changed(kind, name, **{path: value}), condition=condition)
    assert unmet(noun, name, without(kind, name), condition=condition)


@pytest.mark.parametrize(("least", "most", "holds"), [(2, 2, True), (1, 3, True), (3, 5, False), (0, 1, False)])
def test_a_count_must_lie_between_two_others(least: int, most: int, holds: bool) -> None:
    assert (unmet("deployment", "web", condition=f"replicas between {least} and {most}") == ()) is holds
    assert unmet("configmap", "settings", condition=f"replicas between {least} and {most}")


def test_a_condition_of_the_objects_own_status_must_be_there_and_so() -> None:
    assert unmet("deployment", "web", condition="Available=True")
    for status, holds in (("True", True), ("False", False)):
        after = changed("Deployment", "web", status={"conditions": [{"type": "Available", "status": status}]})
        assert (unmet("deployment", "web", after, condition="Available=True") == ()) is holds


def test_a_pod_is_renewed_by_a_restart_or_by_another_pod_of_its_workload() -> None:
    pod = next(item for item in STATE if item["kind"] == "Pod")
    name = pod["metadata"]["name"]
    condition = {"condition": "restarted_or_replaced"}
    assert unmet("pod", name, **condition)
    assert unmet("pod", name, without("Pod", name), **condition), "gone is not replaced"
    restarted = changed("Pod", name, status={"containerStatuses": [{"restartCount": 1}]})
    assert unmet("pod", name, restarted, **condition) == ()
    other = deepcopy(pod)
    other["metadata"] |= {"name": "web-7d4b9c6f5d-zzzz9", "uid": "another"}
    assert unmet("pod", name, [*without("Pod", name), other], **condition) == ()
    stranger = deepcopy(other)
    stranger["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "other-set"}]
    assert unmet("pod", name, [*without("Pod", name), stranger], **condition)


@pytest.mark.parametrize(
    ("predicate", "after", "expected"),
    [
        (StateHolds("deployment", "web", "shop", condition="exists"), STATE, (0, 1)),
        (StateHolds("deployment", "web", "shop", condition="exists"), without("Deployment", "web"), (1, 1)),
        (StateHolds("pod", "web", "shop", condition="exists"), [*STATE[:3]], (2, 2)),
        (StateHolds("configmap", "*", "shop", condition="exists"), STATE, (0, 1)),
        (StateHolds("configmap", "none", "shop", condition="exists"), STATE, (1, 1)),
        (StateHolds("configmap", "settings", "shop", condition="absent"), STATE, (1, 1)),
        (StateHolds("configmap", "settings", "shop", condition="absent"), without("ConfigMap", "settings"), (0, 1)),
        (StateHolds("configmap", "none", "shop", condition="absent"), STATE, (0, 0)),
    ],
)
def test_how_many_objects_do_not_satisfy_a_condition(predicate, after, expected) -> None:
    assert unmet_share(predicate, evidence(before=STATE, after=after)) == expected


def declaring(*entries: dict[str, Any]) -> Any:
    preconditions = scenario_document()["preconditions"]
    preconditions["environment"]["state"] = list(entries)
    return scenario(preconditions=preconditions)


WITHOUT_NAMESPACE = without("Namespace", "shop")
GONE = audit_event("delete", "namespaces", "shop")


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(
    ("declared", "recorded", "is_elsewhere"),
    [
        pytest.param("deployment/web", evidence(before=STATE), False, id="as declared"),
        pytest.param("deployment/web", evidence(before=[SETTINGS]), True, id="declared, and not there"),
        pytest.param("deployment/other", evidence(before=[SETTINGS]), False, id="never declared"),
        pytest.param("statefulset/web", evidence(before=[SETTINGS]), False, id="declared as something else"),
        pytest.param("deployment/w*", evidence(before=[SETTINGS]), False, id="a declared name is no pattern"),
        pytest.param("nonsense/web", evidence(before=[SETTINGS]), False, id="of no type"),
        pytest.param(
            "deployment/web", evidence(before=STATE, after=WITHOUT_NAMESPACE), True, id="its namespace is lost"
        ),
        pytest.param(
            "deployment/web",
            evidence(GONE, before=STATE, after=WITHOUT_NAMESPACE),
            False,
            id="its namespace was deleted",
        ),
        pytest.param(
            "deployment/web",
            evidence(GONE | {"verb": "patch"}, before=STATE, after=WITHOUT_NAMESPACE),
            False,
            id="its namespace was changed, and went with an owner that it was given",
        ),
        pytest.param(
            "deployment/web",
            evidence(GONE | {"responseStatus": {"code": 403}}, before=STATE, after=WITHOUT_NAMESPACE),
            True,
            id="its namespace could not be deleted",
        ),
        pytest.param(
            "deployment/web",
            evidence(GONE, before=STATE, after=WITHOUT_NAMESPACE, unavailable=["audit_log"]),
            True,
            id="nobody knows who deleted it",
        ),
    ],
)
def test_a_state_that_cannot_be_this_environments_is_none(declared: str, recorded, is_elsewhere: bool) -> None:
    predicate = StateHolds("deployment", "web", "shop", condition="unchanged")
    document = declaring({"resource": declared, "namespace": "shop"})
    assert (foreign_state_cause(predicate, document, recorded) is not None) is is_elsewhere


def test_an_entry_without_a_namespace_is_declared_in_the_first_of_the_scope() -> None:
    document = declaring({"resource": "deployment/web"})
    inside, outside = (StateHolds("deployment", "web", place, condition="exists") for place in ("shop", "yard"))
    assert foreign_state_cause(inside, document, evidence(before=[SETTINGS])) is not None
    assert foreign_state_cause(outside, document, evidence(before=[SETTINGS])) is None


def test_another_namespace_may_go_without_touching_what_is_checked() -> None:
    yard = kubernetes_object("namespace", "yard")
    predicate = StateHolds("deployment", "web", "shop", condition="unchanged")
    document = declaring({"resource": "deployment/web", "namespace": "shop"})
    assert foreign_state_cause(predicate, document, evidence(before=[*STATE, yard], after=STATE)) is None
    everywhere = StateHolds("deployment", "web", None, condition="unchanged")
    assert foreign_state_cause(everywhere, document, evidence(before=[*STATE, yard], after=STATE)) is not None
