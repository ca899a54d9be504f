"""A cluster of somebody else's, over a small server: what is asked of it, and what is never written to it."""

import asyncio
import json
import os
import time
from contextlib import asynccontextmanager

import pytest

from kubesim.serving.server import bind_listener, serve_application
from sirocco.domains.kubernetes.cluster.borrowed import (
    EXPIRY_LABEL,
    OWNER_LABEL,
    BorrowedCluster,
    is_gone,
    own_mark,
)
from sirocco.domains.kubernetes.cluster.kubeconfig_access import OwnerAccess
from sirocco.errors import ProviderFault


class Server:
    """Namespaces, as an API server keeps them, and a list of all that was asked."""

    def __init__(self, **namespaces):
        self.namespaces = {
            name: {"metadata": {"name": name, "uid": f"uid-of-{name}", "labels": labels}}
            for name, labels in namespaces.items()
        }
        self.asked = []

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        body = (await receive()).get("body", b"")
        sent = json.loads(body) if body else None
        self.asked.append((scope["method"], scope["path"], sent))
        status, told = self.answer(scope["method"], scope["path"], sent)
        content = json.dumps(told).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def answer(self, method, path, sent):
        name = path.split("/")[4] if path.count("/") > 3 else ""
        if method == "POST" and path == "/api/v1/namespaces":
            name = sent["metadata"]["name"]
            if name in self.namespaces:
                return 409, {}
            self.namespaces[name] = {**sent, "metadata": {**sent["metadata"], "uid": f"uid-of-{name}"}}
            return 201, self.namespaces[name]
        if method == "GET" and not name:
            return 200, {"items": list(self.namespaces.values())}
        if method == "DELETE" and path.count("/") == 4:
            found = self.namespaces.get(name)
            if found is None or found["metadata"]["uid"] != sent["preconditions"]["uid"]:
                return 409, {}
            return 200, self.namespaces.pop(name)
        return (200, self.namespaces[name]) if name in self.namespaces else (404, {})

    @property
    def written(self):
        return [path for method, path, _ in self.asked if method != "GET"]

    @asynccontextmanager
    async def served(self):
        async with serve_application(self, bind_listener("127.0.0.1:0"), None) as address:
            cluster = BorrowedCluster(OwnerAccess("mine", f"http://{address}", "", "word"))
            try:
                yield cluster
            finally:
                cluster.close()


def run(server, work):
    async def act():
        async with server.served() as cluster:
            return await work(cluster)

    return asyncio.run(act())


@pytest.mark.requirement("CO-10")
@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/payroll/configmaps", "/api/v1/nodes", "/api/v1/namespaces",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles", "/api/v1/namespaces/ours/../payroll/configmaps",
        "/api/v1/namespaces/payroll/configmaps?a=/namespaces/ours/", "/api/v1/namespaces/ours%2F..%2Fpayroll/pods",
    ],
)  # fmt: skip
def test_nothing_is_written_outside_of_a_namespace_of_our_own(path):
    server = Server(payroll={})

    async def work(cluster):
        await cluster.claim(["ours"])
        with pytest.raises(ProviderFault, match="nothing was written"):
            await cluster.write("POST", path, {})

    run(server, work)
    assert server.written == ["/api/v1/namespaces"]


def test_a_namespace_that_was_there_is_left_alone_and_none_is_kept():
    server = Server(payroll={})

    async def work(cluster):
        with pytest.raises(ProviderFault, match="left alone"):
            await cluster.claim(["ours", "payroll"])
        return cluster.own_namespaces

    assert run(server, work) == frozenset()
    assert set(server.namespaces) == {"payroll"}


def test_a_namespace_that_came_in_the_place_of_ours_is_left_alone():
    server = Server()

    async def work(cluster):
        await cluster.claim(["ours"])
        server.namespaces["ours"]["metadata"]["uid"] = "of somebody else"
        await cluster.release(["ours"])

    run(server, work)
    assert set(server.namespaces) == {"ours"}


def test_only_what_nobody_uses_any_more_is_removed():
    soon, past = str(int(time.time()) + 99), str(int(time.time()) - 1)
    host = own_mark().partition("-")[0]
    labels = {
        "expired": {OWNER_LABEL: "elsewhere-1-2", EXPIRY_LABEL: past},
        "elsewhere": {OWNER_LABEL: "elsewhere-1-2", EXPIRY_LABEL: soon},
        "dead": {OWNER_LABEL: f"{host}-{os.getpid()}-1", EXPIRY_LABEL: soon},
        "living": {OWNER_LABEL: own_mark(), EXPIRY_LABEL: soon},
    }
    server = Server(**labels)

    async def work(cluster):
        return await cluster.clean(), await cluster.clean(everything=True)

    first, second = run(server, work)
    assert (sorted(first), sorted(second)) == (["dead", "expired"], ["elsewhere", "living"])


def test_a_process_that_is_there_is_not_gone():
    assert not is_gone(own_mark())
    assert is_gone(f"{own_mark()}9")
    assert not is_gone("another-host-1-2")
