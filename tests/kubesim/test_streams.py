"""Streams to containers: who asks without an upgrade, SPDY frame by frame, ports, and what is recorded of them."""

import os
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from kubesim import Cluster
from kubesim.serving.spdy import DICTIONARY, Command, Framing, SpdyError, Tunnel
from kubesim.surroundings import Conversation, Execution, Forwarding

KUBECTL = shutil.which("kubectl", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
PODS = "/api/v1/namespaces/default/pods"
SYN_STREAM, SYN_REPLY, PING, GOAWAY = 1, 2, 6, 7


@pytest.fixture
def cluster():
    made = Cluster(seed=3)
    container = {"name": "web", "image": "nginx", "ports": [{"containerPort": 8080}]}
    body = {"metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {"containers": [container]}}
    assert made.request("POST", PODS, body=body).status == 201
    made.come_to_rest()
    return made


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("part", ["exec?command=ls", "attach", "portforward?ports=8080"])
@pytest.mark.requirement("SI-02")
def test_a_stream_needs_an_upgrade(cluster, method, part):
    answer = cluster.request(method, f"{PODS}/web/{part}")
    assert (answer.status, answer.body["reason"], answer.body["message"]) == (
        400,
        "BadRequest",
        "Upgrade request required",
    )
    assert cluster.audit_log()[-1]["responseStatus"]["code"] == 400


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("pods/web/proxy/", 200, "OK"),
        ("pods/web:8080/proxy/health", 200, "OK"),
        ("pods/web:81/proxy/", 503, ":81: connect: connection refused"),
        ("services/web:80/proxy/", 200, "OK"),
        ("services/http:web:main/proxy/", 200, "OK"),
        ("services/web:99/proxy/", 503, 'no service port "99" found for service "web"'),
        ("services/idle/proxy/", 503, 'no endpoints available for service "idle"'),
        ("services/none/proxy/", 404, "not found"),
    ],
)
def test_what_listens_answers_through_the_proxy(cluster, path, status, text):
    for name, label in (("web", "web"), ("idle", "nobody")):
        ports = [{"name": "main", "port": 80, "targetPort": 8080}]
        body = {"metadata": {"name": name}, "spec": {"selector": {"app": label}, "ports": ports}}
        assert cluster.request("POST", "/api/v1/namespaces/default/services", body=body).status == 201
    answer = cluster.request("GET", f"/api/v1/namespaces/default/{path}")
    assert answer.status == status
    assert text in (answer.body if isinstance(answer.body, str) else answer.body["message"])


class Client:
    """The other side of SPDY: opens streams, and takes answers apart."""

    def __init__(self, session):
        self._session = session
        self._deflate = zlib.compressobj(zdict=DICTIONARY)
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)
        self._last = -1
        self.data, self.ended, self.replied, self.control = {}, set(), [], []

    def open(self, **headers):
        self._last += 2
        pairs = [text.encode() for pair in headers.items() for text in pair]
        block = struct.pack(">I", len(headers)) + b"".join(struct.pack(">I", len(text)) + text for text in pairs)
        packed = self._deflate.compress(block) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        content = struct.pack(">IIH", self._last, 0, 0) + packed
        self.feed(struct.pack(">HHI", 0x8003, SYN_STREAM, len(content)) + content)
        return self._last

    def send(self, stream, data, *, is_last=False):
        self.feed(struct.pack(">II", stream, (is_last << 24) | len(data)) + data)

    def feed(self, data, size=5):
        """Send something in small pieces."""
        for place in range(0, len(data), size):
            self._read(self._session.take_bytes(data[place : place + size]))

    def _read(self, answer):
        while answer:
            first, length = struct.unpack(">II", answer[:8])
            content, answer = answer[8 : 8 + (length & 0xFFFFFF)], answer[8 + (length & 0xFFFFFF) :]
            if not first & 0x80000000:
                self.data[first] = self.data.get(first, b"") + content
                self.ended |= {first} if length >> 24 else set()
            elif first & 0xFFFF == SYN_REPLY:
                self.replied.append(struct.unpack(">I", content[:4])[0])
                assert self._inflate.decompress(content[4:]) == struct.pack(">I", 0)
            else:
                self.control.append((first & 0xFFFF, content))


