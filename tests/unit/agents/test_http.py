"""Agents behind HTTP, with real servers: the contract, the fault rule, and when a turn is sent again."""

import asyncio
import gzip
import json
import socket
import threading
import time
from contextlib import suppress

import pytest

from agent_requests import ANSWER, DESCRIPTION, agent_request, free_port, http_server, json_answer, socket_server
from sirocco.agents.contract import ANSWER_LIMIT
from sirocco.agents.http import HttpAgent, address_below, headers_of
from sirocco.errors import AgentFault, AgentFaultKind, ConfigError
from sirocco.oasis.agent import AgentResponse, TrailKeeper


def respond(url, request=None, **options):
    return asyncio.run(HttpAgent(url, **options).respond(request or agent_request()))


def fault(call, *arguments, **options):
    with pytest.raises(AgentFault) as raised:
        call(*arguments, **options)
    return raised.value


def describe(url, **options):
    return asyncio.run(HttpAgent(url, **options).describe())


def test_a_turn_is_one_post_to_the_url_as_it_is():
    request = agent_request("How many?", conversation=[("user", "Hello")])
    with http_server(json_answer(ANSWER)) as server:
        response = respond(f"{server.url}/some/agent?key=1", request, headers={"X-Team": "blue"})
    assert response.document() == ANSWER
    (sent,) = server.seen
    assert (sent.method, sent.path) == ("POST", "/some/agent?key=1")
    assert json.loads(sent.body) == request.document()
    assert sent.headers["X-Team"] == "blue"
    assert sent.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(("path", "asked"), [("", "/"), ("/", "/"), ("/a/", "/a/"), ("/a?k=1", "/a/?k=1")])
def test_identity_is_asked_below_the_url(path, asked):
    with http_server(json_answer(DESCRIPTION)) as server:
        described = describe(server.url + path)
    assert described.identity.name == "toy"
    head, _, query = asked.partition("?")
    expected = f"{head.rstrip('/')}/identity-and-configuration" + (f"?{query}" if query else "")
    assert [(sent.method, sent.path) for sent in server.seen] == [("GET", expected)]


@pytest.mark.requirement("SI-02")
def test_no_header_names_the_evaluation():
    with http_server(json_answer(ANSWER)) as server:
        respond(server.url)
    said = json.dumps(server.seen[0].headers).lower()
    assert not any(word in said for word in ("sirocco", "oasis", "probe", "scenario", "witness"))


@pytest.mark.parametrize("content", [b"{}", b'{"actions": []}', b'\xef\xbb\xbf{"final_answer": ""}'])
def test_no_actions_are_no_fault(content):
    with http_server(lambda *_: (200, content)) as server:
        assert respond(server.url) == AgentResponse()


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        ((200, b"<html>"), AgentFaultKind.MALFORMED, "<html>"),
        ((200, b""), AgentFaultKind.MALFORMED, "the answer is empty"),
        ((200, b'{"final_answer": 3}'), AgentFaultKind.WRONG_TYPE, "final_answer is a number, not a string"),
        ((500, b"out of memory\nhere"), AgentFaultKind.REFUSED, "status 500: out of memory here"),
        ((404, b""), AgentFaultKind.REFUSED, "status 404"),
        ((204, b""), AgentFaultKind.REFUSED, "status 204"),
        ((302, b"", {"Location": "/elsewhere"}), AgentFaultKind.REFUSED, "status 302"),
        ((200, b'"' + b"x" * ANSWER_LIMIT + b'"'), AgentFaultKind.OVERSIZED, "longer than"),
        (
            (200, gzip.compress(b'"' + b"x" * 2 * ANSWER_LIMIT), {"Content-Encoding": "gzip"}),
            AgentFaultKind.OVERSIZED,
            "longer than",
        ),
        ((200, b"not gzip", {"Content-Encoding": "gzip"}), AgentFaultKind.LOST, "before the complete answer"),
    ],
)
def test_what_is_no_answer_is_a_typed_fault_and_asked_once(answer, kind, said):
    with http_server(lambda *_: answer) as server:
        found = fault(respond, server.url)
    assert (found.kind, said in found.problem) == (kind, True), found
    assert len(server.seen) == 1


def test_control_characters_of_an_agent_do_not_reach_a_message():
    with http_server(lambda *_: (500, b"\x1b[2J\x07 boom \xff")) as server:
        assert fault(respond, server.url).problem.isprintable()


@pytest.mark.parametrize(("status", "remedy"), [(401, "--agent-header"), (403, "--agent-header"), (307, "redirects")])
def test_the_remedy_is_about_the_status(status, remedy):
    with http_server(lambda *_: (status, b"")) as server:
        assert remedy in fault(respond, server.url).remedy


def test_one_that_takes_too_long_is_a_timeout():
    with http_server(lambda *_: (time.sleep(3), (200, b"{}"))[1]) as server:
        began = time.monotonic()
        found = fault(respond, server.url, agent_request(deadline=1))
        assert time.monotonic() - began < 2.5
    assert found.kind is AgentFaultKind.TIMEOUT
    assert len(server.seen) == 1


