"""Every byte that a client receives over the wire is scanned: nothing names an evaluation (SI-02)."""

import asyncio
import json
import re
import ssl
from contextlib import AsyncExitStack

import pytest
from cryptography import x509

from clients.session import EVERYTHING, Call, content
from clients.wire import Street
from kubesim.discovery.catalogue import CURRENT_RELEASE
from kubesim.types.definitions import definitions
from sirocco.oasis.provider import ProvisionRequest
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco.wiring.serving import served_environments

TELLING = (b"sirocco", b"oasis", b"scenario", b"witness", b"canary", b"probe", b"adversarial", b"simulat", b"archetype")
OURS = (b"sirocco", b"oasis", b"witness", b"archetype", b"simulat")
"""What even the published texts of the Kubernetes API may not hold."""
GARBAGE = (b"nonsense\r\n\r\n", b"GET % HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n",
           b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")  # fmt: skip


def own_words():
    """The field names of the Kubernetes API that hold a telling word, from its definitions."""
    names = set()
    for document in definitions(CURRENT_RELEASE).raw.values():
        names |= {
            name for name in document.get("properties", {}) if any(word.decode() in name.lower() for word in TELLING)
        }
    return names


def found(received, telling=TELLING):
    """The telling words in some bytes, once the names of the API's own fields are taken out as whole words."""
    names = "|".join(sorted(own_words()))
    rest = re.sub(rf"\b(?:f:)?(?:{names})\b".encode(), b"", received).lower()
    return {
        word.decode(): rest[max(0, rest.index(word) - 60) : rest.index(word) + 60] for word in telling if word in rest
    }


def received_for(house, call, pod):
    """All bytes that come back for a call on a connection of its own."""
    body = content(call)
    lines = [f"{call.method} {house.prefix}{call.path.replace('{pod}', pod)} HTTP/1.1", "Host: api", "Connection: close",
             f"Authorization: Bearer {call.token or house.access.token}", f"Accept: {call.accept}",
             f"Content-Type: {call.kind}", f"Content-Length: {len(body)}", "", ""]  # fmt: skip
    return house.exchange("\r\n".join(lines).encode() + body)


def executed(house, pod, command):
    with house.socket() as wire:
        wire.sendall(house.head(
            f"GET {{}}/api/v1/namespaces/shop/pods/{pod}/exec?command={command}&stdout=1&stderr=1 HTTP/1.1", "Upgrade: websocket",
            "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
            "Sec-WebSocket-Protocol: v5.channel.k8s.io",
        ))  # fmt: skip
        received = b""
        while b'"status":' not in received and (part := wire.recv(65536)):
            received += part
    return received


@pytest.fixture(scope="module")
def session():
    """Everything received in a long session, by what was asked."""
    with Street(21) as (house,):
        pod = house.ask("GET", "/api/v1/namespaces/shop/pods?labelSelector=app%3Dweb").json["items"][0]["metadata"][
            "name"
        ]
        received = {
            ("exec", command): executed(house, pod, command) for command in ("env", "ls", "hostname", "ps", "nosuch")
        }
        received |= {(call.method, call.path, call.accept, number): received_for(house, call, pod)
                     for number, call in enumerate(EVERYTHING)}  # fmt: skip
        received |= {("garbage", text): house.exchange(text) for text in GARBAGE}
        received |= {("outside", path): house.exchange(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
                     for path in ("/", "/api", "/v1/observe", "/0123456789abcdef0123/api")}  # fmt: skip
        slow = house.head("POST {}/api/v1/namespaces/shop/configmaps HTTP/1.1", "Content-Length: 9")
        received["slow",] = house.exchange(slow)
        with house.socket() as wire:
            certificate = wire.getpeercert(binary_form=True)
        received["certificate",] = (
            certificate + x509.load_der_x509_certificate(certificate).subject.rfc4514_string().encode()
        )
        received["access",] = (
            json.dumps(house.access.document()).encode() + house.access.served.files["KUBECONFIG"].encode()
        )
        paths = ["/openapi/v2", "/openapi/v3", *(
            f"/openapi/v3/{name}" for name in house.ask("GET", "/openapi/v3").json["paths"])]  # fmt: skip
        documents = {path: received_for(house, Call("GET", path), pod) for path in paths}
    return received, documents


@pytest.mark.requirement("SI-02")
def test_the_exemption_is_what_kubernetes_defines():
    assert own_words() == {"lastProbeTime", "livenessProbe", "readinessProbe", "startupProbe"}
    assert found(b'{"livenessProbe":{}}') == {}
    assert found(b'{"f:livenessProbe":{}}') == {}
    assert set(found(b'{"name":"livenessProbe-probe"}')) == {"probe"}
    assert set(found(b"my-livenessProbeX")) == {"probe"}


@pytest.mark.requirement("SI-02")
def test_no_byte_of_a_session_tells(session):
    received, _ = session
    assert len(received) > 120
    assert {key: words for key, answer in received.items() if (words := found(answer))} == {}


@pytest.mark.requirement("SI-02")
def test_the_session_saw_every_kind_of_answer(session):
    received, _ = session
    codes = {answer[9:12] for answer in received.values() if answer.startswith(b"HTTP/1.1 ")}
    assert codes >= {
        b"101",
        b"200",
        b"201",
        b"400",
        b"401",
        b"403",
        b"404",
        b"405",
        b"406",
        b"409",
        b"415",
        b"422",
        b"504",
    }
    assert any(b"livenessProbe" in answer for answer in received.values())
    assert any(b'"type":"MODIFIED"' in answer for answer in received.values())
    assert any(b'"kind":"Table"' in answer for answer in received.values())


@pytest.mark.requirement("SI-02")
def test_the_published_documents_hold_no_word_of_ours(session):
    _, documents = session
    assert len(documents) > 15
    assert all(answer.startswith(b"HTTP/1.1 200 ") for answer in documents.values())
    assert {path: words for path, answer in documents.items() if (words := found(answer, OURS))} == {}


@pytest.mark.requirement("SI-02")
def test_headers_are_those_of_an_api_server(session):
    received, _ = session
    names = set()
    for answer in received.values():
        if answer.startswith(b"HTTP/1.1 "):
            names |= {
                line.partition(b":")[0].decode().lower() for line in answer.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]
            }
    assert names <= {
        "date", "content-type", "content-length", "transfer-encoding", "connection", "audit-id", "cache-control", "warning",
        "retry-after", "allow", "upgrade", "sec-websocket-accept", "sec-websocket-protocol", "sec-websocket-extensions",
        "location", "x-content-type-options", "x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid",
    }  # fmt: skip


@pytest.mark.requirement("SI-02")
def test_no_environment_of_a_published_scenario_tells():
    assert asyncio.run(_scenarios_telling()) == {}


async def _scenarios_telling():
    """What the agent can read of each bundled scenario's environment over TLS, with all its payloads in place."""
    profile, _ = required_profile(BUNDLED)
    telling = {}
    async with served_environments(profile, "127.0.0.1:0") as provider, AsyncExitStack() as stack:
        for number, bound in enumerate(profile.scenarios):
            scenario = bound.scenario
            request = ProvisionRequest(scenario.preconditions, scenario.tier, number, scenario.x_sirocco.reactions)
            environment = await stack.enter_async_context(provider.provision(request))
            for stimulus in scenario.stimuli:
                if stimulus.is_payload:
                    await environment.inject(stimulus, stimulus.timing)
            received = await asyncio.to_thread(_everything_readable, environment.access)
            assert received.count(b"HTTP/1.1 200 ") > 10
            words = found(received, (*TELLING, scenario.id.encode().lower()))
            if words:
                telling[scenario.id] = words
    return telling


def _everything_readable(access):
    import socket  # noqa: PLC0415
    from urllib.parse import urlsplit  # noqa: PLC0415

    server = urlsplit(access.served.server)
    context = ssl.create_default_context(cadata=access.served.authority)
    kinds = ["api/v1/namespaces", "api/v1/nodes", *(
        f"api/v1/namespaces/{access.namespace}/{kind}"
        for kind in ("pods", "services", "configmaps", "secrets", "events", "serviceaccounts", "endpoints", "persistentvolumeclaims")
    ), *(f"apis/{group}/namespaces/{access.namespace}/{kind}" for group, kind in (
        ("apps/v1", "deployments"), ("apps/v1", "replicasets"), ("apps/v1", "statefulsets"), ("batch/v1", "jobs"),
        ("autoscaling/v2", "horizontalpodautoscalers"), ("rbac.authorization.k8s.io/v1", "rolebindings"),
        ("networking.k8s.io/v1", "networkpolicies"), ("networking.k8s.io/v1", "ingresses")))]  # fmt: skip
    received = b""
    with context.wrap_socket(
        socket.create_connection((server.hostname, server.port)), server_hostname=server.hostname
    ) as wire:
        for number, kind in enumerate(kinds):
            last = "Connection: close\r\n" if number == len(kinds) - 1 else ""
            wire.sendall(
                f"GET {server.path}/{kind} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {access.token}\r\n{last}\r\n".encode()
            )
        while part := wire.recv(65536):
            received += part
    return received
