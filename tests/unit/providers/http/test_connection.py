"""The HTTP client: whole answers or a typed reason why there is none."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest

from sirocco.errors import ConfigError, FaultKind
from sirocco.providers.http.connection import Connections, Origin, Unanswered


@asynccontextmanager
async def answering(*answers, keep=False):
    """A server that gives canned bytes, one piece per request; without one left it stays silent."""
    left, seen, writers = list(answers), [], []

    async def serve(reader, writer):
        while True:
            head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
            if not head:
                break
            seen.append(head)
            if not left:
                await asyncio.sleep(3600)
            writer.write(left.pop(0))
            if not keep:
                break
        writer.close()

    async def served(reader, writer):
        writers.append(writer)
        try:
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(served, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connections = Connections(Origin.from_url(f"http://127.0.0.1:{port}/base/"), kept=1)
    try:
        yield connections, seen
    finally:
        connections.close()
        server.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0)


def http(body, status="200 OK", *headers):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


async def asked(connections, seconds=5.0):
    return await connections.request("GET", "/path", headers={"X-A": "1"}, timeout=seconds)


def test_an_answer_comes_with_status_headers_and_content():
    async def run():
        async with answering(http(b'{"a": 1}', "418 Teapot", "X-Twice: a", "X-Twice: b")) as (connections, seen):
            answer = await asked(connections)
            assert (answer.status, json.loads(answer.content)) == (418, {"a": 1})
            assert answer.headers["x-twice"] == "a, b"
            assert seen[0].startswith(b"GET /base/path HTTP/1.1\r\nHost: 127.0.0.1:")

    asyncio.run(run())


def test_a_chunked_answer_and_one_that_ends_with_the_connection_are_whole():
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    until_the_end = b"HTTP/1.0 200 OK\r\n\r\nabcde"

    async def run():
        for answer in (chunked, until_the_end):
            async with answering(answer) as (connections, _):
                assert (await asked(connections)).content == b"abcde"

    asyncio.run(run())


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        pytest.param(http(b"abcdef")[:-2], FaultKind.MALFORMED, id="cut off in the body"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Le", FaultKind.MALFORMED, id="cut off in the head"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc",
            FaultKind.MALFORMED,
            id="cut off in a chunk",
        ),
        pytest.param(b"not HTTP at all\r\n\r\n", FaultKind.MALFORMED, id="not HTTP"),
        pytest.param(b"", FaultKind.UNREACHABLE, id="nothing"),
    ],
)
def test_an_answer_that_is_not_whole_is_a_fault(answer, kind):
    async def run():
        async with answering(answer) as (connections, _):
            with pytest.raises(Unanswered) as fault:
                await asked(connections)
            assert fault.value.kind is kind

    asyncio.run(run())


@pytest.mark.requirement("CO-07")
def test_silence_is_a_timeout_and_a_closed_port_is_unreachable():
    async def run():
        async with answering() as (connections, _):
            with pytest.raises(Unanswered, match=r"no answer within 0\.05 s") as fault:
                await asked(connections, 0.05)
            assert fault.value.kind is FaultKind.TIMEOUT
        with pytest.raises(Unanswered) as fault:
            await asked(connections)
        assert fault.value.kind is FaultKind.UNREACHABLE

    asyncio.run(run())


def test_a_connection_is_used_again_and_a_stale_one_is_replaced_without_a_word():
    async def run():
        async with answering(http(b"one"), http(b"two"), keep=True) as (connections, seen):
            assert [(await asked(connections)).content for _ in range(2)] == [b"one", b"two"]
            assert len(seen) == 2
        async with answering(http(b"one"), http(b"two")) as (connections, seen):
            assert [(await asked(connections)).content for _ in range(2)] == [b"one", b"two"]
            assert len(seen) == 2

    asyncio.run(run())


@pytest.mark.parametrize("url", ["", "ftp://x", "http://", "http://a:b", "127.0.0.1:80", "http://a b", "http://ä"])
def test_what_is_no_url_is_refused(url):
    with pytest.raises(ConfigError):
        Origin.from_url(url)


def test_nothing_can_be_smuggled_into_a_request():
    async def run():
        async with answering(http(b"")) as (connections, seen):
            with pytest.raises(Unanswered):
                await connections.request("GET", "/a HTTP/1.1\r\nX: y", headers={}, timeout=1)
            with pytest.raises(Unanswered):
                await connections.request("GET", "/a", headers={"A": "b\r\nX: y"}, timeout=1)
            assert seen == []

    asyncio.run(run())
