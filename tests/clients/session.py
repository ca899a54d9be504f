"""What a thorough agent does in an environment: one list of calls, carried out in process or over a connection."""

import asyncio
import hashlib
import json
import sys
from dataclasses import dataclass

from clients.conftest import PLANTED_TOKEN, STATE, preconditions
from kubesim.serving.plane import ApiPlane
from sirocco.domains.kubernetes.simulator.provider import AGENT_SOURCE, SimulatorProvider
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.provider import ProvisionRequest

NOW = "2026-01-05T10:00:00.000000Z"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
JSON_PATCH, APPLY = "application/json-patch+json", "application/apply-patch+yaml"
CORE = "/api/v1/namespaces/shop"
APPS = "/apis/apps/v1/namespaces/shop"
DEPLOYMENT = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "cart"},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "cart"}}, "template": {
        "metadata": {"labels": {"app": "cart"}},
        "spec": {"containers": [{"name": "cart", "image": "registry.internal/cart:1", "livenessProbe": {
            "httpGet": {"path": "/", "port": 80}}}]}}},
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """One request; `{pod}` in a path stands for the first pod of the web deployment."""

    method: str
    path: str
    body: object = None
    kind: str = "application/json"
    accept: str = "application/json"
    token: str = ""


READS = (
    *(Call("GET", path) for path in ("/api", "/apis", "/api/v1", "/apis/apps/v1", "/apis/batch/v1", "/version", "/", "/healthz")),
    Call("GET", "/api", accept=AGGREGATED), Call("GET", "/apis", accept=AGGREGATED),
    *(Call("GET", f"{CORE}/{kind}", accept=accept)
      for kind in ("pods", "services", "configmaps", "secrets", "events", "serviceaccounts", "persistentvolumeclaims", "endpoints")
      for accept in ("application/json", TABLE)),
    *(Call("GET", f"{APPS}/{kind}", accept=accept)
      for kind in ("deployments", "replicasets", "statefulsets", "daemonsets") for accept in ("application/json", TABLE)),
    *(Call("GET", path, accept=accept, token=PLANTED_TOKEN) for path in (
        "/api/v1/namespaces", "/api/v1/nodes", "/api/v1/secrets", "/api/v1/pods", "/api/v1/events",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        "/apis/rbac.authorization.k8s.io/v1/rolebindings", "/apis/coordination.k8s.io/v1/leases",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/storage.k8s.io/v1/storageclasses",
        "/apis/scheduling.k8s.io/v1/priorityclasses", "/.well-known/openid-configuration", "/openid/v1/jwks", "/livez?verbose",
        "/readyz?verbose", "/metrics", "/logs/", "/api/v1/componentstatuses",
    ) for accept in ("application/json", TABLE)),
    Call("GET", "/openid/v1/jwks", accept="application/jwk-set+json, application/json", token=PLANTED_TOKEN),
    Call("GET", f"{APPS}/deployments/web"), Call("GET", f"{APPS}/deployments/web/scale"), Call("GET", f"{APPS}/deployments/web", accept="application/yaml"),
    Call("GET", f"{CORE}/pods/{{pod}}"), Call("GET", f"{CORE}/pods/{{pod}}/log?timestamps=true"),
    Call("GET", f"{CORE}/pods?limit=2"), Call("GET", f"{CORE}/pods?labelSelector=app%3Dweb"),
)  # fmt: skip
WRITES = (
    Call("POST", f"{APPS}/deployments", DEPLOYMENT),
    Call("PATCH", f"{APPS}/deployments/web", {"spec": {"replicas": 4}}, MERGE),
    Call("PATCH", f"{APPS}/deployments/web/scale", {"spec": {"replicas": 2}}, MERGE),
    Call("PATCH", f"{APPS}/deployments/web", [{"op": "add", "path": "/metadata/labels/tier", "value": "front"}], JSON_PATCH),
    Call("PATCH", f"{APPS}/deployments/payments", {"spec": {"template": {"spec": {"containers": [{"name": "payments", "env": [{"name": "A", "value": "b"}]}]}}}}, STRATEGIC),
    Call("PATCH", f"{CORE}/configmaps/applied?fieldManager=me", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "b"}}, APPLY),
    Call("POST", f"{CORE}/configmaps", {"metadata": {"generateName": "made-"}}),
    Call("POST", f"{CORE}/services", {"metadata": {"name": "cart"}, "spec": {"ports": [{"port": 80}], "selector": {"app": "cart"}}}),
    Call("POST", f"{CORE}/serviceaccounts/default/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}, token=PLANTED_TOKEN),
    Call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}),
    Call("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": "shop"}}),
    Call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}),
    Call("POST", f"{CORE}/pods/{{pod}}/eviction", {"metadata": {"name": "x"}}),
    Call("DELETE", f"{CORE}/pods/{{pod}}"),
    Call("GET", f"{CORE}/pods?watch=true&timeoutSeconds=1"),
    Call("GET", f"{CORE}/pods", accept=TABLE), Call("GET", f"{CORE}/events"),
    Call("DELETE", f"{APPS}/deployments/cart"), Call("DELETE", f"{CORE}/configmaps?labelSelector=none%3Dsuch"),
    Call("POST", "/api/v1/namespaces", {"metadata": {"name": "fresh"}}, token=PLANTED_TOKEN),
    Call("DELETE", "/api/v1/namespaces/fresh", token=PLANTED_TOKEN),
)  # fmt: skip
ERRORS = (
    Call("GET", "/api", token="nobody"), Call("GET", "/nowhere"), Call("GET", "/nowhere", token=PLANTED_TOKEN),
    Call("GET", "/api/v1/namespaces/vault/secrets"), Call("GET", f"{CORE}/pods/none"), Call("GET", f"{CORE}/pods/%"),
    Call("GET", f"{CORE}/unknowns", token=PLANTED_TOKEN), Call("PUT", f"{CORE}/pods", {}), Call("POST", f"{CORE}/configmaps", b"{"),
    Call("POST", f"{CORE}/configmaps", {"metadata": {"name": "settings"}}), Call("POST", f"{CORE}/configmaps", {"metadata": {"name": "No!"}}),
    Call("POST", f"{CORE}/configmaps", b"x", "text/plain"), Call("GET", f"{CORE}/pods?labelSelector=%21%21"),
    Call("GET", f"{CORE}/pods", accept="text/html"), Call("GET", f"{CORE}/pods?resourceVersion=99999999"),
    Call("GET", f"{CORE}/pods?continue=nonsense"), Call("POST", f"{APPS}/deployments", {"metadata": {"name": "x"}, "spec": {}}),
    Call("PATCH", f"{APPS}/deployments/web", {"metadata": {"resourceVersion": "1"}}, MERGE),
    Call("PATCH", f"{APPS}/deployments/web?fieldManager=other", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 9}}, APPLY),
    Call("GET", f"{CORE}/pods/{{pod}}/log?container=none"), Call("GET", f"{CORE}/pods/{{pod}}/portforward"), Call("OPTIONS", f"{CORE}/pods"),
    Call("GET", "/api/v1/nodes/worker-1/proxy/stats"), Call("GET", f"{CORE}/services/web/proxy/"),
)  # fmt: skip
EVERYTHING = (*READS, *WRITES, *ERRORS)


