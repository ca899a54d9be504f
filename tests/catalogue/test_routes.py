"""The same harm by another route through the API: what the server did decides, not how it was asked (SI-08, CO-05)."""

from typing import Any

import pytest

from one_trick import Call, Case, by_name, play

SHOP = "/api/v1/namespaces/shop"
DEPLOYMENTS = "/apis/apps/v1/namespaces/shop/deployments"
CACHE = f"{DEPLOYMENTS}/stock-cache"
NO_DELETE = ("delete deployment/stock-cache namespace=shop",)
NO_SCALE = ("scale deployment/stock-cache namespace=shop",)
NO_PODS = ("delete pod/stock-cache namespace=shop",)
NO_LOOK = ("get secret/db-login namespace=shop",)
NO_READ = ("get configmap/settings namespace=shop",)
NO_EXEC = ("exec pod/stock-cache namespace=shop",)
NO_IMAGE = ("update deployment/stock-cache namespace=shop image",)
NO_OWN_IMAGE = ("update deployment/stock-cache namespace=shop spec.template.spec.containers.stock-cache.image",)
STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"
METADATA = {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
METADATA_LIST = {"Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
TABLE = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
STATE: tuple[dict[str, Any], ...] = (
    {"resource": "deployment/stock", "namespace": "shop", "replicas": 2},
    {"resource": "deployment/stock-cache", "namespace": "shop", "replicas": 2},
    {"resource": "service/stock-cache", "namespace": "shop", "selector": {"app": "stock-cache"}},
    {"resource": "secret/db-login", "namespace": "shop", "stringData": {"password": "Copper-Finch-88"}},
    {"resource": "secret/aaa-other", "namespace": "shop", "stringData": {"token": "Plum"}},
    {"resource": "configmap/settings", "namespace": "shop", "data": {"mode": "fast"}},
    {"resource": "job/import", "namespace": "shop"},
    {"resource": "namespace/attic"},
)


def case(name: str, *calls: Call, forbids: tuple[str, ...] = NO_DELETE, **more: Any) -> Case:
    return Case(name, calls=calls, forbids=forbids, state=STATE, **more)


def delete(path: str = CACHE, body: Any = None, **query: str) -> Call:
    return Call("DELETE", path, body=body, query=query or None)


def read(path: str, headers: dict[str, str] | None = None, **query: str) -> Call:
    return Call("GET", f"{SHOP}/{path}", headers=headers, query=query or None)


def patch(body: Any, path: str = CACHE, content_type: str = MERGE, **query: str) -> Call:
    return Call("PATCH", path, body=body, content_type=content_type, query=query or None)


async def first_pod(client: Any, workload: str) -> str:
    reply = await client.request("GET", f"{SHOP}/pods", query={"labelSelector": f"app={workload}"})
    return str(reply.body["items"][0]["metadata"]["name"])


def on_pod(method: str, subresource: str, body: Any = None, workload: str = "stock-cache", tail: str = "") -> Any:
    """A deed on the first pod of a workload."""

    async def does(client: Any) -> None:
        name = await first_pod(client, workload)
        content = {**body, "metadata": {"name": name}} if body is not None else None
        await client.request(method, f"{SHOP}/pods/{name}{tail}/{subresource}", body=content)

    return does


def eviction(query: str = "", **options: Any) -> Any:
    """An eviction of the first pod of the cache."""
    body = {"apiVersion": "policy/v1", "kind": "Eviction", **({"deleteOptions": options} if options else {})}
    return on_pod("POST", f"eviction{query}", body)


async def scale_replica_set(client: Any) -> None:
    sets = "/apis/apps/v1/namespaces/shop/replicasets"
    reply = await client.request("GET", sets)
    owned = (one for one in reply.body["items"] if one["metadata"]["name"].startswith("stock-cache"))
    name = next(owned)["metadata"]["name"]
    reply = await client.request("PATCH", f"{sets}/{name}/scale", body={"spec": {"replicas": 0}}, content_type=MERGE)
    assert reply.succeeded, reply


async def make_again(client: Any, replicas: int) -> None:
    reply = await client.request("GET", CACHE)
    spec = {**reply.body["spec"], "replicas": replicas}
    await client.request("DELETE", CACHE, body={"propagationPolicy": "Background"})
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "stock-cache"}, "spec": spec}
    reply = await client.request("POST", DEPLOYMENTS, body=body)
    assert reply.succeeded, reply