def received(connection):
    """Take a whole request."""
    content = b""
    while b"\r\n\r\n" not in content:
        content += connection.recv(65536)
    head, _, body = content.partition(b"\r\n\r\n")
    length = int(
        next(line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    )
    while len(body) < length:
        body += connection.recv(65536)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
        b"nonsense\r\n\r\n",
    ],
    ids=["closed", "cut off", "half a chunk", "no HTTP"],
)
def test_a_turn_that_may_have_acted_is_never_sent_again(answer):
    def talk(connection):
        received(connection)
        connection.sendall(answer)

    with socket_server(talk) as server:
        found = fault(respond, server.url)
    assert found.kind is AgentFaultKind.LOST
    assert server.connections == 1


def test_an_answer_without_end_is_not_listened_to():
    def talk(connection):
        received(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        with suppress(OSError):
            while True:
                connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")

    with socket_server(talk) as server:
        began = time.monotonic()
        assert fault(respond, server.url, agent_request(deadline=60)).kind is AgentFaultKind.OVERSIZED
        assert time.monotonic() - began < 30


def test_nor_is_one_whose_connection_was_reset():
    def talk(connection):
        connection.recv(10)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")

    with socket_server(talk) as server:
        assert fault(respond, server.url).kind is AgentFaultKind.LOST
    assert server.connections == 1


def test_no_connection_is_used_for_two_turns():
    """An agent that closes an idle connection just then would leave open whether it got the second."""
    with socket_server(
        lambda connection: (received(connection), connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
    ) as server:
        agent = HttpAgent(server.url)

        async def twice():
            await agent.respond(agent_request())
            await agent.respond(agent_request())

        asyncio.run(twice())
    assert server.connections == 2


def test_nobody_there_is_unreachable_after_a_second_look():
    url = f"http://127.0.0.1:{free_port()}"
    began = time.monotonic()
    found = fault(respond, url)
    assert found.kind is AgentFaultKind.UNREACHABLE
    assert 0.15 < time.monotonic() - began < 5
    assert "start the agent" in found.remedy


def test_one_that_was_not_there_at_once_is_found_at_the_second_look():
    port = free_port()
    servers = []

    def late():
        time.sleep(0.1)
        listener = socket.create_server(("127.0.0.1", port))
        servers.append(listener)
        connection, _ = listener.accept()
        with connection:
            received(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    thread = threading.Thread(target=late)
    thread.start()
    try:
        assert respond(f"http://127.0.0.1:{port}") == AgentResponse()
    finally:
        thread.join(10)
        servers[0].close()


def test_with_patience_it_may_take_longer_to_come_up():
    port = free_port()
    held = {}

    def late():
        time.sleep(1)
        held["server"] = socket.create_server(("127.0.0.1", port))
        connection, _ = held["server"].accept()
        with connection:
            connection.recv(65536)
            content = json.dumps(DESCRIPTION).encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content) + content)

    thread = threading.Thread(target=late)
    thread.start()
    try:
        assert describe(f"http://127.0.0.1:{port}", patience=20).identity.name == "toy"
    finally:
        thread.join(10)
        held["server"].close()


def test_an_agent_without_the_identity_endpoint_is_told_what_is_missing():
    with http_server(lambda *_: (404, b"nothing here")) as server:
        found = fault(describe, server.url)
    assert "it does not implement GET /identity-and-configuration" in found.problem


def test_a_trail_is_asked_for_by_run():
    with http_server(json_answer({"audit_trail": [{"verb": "get"}]})) as server:
        agent = HttpAgent(server.url)
        assert isinstance(agent, TrailKeeper)
        assert asyncio.run(agent.audit_trail("r 1")) == ({"verb": "get"},)
    assert server.seen[0].path == "/audit-trail?run_id=r+1"


def test_one_that_keeps_no_trail_is_asked_for_it_once():
    with http_server(lambda *_: (404, b"")) as server:
        agent = HttpAgent(server.url)
        for _ in range(3):
            assert fault(lambda: asyncio.run(agent.audit_trail("r"))).kind is AgentFaultKind.REFUSED
    assert len(server.seen) == 1


def test_a_password_in_a_url_is_not_repeated():
    found = fault(respond, f"http://user:hunter2@127.0.0.1:{free_port()}/a?token=s3cret")
    assert "hunter2" not in str(found)
    assert "s3cret" not in str(found)


@pytest.mark.parametrize(
    "url", ["http://", "http://a b", "http://host:99999", "http://host:x", "http://\n", "ftp://host"]
)
def test_what_is_no_url_is_said_at_once(url):
    with pytest.raises(ConfigError):
        HttpAgent(url)


def test_headers_are_read_from_texts():
    assert headers_of(["Authorization: Bearer a:b", "X-A:  1 "]) == {"Authorization": "Bearer a:b", "X-A": "1"}


@pytest.mark.parametrize(
    "text", ["Authorization", "a b: c", ": x", "Content-Length: 3", "X: secret\r\nY: z", "X: sécret"]
)
def test_a_header_that_is_none_is_said_without_its_value(text):
    with pytest.raises(ConfigError) as raised:
        headers_of([text])
    assert "cret" not in str(raised.value)


def test_a_query_stays_at_its_end():
    assert address_below("http://h/a/?k=1", "b", {"c": "d e"}) == "http://h/a/b?k=1&c=d+e"
