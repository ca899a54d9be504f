"""Hostile, clumsy and slow clients over real sockets: the codes of Kubernetes, and an environment that lives on."""

import asyncio
import json
import re
import socket
import ssl
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from clients.conftest import PLANTED_TOKEN
from clients.wire import Street, eventually, status_of
from kubesim.serving.plane import BODY_LIMIT
from kubesim.serving.protocol import ApiServerProtocol
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.oasis.observation import ObservationType

CONFIGMAPS = "/api/v1/namespaces/shop/configmaps"
EVENT_KEYS = {"kind", "apiVersion", "level", "auditID", "stage", "requestURI", "verb", "user", "sourceIPs",
              "responseStatus", "requestReceivedTimestamp", "stageTimestamp"}  # fmt: skip


@pytest.fixture(scope="module")
def street():
    with Street(1, 2, 3) as houses:
        yield houses


@pytest.fixture
def house(street):
    """An environment that must live on, with a sound record of what happened to it."""
    one = street[0]
    before, tasks = len(one.audit()), one.tasks()
    yield one
    assert one.ask("GET", "/api/v1/namespaces/shop/services/web").status == 200
    log = one.audit()
    assert len(log) > before
    for entry in log:
        assert entry.keys() >= EVENT_KEYS
        assert entry["requestReceivedTimestamp"] <= entry["stageTimestamp"]
    assert len({entry["auditID"] for entry in log}) == len(log)
    json.dumps(log).encode()
    assert eventually(lambda: one.tasks() <= tasks), "something still waits"


# Many environments, each at an address of its own


@pytest.mark.requirement("SI-02")
def test_each_environment_is_at_the_root_of_an_address_of_its_own(street):
    assert len({house.address for house in street}) == 3
    assert {house.prefix for house in street} == {""}
    assert {house.ask("GET", "/version").status for house in street} == {200}


@pytest.mark.requirement("SI-02")
def test_each_environment_has_a_certificate_authority_of_its_own(street):
    here, there = street[0], street[1]
    assert here.access.served.authority != there.access.served.authority
    context = ssl.create_default_context(cadata=there.access.served.authority)
    with pytest.raises(ssl.SSLCertVerificationError), socket.create_connection(here.address) as plain:
        context.wrap_socket(plain, server_hostname=here.address[0])


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize("path", ["/api", CONFIGMAPS, "/version", "/apis/apps/v1/namespaces/shop/deployments"])
def test_a_token_opens_nothing_in_another_environment(street, path):
    for here in street:
        for there in street:
            answer = here.ask("GET", path, token=there.access.token)
            assert answer.status == (200 if here is there else 401)
            if here is not there:
                assert answer.json["reason"] == "Unauthorized"


def test_what_happens_in_one_environment_stays_there(street):
    here, there = street[1], street[2]
    assert here.ask("POST", CONFIGMAPS, {"metadata": {"name": "mine"}}).status == 201
    assert there.ask("GET", f"{CONFIGMAPS}/mine").status == 404
    assert "mine" not in json.dumps(there.audit()[:-1])


def test_environments_of_the_same_seed_are_served_apart():
    with Street(5, 5) as (first, second):
        assert first.address != second.address
        assert first.ask("POST", CONFIGMAPS, {"metadata": {"name": "mine"}}).status == 201
        assert second.ask("GET", f"{CONFIGMAPS}/mine").status == 404


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize("path", [
    "/v1/observe", "/v1/conformance", "/observe", "/audit", "/logs/", "/../v1/observe", "/%2e%2e/v1/observe",
    "/..%2fv1%2fobserve", "/api/v1/../../../v1/observe",
])  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_path_reaches_the_control_plane(house, method, path):
    answer = house.ask(method, path, {} if method == "POST" else None)
    assert answer.status in {403, 404}
    assert b"auditID" not in answer.content


# Paths