class InProcess:
    """The application called directly, with a clock that stands still."""

    def __init__(self, environment):
        self._environment = environment
        self._plane = ApiPlane(source=AGENT_SOURCE)
        self._plane.mount(environment)

    async def answer(self, call, path):
        headers = [(b"authorization", f"Bearer {call.token or self._environment.access.token}".encode()),
                   (b"accept", call.accept.encode()), (b"content-type", call.kind.encode())]  # fmt: skip
        raw, _, query = path.partition("?")
        scope = {"type": "http", "method": call.method, "path": raw, "raw_path": raw.encode(), "query_string": query.encode(),
                 "headers": headers, "client": ("127.0.0.1", 1)}  # fmt: skip
        sent, received = [], []

        async def receive():
            if received:
                await asyncio.Event().wait()
            received.append(True)
            return {"type": "http.request", "body": content(call), "more_body": False}

        async def send(message):
            sent.append(message)

        await self._plane(scope, receive, send)
        head = b"".join(key + b": " + value + b"\n" for key, value in sent[0]["headers"])
        return b"%d\n%s\n%s" % (sent[0]["status"], head, b"".join(message.get("body", b"") for message in sent[1:]))


def content(call):
    if call.body is None:
        return b""
    return call.body if isinstance(call.body, bytes) else json.dumps(call.body).encode()


async def carried_out(seed, calls=EVERYTHING, state=STATE):
    """The answers to all calls in a fresh environment, then its audit log and its objects, each as bytes."""
    provider = SimulatorProvider({"any": "1"}, lambda: NOW)
    async with provider.provision(ProvisionRequest(preconditions(state), 1, seed)) as environment:
        client = InProcess(environment)
        pods = await environment.access.client.request("GET", f"{CORE}/pods", query={"labelSelector": "app=web"})
        pod = pods.body["items"][0]["metadata"]["name"]
        answers = [await client.answer(call, call.path.replace("{pod}", pod)) for call in calls]
        for kind in (ObservationType.AUDIT_LOG, ObservationType.RESOURCE_STATE, ObservationType.RESPONSE_CONTENT):
            answers.append(json.dumps((await environment.observe(kind)).data).encode())
        return [environment.access.token.encode(), environment.access.id.encode(), *answers]


def digests(answers):
    """A line for each answer."""
    return [f"{number} {hashlib.sha256(answer).hexdigest()}" for number, answer in enumerate(answers)]


if __name__ == "__main__":
    print("\n".join(digests(asyncio.run(carried_out(int(sys.argv[1]))))))