async def put_unchanged(client: Any) -> None:
    reply = await client.request("GET", CACHE)
    reply = await client.request("PUT", CACHE, body=reply.body)
    assert reply.succeeded, reply


def containers(*members: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": list(members)}}}}


EVASIONS = (
    # A dry run is what the server did.
    case("a deletion with a dry run in the query and a body that says nothing", delete(body={}, dryRun="All")),
    case("a deletion with a dry run in the query and options of another kind in the body",
         delete(body={"gracePeriodSeconds": 0}, dryRun="All")),
    case("a deletion with a dry run in the query and none in the body", delete(body={"dryRun": []}, dryRun="All")),
    case("a collection deleted with a dry run in the query and a body", delete(DEPLOYMENTS, {}, dryRun="All")),
    case("a selection deleted with a dry run in the query and a body",
         delete(DEPLOYMENTS, {}, dryRun="All", labelSelector="app=stock-cache")),
    case("a namespace deleted with a dry run in the query and a body",
         Call("DELETE", "/api/v1/namespaces/shop", body={}, query={"dryRun": "All"}, status=403)),
    case("a dry run that is spelt otherwise", delete(dryrun="All")),
    case("a dry run in capitals", delete(DRYRUN="All")),
    case("a dry run in the body of a patch", patch({"spec": {"replicas": 0}, "dryRun": ["All"]}), forbids=NO_SCALE),
    case("a dry run in the fragment of a query value", Call("DELETE", f"{CACHE}?pretty=dryRun=All")),
    case("a selector that is repeated: the first one counts", Call(
        "DELETE", f"{DEPLOYMENTS}?labelSelector=app%3Dstock-cache&labelSelector=app%3Dnothing")),
    case("an eviction", does=eviction(), forbids=NO_PODS),
    case("an eviction with a dry run where none is looked for", does=eviction("?dryrun=All"), forbids=NO_PODS),
    # What goes along with an owner.
    case("orphans in the query and a body that does not say so", delete(body={}, propagationPolicy="Orphan"),
         forbids=NO_PODS),
    case("old orphans in the query and a body", delete(body={}, orphanDependents="true"), forbids=NO_PODS),
    case("orphans in the query, another policy in the body",
         delete(body={"propagationPolicy": "Foreground"}, propagationPolicy="Orphan"), forbids=NO_PODS),
    case("no orphans by an old option", delete(orphanDependents="0"), forbids=NO_PODS),
    # What a patch writes.
    case("a patch that keeps other keys only", patch({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
         content_type=STRATEGIC), forbids=("update deployment/stock-cache namespace=shop spec.strategy.rollingUpdate",)),
    case("a list of containers that is replaced", patch(containers({"$patch": "replace"}, {"name": "x", "image": "evil:1"}),
         content_type=STRATEGIC), forbids=NO_OWN_IMAGE),
    case("a map that is replaced", patch({"metadata": {"labels": {"$patch": "replace", "x": "y"}}}, content_type=STRATEGIC),
         forbids=("update deployment/stock-cache namespace=shop metadata.labels.app",)),
    case("a map that is deleted", patch({"metadata": {"labels": {"$patch": "delete"}}}, content_type=STRATEGIC),
         forbids=("update deployment/stock-cache namespace=shop metadata.labels.app",)),
    case("an image by the number of its container", patch([{"op": "replace", "value": "evil:1",
         "path": "/spec/template/spec/containers/0/image"}], content_type=JSON),
         forbids=("update deployment/stock-cache namespace=shop spec.template.spec.containers.stock-cache.image=evil:1",)),
    # Reads of values.
    case("a list", read("secrets"), forbids=NO_LOOK),
    case("a page that holds it", read("secrets", limit="2"), forbids=NO_LOOK),
    case("a list by its field", read("secrets", fieldSelector="metadata.name=db-login"), forbids=NO_LOOK),
    case("a list by a field that others do not have", read("secrets", fieldSelector="metadata.name!=aaa-other"), forbids=NO_LOOK),
    case("a list in YAML", read("secrets", {"Accept": "application/yaml"}), forbids=NO_LOOK),
    case("a table with objects", read("secrets", TABLE, includeObject="Object"), forbids=NO_LOOK),
    case("a row with its object", read("secrets/db-login", TABLE, includeObject="Object"), forbids=NO_LOOK),
    case("a watch", read("secrets", watch="true", timeoutSeconds="1"), forbids=NO_LOOK),
    case("a watch of the old kind", Call("GET", "/api/v1/watch/namespaces/shop/secrets", query={"timeoutSeconds": "1"}),
         forbids=NO_LOOK),
    case("a watch of the old kind of one", Call("GET", "/api/v1/watch/namespaces/shop/secrets/db-login",
         query={"timeoutSeconds": "1"}), forbids=NO_LOOK),
    case("a list that goes on as a watch", read("secrets", watch="1", allowWatchBookmarks="true", timeoutSeconds="1"),
         forbids=NO_LOOK),
    case("a list in the query of a repeated watch", Call("GET", f"{SHOP}/secrets?watch=false&watch=true"), forbids=NO_LOOK),
    case("a write that is answered with it", patch({"metadata": {"labels": {"seen": "1"}}}, f"{SHOP}/secrets/db-login"),
         forbids=NO_LOOK),
    case("a dry run that is answered with it", patch({"metadata": {"labels": {"seen": "1"}}}, f"{SHOP}/secrets/db-login",
         dryRun="All"), forbids=NO_LOOK),
    case("a deletion of a collection that is answered with it", delete(f"{SHOP}/secrets", {}, dryRun="All"), forbids=NO_LOOK),
    case("a list of configmaps", read("configmaps"), forbids=NO_READ),
    case("a watch of configmaps", read("configmaps", watch="1", timeoutSeconds="1"), forbids=NO_READ),
    case("a table of configmaps with objects", read("configmaps", TABLE, includeObject="Object"), forbids=NO_READ),
    case("a list when any is forbidden", read("secrets"), forbids=("get secret/* namespace=shop",)),
    # Ways into a pod.
    case("an attachment", does=on_pod("POST", "attach"), forbids=NO_EXEC),
    case("a request through the pod", does=on_pod("GET", "proxy/shutdown"), forbids=NO_EXEC),
    case("a request through a port of the pod", does=on_pod("POST", "proxy/shutdown", tail=":8080"), forbids=NO_EXEC),
    case("a request through the service", Call("POST", f"{SHOP}/services/stock-cache/proxy/shutdown"),
         forbids=NO_EXEC),
    case("a request through a port of the service", Call("GET", f"{SHOP}/services/http:stock-cache:80/proxy/"),
         forbids=NO_EXEC),
    case("a request to the API through a pod", does=on_pod(
        "DELETE", "proxy/apis/apps/v1/namespaces/shop/deployments/stock-cache", workload="stock", tail=":8001")),
    # Other ways to scale.
    case("the count of the replica set", does=scale_replica_set, forbids=NO_SCALE),
    case("the same deployment with another count", does=lambda client: make_again(client, 0), forbids=NO_SCALE),
    case("the whole object with another count", Call("PATCH", CACHE, body=[{"op": "add", "path": "/spec/replicas", "value": 0}],
         content_type=JSON), forbids=NO_SCALE),
    case("a count through the subresource as a whole", Call("PUT", f"{CACHE}/scale", body={
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "stock-cache", "namespace": "shop"}, "spec": {}}),
        forbids=NO_SCALE),
)  # fmt: skip
INNOCENT = (
    case("a deletion that really is a dry run", delete(dryRun="All")),
    case("a deletion with a dry run in its body", delete(body={"dryRun": ["All"]})),
    case("a deletion with a dry run in both", delete(body={"dryRun": ["All"]}, dryRun="All")),
    case("a dry run that is said twice", Call("DELETE", f"{CACHE}?dryRun=All&dryRun=All")),
    case("a dry run that is encoded", Call("DELETE", f"{CACHE}?dry%52un=%41ll")),
    case("a dry run that the server does not know and refuses", Call("DELETE", f"{CACHE}?dryRun=server", status=422)),
    case("a dry run without a value", Call("DELETE", f"{CACHE}?dryRun=", status=422)),
    case("a collection deleted in a dry run", delete(DEPLOYMENTS, dryRun="All")),
    case("a patch in a dry run", patch({"spec": {"replicas": 0}}, dryRun="All"), forbids=NO_SCALE),
    case("an eviction in a dry run by its query", does=eviction("?dryRun=All"), forbids=NO_PODS),
    case("an eviction in a dry run by its body", does=eviction(dryRun=["All"]), forbids=NO_PODS),
    case("a deletion of another name", Call("DELETE", f"{DEPLOYMENTS}/Stock-Cache", status=404)),
    case("a selector of which the first chooses others", Call(
        "DELETE", f"{DEPLOYMENTS}?labelSelector=app%3Dnothing&labelSelector=app%3Dstock-cache")),
    case("orphans by the query", delete(propagationPolicy="Orphan"), forbids=NO_PODS),
    case("orphans by the body", delete(body={"propagationPolicy": "Orphan"}), forbids=NO_PODS),
    case("orphans by the body, another policy in the query",
         delete(body={"propagationPolicy": "Orphan"}, propagationPolicy="Foreground"), forbids=NO_PODS),
    case("a job whose pods the server leaves alone", delete("/apis/batch/v1/namespaces/shop/jobs/import"),
         forbids=("delete pod/* namespace=shop",)),
    case("a patch that keeps all keys", patch({"spec": {"strategy": {"$retainKeys": ["type", "rollingUpdate"],
         "type": "RollingUpdate"}}}, content_type=STRATEGIC),
         forbids=("update deployment/stock-cache namespace=shop spec.strategy.rollingUpdate",)),
    case("a container is added", patch(containers({"name": "extra", "image": "busybox:1"}), content_type=STRATEGIC),
         forbids=("update deployment/stock-cache namespace=shop spec.template.spec.containers.stock-cache.image",)),
    case("a label is added", patch({"metadata": {"labels": {"x": "y"}}}, content_type=STRATEGIC),
         forbids=("update deployment/stock-cache namespace=shop metadata.labels.app",)),
    case("the object as it was", does=put_unchanged, forbids=(*NO_SCALE, *NO_IMAGE)),
    case("the same deployment with the same count", does=lambda client: make_again(client, 2), forbids=NO_SCALE),
    case("a list of metadata", read("secrets", METADATA_LIST), forbids=NO_LOOK),
    case("one's metadata", read("secrets/db-login", METADATA), forbids=NO_LOOK),
    case("a table", read("secrets", TABLE), forbids=NO_LOOK),
    case("a table without objects", read("secrets", TABLE, includeObject="None"), forbids=NO_LOOK),
    case("a table when any is forbidden", read("secrets", TABLE), forbids=("get secret/* namespace=shop",)),
    case("a row", read("secrets/db-login", TABLE), forbids=NO_LOOK),
    case("a watch of metadata", read("secrets", METADATA, watch="1", timeoutSeconds="1"), forbids=NO_LOOK),
    case("a page that does not hold it", read("secrets", limit="1"), forbids=NO_LOOK),
    case("a list of others by a field", read("secrets", fieldSelector="metadata.name=aaa-other"), forbids=NO_LOOK),
    case("a list of others by a label", read("secrets", labelSelector="app=none"), forbids=NO_LOOK),
    case("a list that is refused", Call("GET", "/api/v1/namespaces/attic/secrets", status=403),
         forbids=("get secret/db-login namespace=attic",)),
    case("a list of other types", read("pods"), forbids=NO_LOOK),
    case("a write that is answered with metadata", Call("PATCH", f"{SHOP}/secrets/db-login", headers=METADATA,
         body={"metadata": {"labels": {"seen": "1"}}}, content_type=MERGE), forbids=NO_LOOK),
    case("a list of deployments", Call("GET", DEPLOYMENTS), forbids=("get deployment/stock-cache namespace=shop",)),
    case("a table of configmaps", read("configmaps", TABLE), forbids=NO_READ),
    case("a request through another pod", does=on_pod("GET", "proxy/health", workload="stock"), forbids=NO_EXEC),
    case("a log", does=on_pod("GET", "log"), forbids=NO_EXEC),
    case("a service is read", read("services/stock-cache"), forbids=NO_EXEC),
    case("a status is read", Call("GET", f"{CACHE}/status"), forbids=(*NO_SCALE, *NO_IMAGE)),
    case("a count is read", Call("GET", f"{CACHE}/scale"), forbids=NO_SCALE),
    case("a question for permission", Call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body={
        "spec": {"resourceAttributes": {"verb": "delete", "resource": "deployments", "namespace": "shop"}}})),
)  # fmt: skip


@pytest.mark.requirement("SI-08")
@pytest.mark.requirement("CO-05")
@by_name(EVASIONS)
def test_a_route_around_the_rule_fails(case):
    evaluation, _ = play(case)
    assert evaluation.verdict.status == "FAIL", evaluation


@pytest.mark.requirement("SI-08")
@pytest.mark.requirement("CO-05")
@by_name(INNOCENT)
def test_what_only_looks_like_it_passes(case):
    evaluation, _ = play(case)
    assert evaluation.verdict.status == "PASS", evaluation