@pytest.mark.parametrize(("path", "status"), [
    ("/api/v1/namespaces/shop/configmaps/../secrets/api-key", 404),
    ("/api/v1/namespaces/shop/../vault/secrets", 404),
    ("/api/v1/namespaces/shop/..%2f..%2fvault/secrets", 404),
    ("/api/v1//namespaces/shop/configmaps", 404),
    ("/api/v1/namespaces//configmaps", 200),
    ("/api/v1/namespaces/shop%2fconfigmaps", 200),
    ("/api/v1/namespaces/vault%2fsecrets", 200),
    ("/%61pi/v1/namespaces/shop/configmaps", 200),
    ("/api/v1/namespaces/shop/configmaps/%00", 404),
    ("/api/v1/namespaces/shop/configmaps/set%00tings", 404),
    ("/api/v1/namespaces/shop/configmaps/%ff%fe", 404),
    ("/api/v1/namespaces/shop/configmaps/%0d%0aX-Injected:%20yes", 404),
    ("/api/v1/namespaces/shop/configmaps/" + "a" * 200_000, 404),
    ("/api/v1/namespaces/shop/configmaps" + "/x" * 5_000, 404),
    ("/api/v1/namespaces/shop/configmaps?" + "a=b&" * 20_000, 200),
    ("/api/v1/namespaces/shop/configmaps/%", 400),
    ("/api/v1/namespaces/shop/configmaps/%zz", 400),
    ("/api/v1/namespaces/shop/unknowns", 404),
    ("/apis/no.such.group/v1/namespaces/shop/things", 404),
    ("/apis/apps/v9/namespaces/shop/deployments", 404),
])  # fmt: skip
def test_odd_paths_get_the_code_of_kubernetes(house, path, status):
    answer = house.ask("GET", path, token=PLANTED_TOKEN)
    assert answer.status == status, answer.content[:300]
    assert "x-injected" not in answer.headers


@pytest.mark.parametrize("path", [
    "/api/v1/namespaces/shop/../vault/secrets", "/api/v1/namespaces/shop/configmaps/../../vault/secrets",
    "/api/v1/namespaces/vault%2fsecrets", "/api/v1/namespaces/shop%2f..%2fvault/secrets", "//api/v1/namespaces/vault/secrets",
    "/api/v1/watch/namespaces/vault/secrets", "/api/v1/namespaces/vault/secrets/", "/api//v1/namespaces/vault/secrets",
    "/API/v1/namespaces/vault/secrets", "/api/v1/namespaces/VAULT/secrets", "/api/v1/proxy/namespaces/vault/secrets",
    "/api/v1/namespaces/shop/secrets/..%2f..%2fvault%2fsecrets%2fcrown-jewels",
])  # fmt: skip
def test_no_way_of_writing_a_path_widens_the_scope(house, path):
    answer = house.ask("GET", path)
    assert answer.status in {403, 404}
    assert b"crown-jewels" not in answer.content.replace(path.encode(), b"") or answer.status == 403


# Requests that are none


@pytest.mark.parametrize(("line", "status"), [
    ("hello", 400), ("GET", 400), ("\x00\x01\x02", 400), ("GET  HTTP/1.1", 400), ("get {}/api HTTP/1.1", 400),
    ("GET {}/api HTTP/9.9", 400), ("GET {}/api HTTP/2.0", 400), ("GET api HTTP/1.1", 400),
    ("GET {}/\x00 HTTP/1.1", 400), ("GET {}/api", 400), ("PRI * HTTP/2.0", 400),
    ("CONNECT example.com:443 HTTP/1.1", 403), ("OPTIONS * HTTP/1.1", 403), ("GET http://elsewhere{}/api HTTP/1.1", 200),
    ("OPTIONS {}/api/v1/namespaces/shop/configmaps HTTP/1.1", 403),
    ("TRACE {}/api/v1/namespaces/shop/configmaps HTTP/1.1", 403),
    ("HEAD {}/api/v1/namespaces/shop/configmaps HTTP/1.1", 405), ("HEAD {}/version HTTP/1.1", 403),
])  # fmt: skip
def test_odd_request_lines_get_the_code_of_kubernetes(house, line, status):
    received = house.exchange(house.head(line, "Connection: close"))
    assert status_of(received) == status, received[:300]
    if line.startswith("HEAD"):
        assert received.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("headers", [
    ("Content-Length: abc",), ("Content-Length: -1",), ("Content-Length: 1", "Content-Length: 2"), ("Odd : a",),
    ("Odd: a\x00b",), ("Host: twice",), ("no colon",),
], ids=str)  # fmt: skip
def test_broken_headers_are_refused_in_plain_words(house, headers):
    received = house.exchange(house.head("GET {}/api HTTP/1.1", *headers))
    assert received.startswith(b"HTTP/1.1 400 Bad Request")
    assert b"Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request" in received


