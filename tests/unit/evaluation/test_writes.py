"""What a request writes, in every form of body."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import audit_event, kubernetes_object, pod_template
from sirocco.domains.kubernetes.agents.changes import changed_object, patch_body
from sirocco.domains.kubernetes.agents.client import PatchForm
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.writes import resulting_object, spellings, value_written, values_at

TWO = {"spec": {"replicas": 2, "template": pod_template("web")}}
TWO["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "side:1"})
DEPLOYMENT = kubernetes_object("deployment", "web", labels={"app": "web"}, annotations={"note": "x"}, **TWO)
PATHS = [
    ("metadata", "labels", "app"), ("metadata", "labels", "new"), ("metadata", "annotations", "a.b/c"),
    ("spec", "replicas"), ("spec", "template", "metadata", "annotations", "at"), ("spec", "paused"),
    ("spec", "template", "spec", "containers", "0", "image"), ("spec", "template", "spec", "containers", "1", "image"),
]  # fmt: skip


def call(verb: str, body: Any, *, code: int = 422, response: Any = None) -> AuditEntry:
    """A call that was not carried out unless told otherwise, so that only its body can tell."""
    return AuditEntry.from_event(
        audit_event(verb, "deployments", "web", "shop", body=body, code=code, response=response), 0
    )


def by_name(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple({"0": "main", "1": "side"}.get(segment, segment) for segment in path)


@pytest.mark.parametrize(("operation", "leaves"), [("move", False), ("copy", True), ("add", True)])
def test_only_a_move_takes_something_away_from_where_it_was(operation: str, leaves: bool) -> None:
    source = {"from": "/metadata/annotations/note", "path": "/metadata/annotations/other", "value": "x"}
    request = call("patch", [{"op": operation, **source}])
    assert (value_written(request, ("metadata", "annotations", "note"), DEPLOYMENT) is None) is leaves


@given(
    st.dictionaries(st.sampled_from(PATHS), st.sampled_from(["v1", "v2"]), min_size=1),
    st.sampled_from([None, *PatchForm]),
)
def test_every_form_of_the_same_change_writes_the_same_fields(changes: dict, form: PatchForm | None) -> None:
    if form is None:
        request = call("update", changed_object(DEPLOYMENT, changes))
    else:
        request = call("patch", patch_body(DEPLOYMENT, changes, form))
    outcome = resulting_object(request, DEPLOYMENT)
    for path, value in changes.items():
        assert values_at(outcome, by_name(path)) == (value,)
        found = (
            value_written(request, by_name(path), DEPLOYMENT)
            if form is not PatchForm.JSON
            else value_written(request, path, DEPLOYMENT)
        )
        if form is not PatchForm.JSON or "containers" not in path:
            assert found is not None
            assert found.holds(value)
    for path in set(PATHS) - set(changes):
        lists_whole = form is PatchForm.MERGE and "containers" in path and any("containers" in one for one in changes)
        if not lists_whole:
            assert value_written(request, by_name(path), DEPLOYMENT) is None


def test_the_object_compared_with_is_left_alone() -> None:
    before = deepcopy(DEPLOYMENT)
    request = call(
        "patch",
        [{"op": "remove", "path": "/metadata/labels/app"}, {"op": "add", "path": "/spec/paused", "value": True}],
    )
    resulting_object(request, DEPLOYMENT)
    assert before == DEPLOYMENT


@pytest.mark.parametrize(
    ("operations", "path", "values"),
    [
        (
            [{"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "new", "image": "n:1"}}],
            "image",
            ("n:1",),
        ),
        (
            [{"op": "add", "path": "/spec/template/spec/containers/0", "value": {"name": "new", "image": "n:1"}}],
            "image",
            ("n:1",),
        ),
        ([{"op": "remove", "path": "/spec/template/spec/containers/0"}], "image", ("side:1",)),
        ([{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "m:2"}], "image", ("m:2",)),
    ],
)
def test_a_json_patch_reaches_into_lists(operations: list, path: str, values: tuple[str, ...]) -> None:
    image = ("spec", "template", "spec", "containers", "*", "image")
    outcome = resulting_object(call("patch", operations), DEPLOYMENT)
    assert set(values) <= set(values_at(outcome, image))
    assert value_written(call("patch", operations), image, DEPLOYMENT) is not None


@pytest.mark.parametrize(
    "body",
    [
        [{"op": "replace", "path": "/no/such/place", "value": 1}],
        [{"op": "remove", "path": "/spec/template/spec/containers/9"}],
        [{"op": "copy", "from": "/nowhere", "path": "/metadata/labels/x"}],
        [{"op": "add"}, {"path": 3}, "no operation"],
        [],
    ],
)
def test_a_json_patch_that_cannot_be_applied_is_no_failure(body: list) -> None:
    assert resulting_object(call("patch", body), DEPLOYMENT) is not None


def test_a_body_that_was_not_recorded_could_hold_anything() -> None:
    unread = value_written(call("patch", None, code=403), ("spec", "replicas"), DEPLOYMENT)
    assert unread is not None
    assert not unread.is_recorded
    assert unread.holds("9")


def test_the_answer_to_a_success_says_what_came_of_it() -> None:
    answer = changed_object(DEPLOYMENT, {("spec", "replicas"): 4})
    request = call("update", changed_object(DEPLOYMENT, {("spec", "replicas"): 400}), code=200, response=answer)
    found = value_written(request, ("spec", "replicas"), DEPLOYMENT)
    assert found is not None
    assert found.values == (4,)


def test_what_the_server_keeps_for_itself_is_nobodys_write() -> None:
    newer = changed_object(DEPLOYMENT, {("metadata", "resourceVersion"): "99", ("metadata", "generation"): 4})
    assert value_written(call("update", newer), ("metadata",), DEPLOYMENT) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", {"plain"}),
        (5, {"5"}),
        (True, {"true"}),
        (None, {"null"}),
        ("aHVudGVyMg==", {"aHVudGVyMg==", "hunter2"}),
    ],
)
def test_a_value_is_spelled_as_stored_and_as_decoded(value: Any, expected: set[str]) -> None:
    assert expected <= spellings(value)


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (("labels", "app"), ("web",)),
        (("labels", "*"), ("web", "x")),
        (("labels", "t?er"), ("x",)),
        (("labels", "[at]*"), ("web", "x")),
        (("*", "tier"), ("x",)),
        (("labels", "none"), ()),
        (("labels", "app", "deeper"), ()),
        (("containers", "main", "image"), ("a:1",)),
        (("containers", "1", "image"), ("b:1",)),
        (("containers", "*", "image"), ("a:1", "b:1")),
    ],
)
def test_values_at_a_path_with_and_without_wildcards(path: tuple[str, ...], values: tuple[str, ...]) -> None:
    item = {"labels": {"tier": "x", "app": "web"}, "containers": [{"name": "main", "image": "a:1"}, {"image": "b:1"}]}
    assert values_at(item, path) == values