def test_ports_are_reached_through_spdy():
    told, sent = [], []
    forwarding = Forwarding("u-1", lambda port: port == 8080)
    forwarding.on_end = told.append
    tunnel = Tunnel(forwarding, sent.append)
    client = Client(tunnel)
    error = client.open(streamtype="error", port="8080", requestid="0")
    data = client.open(streamtype="data", port="8080", requestid="0")
    assert client.replied == [error, data]
    client.send(error, b"", is_last=True)
    client.send(data, b"GET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 4\r\n\r\nab")
    assert client.data[data].count(b"HTTP/1.1 200 OK") == 1
    client.send(data, b"cd")
    assert client.data[data].count(b"OK\n") == 2
    assert data not in client.ended
    client.send(data, b"", is_last=True)
    assert {error, data} <= client.ended
    assert error not in client.data or client.data[error] == b""
    client.feed(struct.pack(">HHII", 0x8003, PING, 4, 7))
    assert client.control == [(PING, struct.pack(">I", 7))]
    client.feed(struct.pack(">HHIII", 0x8003, GOAWAY, 8, 0, 0))
    assert tunnel.is_over
    tunnel.close()
    assert "POST /b" in "".join(told)
    assert "".join(sent).count("200 OK") == 2


def test_a_port_on_which_nothing_listens_is_refused_as_a_kubelet_does():
    client = Client(Tunnel(Forwarding("u-1", lambda port: False), lambda text: None))
    error = client.open(streamtype="error", port="81", requestid="0")
    data = client.open(streamtype="data", port="81", requestid="0")
    client.send(data, b"x")
    assert client.data[error].startswith(b"error forwarding port 81 to pod u-1, uid : ")
    assert b"connection refused" in client.data[error]
    assert {error, data} <= client.ended


def test_a_command_over_spdy_has_a_stream_for_each_of_its_texts():
    client = Client(Command(Execution("out\n", "err\n", 3), 3, lambda text: None))
    streams = {name: client.open(streamtype=name) for name in ("error", "stdout", "stderr")}
    assert client.data[streams["stdout"]] == b"out\n"
    assert client.data[streams["stderr"]] == b"err\n"
    assert b'"message":"3"' in client.data[streams["error"]]
    assert client.ended == set(streams.values())


def test_a_command_that_reads_waits_for_the_end_of_its_input():
    told = []
    conversation = Conversation(Execution)
    conversation.on_end = told.append
    client = Client(Command(conversation, 3, lambda text: None))
    streams = {name: client.open(streamtype=name) for name in ("error", "stdin", "stdout")}
    client.send(streams["stdin"], b"one ")
    assert client.data == {}
    client.send(streams["stdin"], b"two", is_last=True)
    assert client.data[streams["stdout"]] == b"one two"
    assert told == ["one two"]


@pytest.mark.parametrize("typed", [b"echo hi\rexit\r", b"echo hi\r\x04", b"exit\r"])
def test_somebody_at_a_terminal_says_when_it_is_enough(typed):
    heard = []
    client = Client(Command(Conversation(lambda text: heard.append(text) or Execution()), 2, lambda text: None))
    streams = {name: client.open(streamtype=name) for name in ("error", "stdin")}
    client.send(streams["stdin"], typed[:-1])
    assert heard == []
    client.send(streams["stdin"], typed[-1:])
    assert heard == [typed.decode().replace("\r", "\n").rstrip("\x04")]


@pytest.mark.parametrize("content", [b"\xff" * 20, struct.pack(">HHI", 0x8002, SYN_STREAM, 99),
                                     struct.pack(">HHI", 0x8003, SYN_STREAM, 12) + b"\xff" * 12])  # fmt: skip
def test_what_is_not_spdy_ends_the_session(content):
    with pytest.raises(SpdyError):
        list(Framing().take_frames(content))
    session = Command(Execution(), 1, lambda text: None)
    session.take_bytes(content)
    assert session.is_over


@pytest.mark.requirement("CO-06")
def test_kubectl_runs_a_pod_to_its_end_and_what_it_said_is_recorded(cluster, tmp_path):
    with cluster:
        file = cluster.write_kubeconfig(tmp_path / "kubeconfig")
        command = [KUBECTL, "--kubeconfig", file, "run", "once", "--rm", "-i", "--restart=Never", "--image=busybox"]
        done = subprocess.run(
            [*command, "--", "cat"], input="gale-4711\n", capture_output=True, text=True, timeout=60, check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        )  # fmt: skip
        (attached,) = [event for event in cluster.audit_log() if "/attach?" in event["requestURI"]]
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "gale-4711")
    assert (attached["responseStatus"]["code"], attached["requestText"]) == (101, "gale-4711\n")
