"""Deletion: grace periods, finalizers, what becomes of dependents, preconditions, and namespaces on their way out."""

import pytest

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
MERGE = "application/merge-patch+json"


def pod(name, **spec):
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


@pytest.fixture
def scheduled(bare):
    assert bare.send("POST", PODS, pod("p", nodeName="n")).status == 201
    return bare


def test_a_scheduled_pod_gets_its_grace_and_it_can_only_shrink(scheduled):
    first = scheduled.send("DELETE", f"{PODS}/p").body["metadata"]
    assert (first["deletionGracePeriodSeconds"], first["deletionTimestamp"]) == (30, "2026-01-05T09:00:30Z")
    longer = scheduled.send("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 60}).body["metadata"]
    assert longer == first
    shorter = scheduled.send("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 5}).body["metadata"]
    assert (shorter["deletionGracePeriodSeconds"], shorter["deletionTimestamp"]) == (5, "2026-01-05T09:00:05Z")
    assert scheduled.send("DELETE", f"{PODS}/p?gracePeriodSeconds=0").status == 200
    assert scheduled.send("GET", f"{PODS}/p").status == 404


def test_a_pod_that_runs_nowhere_goes_at_once_and_is_shown_as_it_went(bare):
    bare.send("POST", PODS, pod("p"))
    gone = bare.send("DELETE", f"{PODS}/p").body
    assert (gone["kind"], gone["metadata"]["deletionGracePeriodSeconds"]) == ("Pod", 0)
    assert bare.send("GET", f"{PODS}/p").status == 404


@pytest.mark.parametrize(
    ("options", "finalizers"),
    [
        ({"propagationPolicy": "Foreground"}, ["foregroundDeletion"]),
        ({"propagationPolicy": "Orphan"}, ["orphan"]),
        ({"orphanDependents": True}, ["orphan"]),
    ],
)
def test_a_finalizer_says_what_becomes_of_dependents(bare, options, finalizers):
    bare.send("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
    marked = bare.send("DELETE", f"{CONFIGMAPS}/a", options).body
    assert marked["metadata"]["finalizers"] == finalizers
    assert "deletionTimestamp" in marked["metadata"]


def test_jobs_leave_their_pods_unless_told_otherwise(bare):
    template = {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}
    for name in ("kept", "cleared"):
        bare.send("POST", JOBS, {"metadata": {"name": name}, "spec": {"template": template}})
    assert bare.send("DELETE", f"{JOBS}/kept").body["metadata"]["finalizers"] == ["orphan"]
    cleared = bare.send("DELETE", f"{JOBS}/cleared", {"propagationPolicy": "Background"})
    assert cleared.body["status"] == "Success"


def test_the_last_finalizer_lets_the_object_go(bare):
    bare.send("POST", CONFIGMAPS, {"metadata": {"name": "a", "finalizers": ["x.io/keep"]}})
    assert bare.send("DELETE", f"{CONFIGMAPS}/a").body["kind"] == "ConfigMap"
    again = bare.send("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
    assert again.body["message"] == 'object is being deleted: configmaps "a" already exists'
    assert bare.send("PATCH", f"{CONFIGMAPS}/a", {"metadata": {"finalizers": None}}, MERGE).status == 200
    assert bare.send("GET", f"{CONFIGMAPS}/a").status == 404


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"preconditions": {"uid": "x"}}, 409, "does not match the UID in record"),
        ({"preconditions": {"resourceVersion": "1"}}, 409, "The object might have been modified"),
        ({"propagationPolicy": "Sideways"}, 422, 'Unsupported value: "Sideways"'),
        ({"propagationPolicy": "Orphan", "orphanDependents": True}, 422, "cannot be both set"),
        ({"dryRun": ["Some"]}, 422, '[]string{"Some"}'),
        ({"kind": "Pod", "apiVersion": "v1"}, 500, 'no kind "Pod" is registered'),
        (b"{", 500, "unexpected end of JSON input"),
    ],
)
def test_options_that_do_not_hold_leave_the_object(bare, body, status, words):
    bare.send("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
    response = bare.send("DELETE", f"{CONFIGMAPS}/a", body)
    assert response.status == status
    assert words in response.body["message"]
    assert bare.send("GET", f"{CONFIGMAPS}/a").status == 200


def test_a_namespace_goes_when_its_finalizers_are_gone(bare):
    bare.send("POST", "/api/v1/namespaces", {"metadata": {"name": "going"}})
    assert bare.send("DELETE", "/api/v1/namespaces/going").body["status"] == {"phase": "Terminating"}
    late = bare.send("POST", "/api/v1/namespaces/going/configmaps", {"metadata": {"name": "a"}})
    assert (late.status, late.body["details"]["causes"][0]["reason"]) == (403, "NamespaceTerminating")
    emptied = {"metadata": {"name": "going"}, "spec": {}}
    assert bare.send("PUT", "/api/v1/namespaces/going/finalize", emptied).status == 200
    assert bare.send("GET", "/api/v1/namespaces/going").status == 404
    assert bare.send("DELETE", "/api/v1/namespaces/kube-system").status == 403
