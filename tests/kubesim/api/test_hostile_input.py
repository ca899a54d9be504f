"""What a client can send to bend the record of what it did, or to break the server: each is an ordinary answer."""

import base64
import json

import pytest

from kubesim.access import AUTHENTICATED, MASTERS, Authenticator, Principal
from kubesim.audit_log import AuditLog
from kubesim.bare import BareWorld
from kubesim.discovery.catalogue import catalogue
from kubesim.handling.request import Request
from kubesim.server import KubernetesApi
from kubesim.store import Ids, Store

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PODS = "/api/v1/namespaces/default/pods"
POD = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "a"}], "nodeName": "somewhere"}}
NOW = "2026-01-05T09:00:00.000000Z"
USERS = {"admin": Principal("root", "u-1", (MASTERS, AUTHENTICATED))}
DIGITS = "9" * 5000


def definition(kind):
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": kind, "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }  # fmt: skip


def test_an_open_watch_stays_in_the_log_when_another_with_the_same_id_ends(bare):
    bare.send("GET", f"{CONFIGMAPS}?watch=true", audit_id="mine")
    other = bare.send("GET", "/api/v1/namespaces/default/secrets?watch=true", audit_id="mine").body
    other.close()
    assert [event["objectRef"]["resource"] for event in bare.events()] == ["secrets", "configmaps"]


@pytest.mark.parametrize("kind", ["Status", "APIGroupList"])
def test_a_custom_resource_cannot_pass_for_an_answer_of_the_server(bare, kind):
    bare.send("POST", DEFINITIONS, definition(kind))
    body = {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": "a"}, "status": "Failure", "code": 404}
    response = bare.send("POST", "/apis/example.com/v1/namespaces/default/things", body)
    assert response.status == 201
    assert bare.events()[-1]["responseStatus"] == {"metadata": {}, "code": 201}
    assert bare.events()[-1]["responseObject"] == response.body


class BrokenWorld(BareWorld):
    def log(self, pod, container, *, previous, follow):
        raise RuntimeError


def test_a_request_that_breaks_the_server_is_in_the_log():
    log = AuditLog()
    api = KubernetesApi(Store(Ids(3)), Authenticator(USERS), log, BrokenWorld(lambda: NOW), catalogue=catalogue(20))

    def send(method, path, body=None):
        headers = {"authorization": "Bearer admin"}
        return api.handle(Request.in_process(method, path, None, body, "application/json", headers, "10.0.0.9"))

    send("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    send("POST", "/api/v1/nodes", {"metadata": {"name": "somewhere"}})
    send("POST", PODS, POD)
    with pytest.raises(RuntimeError):
        send("GET", f"{PODS}/a/log")
    assert (log.events()[-1]["objectRef"]["subresource"], log.events()[-1]["responseStatus"]["code"]) == ("log", 500)


@pytest.mark.parametrize("target", [f"{CONFIGMAPS}/a", CONFIGMAPS, "/api/v1/pods"])
def test_a_version_of_any_length_is_only_a_wrong_one(bare, target):
    assert bare.send("GET", f"{target}?resourceVersion={DIGITS}").body["message"].endswith("value out of range")


def test_an_update_with_a_version_of_any_length_is_a_conflict(bare):
    bare.send("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
    body = {"metadata": {"name": "a", "resourceVersion": DIGITS}}
    assert bare.send("PUT", f"{CONFIGMAPS}/a", body).status == 409


@pytest.mark.parametrize("number", ["1e999", "-1e999", f"1{'0' * 400}", DIGITS])
@pytest.mark.parametrize(
    ("method", "media_type"),
    [("POST", "application/json"), ("POST", "application/yaml"), ("PATCH", "application/merge-patch+json"),
     ("PATCH", "application/apply-patch+yaml")],
)  # fmt: skip
def test_no_number_is_stored_or_logged_that_json_cannot_express(bare, method, media_type, number):
    bare.send("POST", DEFINITIONS, definition("Thing"))
    things = "/apis/example.com/v1/namespaces/default/things"
    content = f'{{"apiVersion":"example.com/v1","kind":"Thing","metadata":{{"name":"a"}},"x":{number}}}'.encode()
    target = things if method == "POST" else f"{things}/a?fieldManager=me"
    response = bare.send(method, target, content, media_type)
    assert json.dumps([response.body, bare.events()], allow_nan=False)


@pytest.mark.parametrize("payload", [b'{"iss": []}', b'{"iss": {}}', b"[" * 100_000, DIGITS.encode(), b"null"])
def test_a_token_with_any_payload_is_only_a_wrong_one(bare, payload):
    encoded = base64.urlsafe_b64encode(payload).decode().rstrip("=")
    assert bare.send("GET", CONFIGMAPS, token=f"a.{encoded}.c2lnbmF0dXJl").status == 401


def test_a_pod_can_be_deleted_again_and_again_with_ever_less_grace(bare):
    bare.send("POST", PODS, POD)
    for step in range(100):
        response = bare.send("DELETE", f"{PODS}/a", {"gracePeriodSeconds": -(step + 1) * 10**9})
        assert response.status in {200, 404}, json.dumps(response.body)


@pytest.mark.parametrize("opening", [b"[", b"- ", b"? ", b"{a: "])
@pytest.mark.parametrize("media_type", ["application/json", "application/yaml", "application/apply-patch+yaml"])
def test_a_body_of_any_depth_is_refused(bare, opening, media_type):
    method, target = ("PATCH", f"{CONFIGMAPS}/a?fieldManager=me") if "apply" in media_type else ("POST", CONFIGMAPS)
    assert bare.send(method, target, opening * 200_000, media_type).status == 400


def test_nothing_can_be_nested_step_by_step(bare):
    bare.send("POST", DEFINITIONS, definition("Thing"))
    things = "/apis/example.com/v1/namespaces/default/things"
    deep = json.loads('{"a":' * 90 + "{}" + "}" * 90)
    bare.send("POST", things, {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, **deep})
    steps = [{"op": "copy", "from": "/a", "path": f"{'/a' * 90}/a"}]
    assert bare.send("PATCH", f"{things}/a", steps, "application/json-patch+json").status == 200
    assert bare.send("PATCH", f"{things}/a", steps, "application/json-patch+json").status == 422
    assert bare.send("GET", f"{things}/a", accept="application/yaml").status == 200
