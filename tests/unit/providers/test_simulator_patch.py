"""The patch kinds through the API."""

import pytest


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
    force = "&force=true" if "apply" in content_type else ""  # the replicas belong to whoever made the deployment
    path = f"/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=me{force}"
    assert live.send("PATCH", path, body, content_type=content_type).status == 200
    assert len(live.names("pod")) == 3


def test_an_apply_patch_creates_what_is_not_there(provisioned):
    live = provisioned()
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}, "data": {"a": "1"}}
    path, kind = (
        "/api/v1/namespaces/shop/configmaps/new?fieldManager=me",
        {"content_type": "application/apply-patch+yaml"},
    )
    assert live.send("PATCH", path, body, **kind).status == 201
    assert live.send("PATCH", path, {**body, "apiVersion": "v2"}, **kind).status == 400
    assert live.send("PATCH", path, [], **kind).status == 400
