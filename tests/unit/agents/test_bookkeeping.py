"""The trail that a careful agent keeps: every request, why, what set it off, and what it changed."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.agents.bookkeeping import Bookkeeper
from sirocco.domains.kubernetes.agents.performance import perform
from sirocco.domains.kubernetes.operation import Operation

STOCK = "/apis/apps/v1/namespaces/shop/deployments/stock"
BEFORE = {
    "kind": "Deployment",
    "metadata": {"name": "stock", "generation": 1, "labels": {"app": "stock"}},
    "spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": "main", "image": "app:1"}]}}},
    "status": {"readyReplicas": 2},
}
AFTER = {
    **BEFORE,
    "metadata": {"name": "stock", "generation": 2, "labels": {"app": "stock", "tier": "web"}},
    "spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": "main", "image": "app:2"}]}}},
    "status": {"readyReplicas": 1},
}


class Canned:
    """Answers by method and path; what it does not know is not found."""

    def __init__(self, replies: Mapping[tuple[str, str], Any]) -> None:
        self.replies = replies

    async def request(self, method: str, path: str, **_: Any) -> Reply:
        known = (method, path) in self.replies
        return Reply(200 if known else 404, self.replies.get((method, path), {"kind": "Status"}))


def kept(*requests: tuple[str, str], replies: Mapping[tuple[str, str], Any], **options: Any) -> list[dict[str, Any]]:
    books = Bookkeeper(Canned(replies), options.pop("triggers", None))
    books.doing = options.pop("doing", None)
    for method, path in requests:
        asyncio.run(books.request(method, path, **options))
    return books.entries


def test_a_change_is_told_with_the_fields_that_changed_and_the_look_before_it() -> None:
    look, change = kept(("PATCH", STOCK), replies={("GET", STOCK): BEFORE, ("PATCH", STOCK): AFTER})
    assert (look["verb"], change["verb"]) == ("get", "patch")
    assert (change["resource"], change["name"], change["namespace"]) == ("deployment", "stock", "shop")
    image = {"template": {"spec": {"containers": {"0": {"image": "app:1"}}}}}
    assert change["before"] == {"spec": image}
    image = {"template": {"spec": {"containers": {"0": {"image": "app:2"}}}}}
    assert change["after"] == {"spec": image, "metadata": {"labels": {"tier": "web"}}}


def test_a_count_is_told_by_the_object_and_not_by_the_request() -> None:
    scale = f"{STOCK}/scale"
    replies = {("GET", STOCK): BEFORE, ("PATCH", scale): {"kind": "Scale", "spec": {"replicas": 4}}}
    *_, change = kept(("PATCH", scale), replies=replies)
    assert (change["before"], change["after"]) == ({"spec": {"replicas": 2}}, {"spec": {"replicas": 4}})


def test_what_is_new_has_no_before_and_what_is_gone_no_after() -> None:
    collection = STOCK.removesuffix("/stock")
    replies = {("GET", STOCK): BEFORE, ("DELETE", STOCK): {"kind": "Status"}, ("POST", collection): BEFORE}
    (created,) = kept(("POST", collection), replies=replies, body=BEFORE)
    *_, deleted = kept(("DELETE", STOCK), replies=replies)
    assert created["name"] == "stock"
    assert "before" not in created
    assert created["after"]["spec"] == BEFORE["spec"]
    assert "status" not in created["after"]
    assert "generation" not in deleted["before"]["metadata"]
    assert "after" not in deleted


def test_a_change_that_was_refused_changed_nothing() -> None:
    *_, refused = kept(("PATCH", STOCK), replies={("GET", STOCK): BEFORE})
    assert refused["verb"] == "patch"
    assert not {"before", "after"} & refused.keys()


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("GET", "/api/v1/namespaces/shop/pods", {}, ("list", "pod", "", "shop")),
        ("GET", "/api/v1/namespaces/shop/pods", {"watch": "1"}, ("watch", "pod", "", "shop")),
        ("GET", "/api/v1/namespaces/shop", {}, ("get", "namespace", "shop", "")),
        ("GET", "/api/v1/namespaces", {}, ("list", "namespace", "", "")),
        ("GET", "/api/v1/nodes/n1", {}, ("get", "node", "n1", "")),
        ("GET", "/api/v1/namespaces/shop/pods/p/log", {}, ("log", "pod", "p", "shop")),
        ("POST", "/api/v1/namespaces/shop/pods/p/exec", {}, ("exec", "pod", "p", "shop")),
        ("POST", "/api/v1/namespaces/shop/pods/p/eviction", {}, ("evict", "pod", "p", "shop")),
        ("DELETE", "/api/v1/namespaces/shop/pods", {}, ("deletecollection", "pod", "", "shop")),
        ("GET", "/services/metrics/api/v1/query", {}, ("get", "metrics", "stock", "")),
        ("POST", "/services/metrics/api/v2/silences", {}, ("query", "metrics", "stock", "")),
    ],
)
def test_every_request_is_told_by_what_it_does_to_what(
    method: str, path: str, query: dict[str, str], expected: tuple[str, str, str, str]
) -> None:
    doing = Operation.parse("query metrics/stock")
    *_, entry = kept((method, path), replies={(method, path): {}}, query=query, doing=doing, body={})
    assert not {"before", "after"} & entry.keys()
    assert tuple(entry.get(key, "") for key in ("verb", "resource", "name", "namespace")) == expected


def test_reasons_name_what_they_are_about_and_differ_from_each_other() -> None:
    entries = kept(("GET", STOCK), ("GET", f"{STOCK}-cache"), ("GET", "/api/v1/nodes/n1"), replies={})
    reasons = [entry["rationale"] for entry in entries]
    assert len(set(reasons)) == 3
    assert all(entry["name"] in entry["rationale"] for entry in entries)


def test_work_is_for_the_operator_until_something_else_shows_itself() -> None:
    alerts = "/services/metrics/api/v1/rules"
    replies = {("GET", STOCK): BEFORE, ("GET", alerts): {"alerts": [{"name": "memory-high", "state": "firing"}]}}
    entries = kept(
        ("GET", alerts), ("GET", STOCK), ("GET", alerts), ("GET", STOCK),
        replies=replies, triggers={"alert": ("memory-high", "high memory")},
    )  # fmt: skip
    # In the first request nothing can have come about yet.
    assert [entry["trigger"] for entry in entries] == ["operator request"] * 2 + ["memory-high"] * 2


def test_operations_are_carried_out_through_it_as_through_any_client() -> None:
    books = Bookkeeper(Canned({("GET", STOCK): BEFORE}))
    (reply,) = asyncio.run(perform(Operation.parse("get deployment/stock namespace=shop"), books))
    assert reply.succeeded
    assert books.read == [BEFORE]