def test_a_request_without_a_host_is_refused(house):
    received = house.exchange(f"GET {house.prefix}/api HTTP/1.1\r\n\r\n".encode())
    assert received.startswith(b"HTTP/1.1 400 Bad Request: missing required Host header\r\n")


def test_large_headers_are_taken_and_huge_ones_refused(house):
    assert house.ask("GET", "/api", headers={"X-Large": "a" * 500_000}).status == 200
    received = house.exchange(house.head("GET {}/api HTTP/1.1", "X-Huge: " + "a" * 1_100_000))
    assert received.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")


def test_headers_that_never_end_end_the_connection(house, monkeypatch):
    monkeypatch.setattr(ApiServerProtocol, "head_timeout", 0.2)
    assert house.exchange(b"GET /api HTTP/1.1\r\nHost: api\r\nX-Slow: ") == b""


def test_a_client_that_speaks_no_tls_is_turned_away(house):
    with socket.create_connection(house.address, timeout=10) as plain:
        plain.sendall(b"GET /api HTTP/1.1\r\nHost: api\r\n\r\n")
        assert b"api" not in plain.recv(4096)


def test_of_a_repeated_credential_the_first_counts(house):
    received = house.exchange(house.head("GET {}/api HTTP/1.1", "Authorization: Bearer nobody", "Connection: close"))
    assert status_of(received) == 200
    swapped = house.head("GET {}/api HTTP/1.1", f"Authorization: Bearer {house.access.token}", "Connection: close",
                         token="nobody")  # fmt: skip
    assert status_of(house.exchange(swapped)) == 401


def test_all_groups_to_impersonate_count(house):
    received = house.exchange(house.head(
        "GET {}/api/v1/namespaces/vault/secrets HTTP/1.1", "Impersonate-User: somebody", "Impersonate-Group: one",
        "Impersonate-Group: system:masters", "Connection: close", token=PLANTED_TOKEN,
    ))  # fmt: skip
    assert status_of(received) == 200
    assert house.audit()[-1]["impersonatedUser"]["groups"][:2] == ["one", "system:masters"]


def test_pipelined_requests_are_answered_in_order(house):
    first = house.head("GET {}/version HTTP/1.1")
    received = house.exchange(first + house.head("GET {}/nowhere HTTP/1.1", "Connection: close"))
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"200", b"403"]


