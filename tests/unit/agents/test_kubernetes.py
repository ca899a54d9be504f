"""The requests that kubectl would send, as the environment records them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from builders import provider, provision_request
from kubesim.resource import RESOURCE_TYPES
from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.agents.client import Kubernetes, PatchForm, minimal_object
from sirocco.oasis.observation import ObservationType

Action = Callable[[Kubernetes], Awaitable[Reply]]
STATE = ({"resource": "deployment/web", "namespace": "shop"}, {"resource": "pod/tool", "namespace": "shop"})


def recorded(action: Action) -> tuple[Reply, dict[str, Any]]:
    """The reply to an action and the audit event of its request."""

    async def run() -> tuple[Reply, dict[str, Any]]:
        async with provider().provision(provision_request(*STATE)) as environment:
            reply = await action(Kubernetes(environment.access.client))
            return reply, (await environment.observe(ObservationType.AUDIT_LOG)).data["entries"][-1]

    return asyncio.run(run())


@pytest.mark.parametrize("row", [row for row in RESOURCE_TYPES if row.namespaced], ids=lambda row: row.noun)
def test_a_minimal_object_of_every_type_is_valid(row) -> None:
    reply, _ = recorded(lambda kubernetes: kubernetes.create(row.noun, "shop", minimal_object(row.noun, "shop", "new")))
    assert reply.status == (403 if row.group == "rbac.authorization.k8s.io" else 201), reply.body


@pytest.mark.parametrize(
    ("action", "verb", "path"),
    [
        (lambda k: k.get("deployment", "shop", "web"), "get", "deployments/web"),
        (lambda k: k.list("pod", "shop", "app=web"), "list", "pods?labelSelector=app%3Dweb"),
        (lambda k: k.watch("pod", "shop"), "watch", "pods?watch=true&timeoutSeconds=1"),
        (lambda k: k.scale("deployment", "shop", "web", 3), "patch", "deployments/web/scale"),
        (lambda k: k.delete("deployment", "shop", "web"), "delete", "deployments/web"),
        (lambda k: k.delete_collection("pod", "shop", "app=web"), "deletecollection", "pods?labelSelector=app%3Dweb"),
        (lambda k: k.evict("shop", "tool"), "create", "pods/tool/eviction"),
        (lambda k: k.log("shop", "tool"), "get", "pods/tool/log"),
        (lambda k: k.execute("shop", "tool", "env"), "create", "pods/tool/exec?command=env&stdout=true&stderr=true"),
    ],
)
def test_a_call_is_recorded_as_the_request_that_it_is(action: Action, verb: str, path: str) -> None:
    reply, event = recorded(action)
    assert reply.succeeded, reply.body
    assert event["verb"] == verb
    assert event["requestURI"].endswith(f"/namespaces/shop/{path}")


@pytest.mark.parametrize("form", [PatchForm.STRATEGIC, PatchForm.MERGE])
def test_a_patch_is_sent_in_its_form(form: PatchForm) -> None:
    body = {"metadata": {"labels": {"tier": "front"}}}
    reply, event = recorded(lambda kubernetes: kubernetes.patch("deployment", "shop", "web", body, form))
    assert reply.body["metadata"]["labels"]["tier"] == "front"
    assert event["requestObject"] == body


def test_items_carry_their_kind_and_are_empty_where_reading_is_refused() -> None:
    async def run() -> tuple[Any, Any]:
        async with provider().provision(provision_request(*STATE)) as environment:
            kubernetes = Kubernetes(environment.access.client)
            return await kubernetes.items("deployment", "shop"), await kubernetes.items("deployment", "pay")

    found, refused = asyncio.run(run())
    assert [(item["kind"], item["metadata"]["name"]) for item in found] == [("Deployment", "web")]
    assert refused == ()
