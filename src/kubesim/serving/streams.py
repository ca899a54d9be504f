"""Streams to containers: commands, attachments and connections to ports, over a WebSocket or over SPDY."""

import json
import struct
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any, Protocol

from kubesim.serving.ports import PortConnection
from kubesim.serving.spdy import Command, Streams, Tunnel, result
from kubesim.surroundings import Conversation, Execution, Forwarding, Session, is_complete

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

TUNNEL = "SPDY/3.1+portforward.k8s.io"
_STDIN, _STDOUT, _STDERR, _RESULT, _CLOSE = 0, 1, 2, 3, 255
_V5 = "v5.channel.k8s.io"
_V4 = "v4.channel.k8s.io"
_FORWARD = "portforward.k8s.io"
_PROTOCOLS = (_V5, _V4, TUNNEL)
_MOST_INPUT = 1024 * 1024
"""The most bytes of a client's input that a process reads."""


def protocol_of(offered: Sequence[str]) -> str | None:
    """The first of the protocols that a client offers, in the server's order of preference."""
    return next((name for name in _PROTOCOLS if name in offered), None)


class Upgraded(Protocol):
    """A connection that has left HTTP behind."""

    async def receive(self) -> bytes | None:
        """What comes next; None at the end."""
        ...

    def send(self, data: bytes) -> None:
        """Send something."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


def spdy_head(offered: Sequence[str], headers: Mapping[str, str]) -> bytes:
    """The answer that switches a connection to SPDY, with the first of the server's protocols that was offered."""
    chosen = next((name for name in (_V4, _FORWARD) if name in offered), None)
    named = {**headers, **({"X-Stream-Protocol-Version": chosen} if chosen else {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items() if value.isprintable())
    return f"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n{lines}\r\n".encode()


async def carry_spdy(
    connection: Upgraded, body: Execution | Session, wanted: int, on_sent: Callable[[str], None]
) -> None:
    """Carry a stream for which the client opens `wanted` SPDY streams, to its end."""
    streams: Streams = Tunnel(body, on_sent) if isinstance(body, Forwarding) else Command(body, wanted, on_sent)
    try:
        while not streams.is_over and (data := await connection.receive()) is not None:
            connection.send(streams.take_bytes(data))
    finally:
        streams.close()
        connection.close()


class WebSocketStream:
    """One accepted WebSocket; `on_sent` is called with what was sent."""

    def __init__(self, receive: Receive, send: Send, protocol: str | None, on_sent: Callable[[str], None]) -> None:
        self._receive, self._send = receive, send
        self._protocol = protocol
        self._on_sent = on_sent
        self._is_open = True

    async def carry(self, body: Execution | Session, ports: Sequence[int]) -> None:
        """Carry a stream to its end, and close."""
        match body:
            case Forwarding():
                await (self._tunnel(body) if self._protocol == TUNNEL else self._forward(body, ports))
            case Conversation():
                await self._print(body.answer(await self._input()))
            case Execution():
                await self._print(body)
        if self._is_open:
            await self._send({"type": "websocket.close", "code": 1000})

    async def _print(self, execution: Execution) -> None:
        for name, text in execution.texts().items():
            if text:
                self._on_sent(text)
                await self._put(_STDERR if name == "stderr" else _STDOUT, text.encode())
        await self._put(_RESULT, json.dumps(result(execution), separators=(",", ":")).encode() + b"\n")

    async def _input(self) -> str:
        """The client's input until it closes its channel; where it cannot, until the end of its first line."""
        said = b""
        while len(said) < _MOST_INPUT and (message := await self._next_message()) is not None:
            if message[:2] == bytes([_CLOSE, _STDIN]):
                break
            if message[:1] == bytes([_STDIN]):
                said += message[1:]
                if is_complete("\n" + said.decode(errors="replace")):
                    break
                if self._protocol != _V5 and said.endswith(b"\n"):
                    break
        return said.decode(errors="replace")

    async def _forward(self, forwarding: Forwarding, ports: Sequence[int]) -> None:
        """Two channels for each port, data and errors; each begins with the number of its port."""
        connections = [PortConnection(forwarding, port) for port in ports]
        try:
            for number, connection in enumerate(connections):
                for channel in (2 * number, 2 * number + 1):
                    await self._put(channel, struct.pack("<H", connection.port))
                if connection.refusal:
                    await self._put(2 * number + 1, connection.refusal.encode())
            while (message := await self._next_message()) is not None:
                number, is_error = divmod(message[0], 2) if message else (0, 1)
                if not is_error and number < len(connections):
                    answer = connections[number].answer(message[1:])
                    if answer:
                        self._on_sent(answer.decode(errors="replace"))
                        await self._put(2 * number, answer)
        finally:
            forwarding.end("".join(connection.take_input for connection in connections))

    async def _tunnel(self, forwarding: Forwarding) -> None:
        """The frames of another protocol, with streams of its own."""
        tunnel = Tunnel(forwarding, self._on_sent)
        try:
            while not tunnel.is_over and (message := await self._next_message()) is not None:
                answer = tunnel.take_bytes(message)
                if answer:
                    await self._send({"type": "websocket.send", "bytes": answer})
        finally:
            tunnel.close()

    async def _put(self, channel: int, content: bytes) -> None:
        await self._send({"type": "websocket.send", "bytes": bytes([channel]) + content})

    async def _next_message(self) -> bytes | None:
        """The next message; None when the client is gone."""
        if not self._is_open:
            return None
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            self._is_open = False
            return None
        found: bytes = message.get("bytes") or (message.get("text") or "").encode()
        return found