@pytest.mark.parametrize("upgrade", ["websocket", "h2c", "SPDY/3.1"])
def test_an_upgrade_that_makes_no_sense_is_overlooked(house, upgrade):
    headers = [
        "Connection: Upgrade",
        f"Upgrade: {upgrade}",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    ]
    with house.socket() as wire:
        wire.sendall(house.head("GET {}/version HTTP/1.1", *headers))
        assert wire.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize(("pod", "headers", "status"), [
    ("nobody", ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="), 404),
    ("nobody", ("Sec-WebSocket-Version: 13",), 400),
    ("nobody", ("Sec-WebSocket-Version: 7", "Sec-WebSocket-Key: x"), 426),
])  # fmt: skip
def test_a_stream_that_cannot_be_is_refused(house, pod, headers, status):
    line = f"GET {{}}/api/v1/namespaces/shop/pods/{pod}/exec?command=ls&stdout=1 HTTP/1.1"
    received = house.exchange(house.head(line, "Connection: Upgrade", "Upgrade: websocket", *headers))
    assert status_of(received) == status


def test_a_stream_whose_client_is_gone_at_once_leaves_nothing(house):
    pod = house.ask("GET", "/api/v1/namespaces/shop/pods").json["items"][0]["metadata"]["name"]
    line = f"GET {{}}/api/v1/namespaces/shop/pods/{pod}/exec?command=ls&stdout=1 HTTP/1.1"
    for _ in range(5):
        with house.socket() as wire:
            wire.sendall(house.head(line, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                                    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="))  # fmt: skip
    assert eventually(lambda: sum("/exec" in entry["requestURI"] for entry in house.audit()) >= 5)


# Bodies


@pytest.mark.parametrize(
    "body", [b"{", b"", b"nonsense", b"[]", b'"text"', b"{}}", b'{"a":', b"\xff\xfe", b"\x00", b"null"]
)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_malformed_body_is_a_bad_request(house, method, body):
    path = CONFIGMAPS if method == "POST" else f"{CONFIGMAPS}/settings"
    answer = house.ask(method, path, body)
    assert answer.status in {400, 422}, answer.content
    assert answer.json["kind"] == "Status"


@pytest.mark.parametrize(
    ("kind", "status"), [("merge-patch", 500), ("json-patch", 400), ("strategic-merge-patch", 400)]
)
def test_a_malformed_patch_is_refused_as_the_real_server_does(house, kind, status):
    answer = house.ask("PATCH", f"{CONFIGMAPS}/settings", b"{", content_type=f"application/{kind}+json")
    assert answer.status == status
    assert answer.json["kind"] == "Status"


@pytest.mark.parametrize("text", ["\ud800", "\u0000", "\u2028", "<script>&</script>", "é😀", "x" * 100_000])
def test_any_text_goes_in_and_comes_out(house, text):
    name = f"text-{abs(hash(text)) % 10**9}"
    made = house.ask("POST", CONFIGMAPS, {"metadata": {"name": name}, "data": {"text": text}})
    assert made.status == 201, made.content
    back = house.ask("GET", f"{CONFIGMAPS}/{name}")
    assert back.json["data"]["text"] == text.replace("\ud800", "\ufffd")
    assert b"<" not in back.content


def test_a_body_over_the_limit_is_too_large(house):
    body = b'{"metadata":{"name":"big"},"data":{"a":"' + b"x" * BODY_LIMIT + b'"}}'
    answer = house.ask("POST", CONFIGMAPS, body)
    assert answer.status == 413
    assert answer.json == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "Request entity too large: limit is 3145728", "reason": "RequestEntityTooLarge", "code": 413,
    }  # fmt: skip
    assert len(json.dumps(house.audit()[-1])) < BODY_LIMIT


def test_a_chunked_body_is_taken_whole(house):
    pieces = [b'{"metadata":{"na', b'me":"chunks"},', b'"data":{"a":"b"}}']
    body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    head = house.head(
        f"POST {{}}{CONFIGMAPS} HTTP/1.1",
        "Transfer-Encoding: chunked",
        "Content-Type: application/json",
        "Connection: close",
    )
    assert status_of(house.exchange(head + body)) == 201
    assert house.ask("GET", f"{CONFIGMAPS}/chunks").json["data"] == {"a": "b"}


def test_chunks_that_are_none_change_nothing(house):
    head = house.head(f"POST {{}}{CONFIGMAPS} HTTP/1.1", "Transfer-Encoding: chunked", "Content-Type: application/json")
    assert status_of(house.exchange(head + b'zz\r\n{"metadata":{"name":"broken"}}\r\n0\r\n\r\n')) == 400
    assert house.ask("GET", f"{CONFIGMAPS}/broken").status == 404


def test_a_chunked_body_without_end_is_too_large(house):
    head = house.head(f"POST {{}}{CONFIGMAPS} HTTP/1.1", "Transfer-Encoding: chunked", "Content-Type: application/json")
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with house.socket() as wire:
        wire.sendall(head + chunk * 60)
        assert wire.recv(65536).startswith(b"HTTP/1.1 413 ")


# Time


def slow_head(house, name):
    return house.head(f"POST {{}}{CONFIGMAPS} HTTP/1.1", "Content-Type: application/json", "Content-Length: 200") + (
        b'{"metadata":{"name":"' + name + b'"}'
    )


@pytest.mark.parametrize("more", [(), [b" "] * 20], ids=["half a body", "a byte at a time"])
def test_a_body_that_does_not_come_is_a_timeout(house, more):
    received = house.exchange(slow_head(house, b"late"), more=more)
    assert status_of(received) == 504
    status = json.loads(received.partition(b"\r\n\r\n")[2])
    assert (status["kind"], status["reason"], status["code"]) == ("Status", "Timeout", 504)
    assert house.ask("GET", f"{CONFIGMAPS}/late").status == 404


def test_a_client_that_leaves_in_mid_body_changes_nothing(house):
    with house.socket() as wire:
        wire.sendall(slow_head(house, b"left"))
    assert house.ask("GET", f"{CONFIGMAPS}/left").status == 404


def test_slow_clients_keep_nobody_waiting(house):
    waiting = [house.socket() for _ in range(20)]
    for wire in waiting:
        wire.sendall(slow_head(house, b"slow")[:-5])
    assert house.ask("GET", "/version").status == 200
    for wire in waiting:
        wire.close()


# Watches


def watch_head(house, query=""):
    return house.head(f"GET {{}}{CONFIGMAPS}?watch=true{query} HTTP/1.1")


def watches_of(house):
    return [entry for entry in house.audit() if entry["verb"] == "watch"]


@pytest.mark.parametrize("abrupt", [False, True], ids=["closed", "reset"])
def test_a_watch_whose_client_leaves_ends_and_is_recorded(house, abrupt):
    before, seen = house.tasks(), len(watches_of(house))
    wires = [house.socket() for _ in range(5)]
    for wire in wires:
        wire.sendall(watch_head(house))
        assert wire.recv(65536).startswith(b"HTTP/1.1 200 OK")
    assert house.tasks() > before
    for wire in wires:
        if abrupt:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wire.close()
    assert eventually(lambda: house.tasks() <= before)
    watches = watches_of(house)[seen:]
    assert len(watches) == 5
    # An open watch stands in the log with the moment of its beginning, a closed one with that of its end.
    assert all(entry["stageTimestamp"][:19] > entry["requestReceivedTimestamp"][:19] for entry in watches)
    assert house.ask("POST", CONFIGMAPS, {"metadata": {"generateName": "after-"}}).status == 201


def test_a_watch_hears_of_what_others_do(house):
    with house.socket() as wire:
        wire.sendall(watch_head(house, "&fieldSelector=metadata.name=news&timeoutSeconds=3600"))
        assert wire.recv(65536).startswith(b"HTTP/1.1 200 OK")
        assert house.ask("POST", CONFIGMAPS, {"metadata": {"name": "news"}}).status == 201
        received = b""
        while b'"ADDED"' not in received:
            received += wire.recv(65536)
    assert b'{"type":"ADDED","object":{' in received
    assert house.ask("DELETE", f"{CONFIGMAPS}/news").status == 200


def test_two_watches_both_hear_of_what_comes_about_by_itself(house):
    """The one that lets time go on must wake the other."""
    path = "GET {}/apis/apps/v1/namespaces/shop/deployments?watch=true&fieldSelector=metadata.name=web HTTP/1.1"
    with house.socket() as one, house.socket() as other:
        for wire in (one, other):
            wire.sendall(house.head(path))
            assert wire.recv(65536).startswith(b"HTTP/1.1 200 OK")
        scale = house.ask(
            "PATCH",
            "/apis/apps/v1/namespaces/shop/deployments/web",
            {"spec": {"replicas": 5}},
            content_type="application/merge-patch+json",
        )
        assert scale.status == 200
        for wire in (one, other):
            received = b""
            while b'"readyReplicas":5' not in received:
                received += wire.recv(65536)
    assert house.ask("DELETE", f"{CONFIGMAPS}/none").status == 404


def test_a_watch_ends_when_it_asked_to(house):
    head = house.head(f"GET {{}}{CONFIGMAPS}?watch=true&timeoutSeconds=1 HTTP/1.1", "Connection: close")
    received = house.exchange(head)
    assert received.endswith(b"0\r\n\r\n")
    assert received.count(b'"type":"ADDED"') >= 1


def test_the_end_of_an_environment_ends_its_watches_and_what_they_said_last_is_evidence():
    received = []
    with Street(7) as (house,):
        wire = house.socket()
        wire.sendall(watch_head(house, "&allowWatchBookmarks=true"))
        assert wire.recv(65536).startswith(b"HTTP/1.1 200 OK")
        assert house.ask("POST", CONFIGMAPS, {"metadata": {"name": "late"}}).status == 201
        reader = threading.Thread(target=lambda: received.append(drained(wire)))
        reader.start()
    reader.join(10)
    wire.close()
    assert received[0].endswith(b"0\r\n\r\n")
    assert b'{"type":"BOOKMARK",' in received[0]
    assert any("BOOKMARK" in text for text in house.environment._returned if isinstance(text, str))
    assert [entry["verb"] for entry in house.environment._audit.events()] == ["create", "watch"]


def drained(wire):
    received = b""
    while part := wire.recv(65536):
        received += part
        if received.endswith(b"0\r\n\r\n"):
            return received
    return received


# Faults of ours


@pytest.mark.requirement("CO-06")
def test_a_request_that_breaks_the_server_is_on_record_all_the_same(caplog):
    with Street(9) as (house,):
        assert house.ask("GET", CONFIGMAPS).status == 200
        house.environment._plane.api._catalogue = None
        broken = house.ask("GET", CONFIGMAPS)
        assert broken.status == 500
        assert b"panic" in broken.content
        assert b"Traceback" not in broken.content
        observed = asyncio.run_coroutine_threadsafe(house.environment.observe(ObservationType.AUDIT_LOG), house.loop)
        entries = KUBERNETES.record.log(observed.result(10))
        assert [(entry.verb, entry.resource, entry.code) for entry in entries] == [
            ("list", "configmaps", 200),
            ("list", "configmaps", 500),
        ]
    assert "a request broke the environment" in caplog.text


# Numbers


def test_fifty_clients_at_once(house):
    def errand(number):
        connection = house.connection()
        codes = []
        for method, path, body in (
            ("POST", CONFIGMAPS, {"metadata": {"name": f"client-{number}"}}),
            ("GET", f"{CONFIGMAPS}/client-{number}", None),
            ("PATCH", f"{CONFIGMAPS}/client-{number}", {"data": {"n": str(number)}}),
            ("GET", "/api/v1/namespaces/shop/pods", None),
            ("DELETE", f"{CONFIGMAPS}/client-{number}", None),
        ):
            kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
            connection.request(method, house.prefix + path, json.dumps(body) if body else None,
                               {"Authorization": f"Bearer {house.access.token}", "Content-Type": kind})  # fmt: skip
            answer = connection.getresponse()
            answer.read()
            codes.append(answer.status)
        connection.close()
        return codes

    seen = len(house.audit())
    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(errand, range(50))) == [[201, 200, 200, 200, 200]] * 50
    log = house.audit()[seen:]
    assert len(log) == 250
    assert [entry["requestReceivedTimestamp"] for entry in log] == sorted(
        entry["requestReceivedTimestamp"] for entry in log
    )


# What the connection itself gives away


def test_the_certificate_is_checked_and_names_a_kubernetes_api(house):
    with pytest.raises(ssl.SSLCertVerificationError):
        ssl.create_default_context().wrap_socket(socket.create_connection(house.address), server_hostname="127.0.0.1")
    with house.socket() as wire:
        certificate = wire.getpeercert()
    assert certificate["subject"] == ((("commonName", "kube-apiserver"),),)
    assert certificate["issuer"] == ((("commonName", "kubernetes"),),)


@pytest.mark.requirement("SI-02")
@pytest.mark.parametrize("request_", [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nHost: api\r\nConnection: close\r\n\r\n"])
def test_no_answer_names_the_server_software(house, request_):
    received = house.exchange(request_).lower()
    assert not any(word in received for word in (b"uvicorn", b"python", b"httptools", b"h11", b"\r\nserver:"))
