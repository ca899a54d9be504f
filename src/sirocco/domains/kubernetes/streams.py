"""Commands in containers over a WebSocket, as a kube-apiserver streams them."""

import asyncio
import json
from collections.abc import Mapping

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, RejectConnection, RejectData, Request
from wsproto.utilities import ProtocolError

from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.errors import FaultKind
from sirocco.providers.http.connection import Origin, Unanswered

_PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"]
_OUTPUT = frozenset({1, 2})
_PART = 65536


async def execute_command(origin: Origin, target: str, headers: Mapping[str, str], *, timeout: float) -> Reply:  # noqa: ASYNC109 - the caller's deadline
    """The output of a command, or the API's refusal."""
    try:
        async with asyncio.timeout(timeout):
            reader, writer = await origin.open_connection()
            try:
                return await _conversation(origin, target, headers, reader, writer)
            finally:
                writer.transport.abort()
    except TimeoutError as error:
        raise Unanswered(FaultKind.TIMEOUT, f"no answer within {timeout:.3g} s") from error
    except OSError as error:
        raise Unanswered(FaultKind.UNREACHABLE, f"no connection: {error.strerror or error}") from error
    except ProtocolError as error:
        raise Unanswered(FaultKind.MALFORMED, f"not a WebSocket: {error}") from error


async def _conversation(
    origin: Origin, target: str, headers: Mapping[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Reply:
    connection = WSConnection(ConnectionType.CLIENT)
    extra = [(name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    request = Request(origin.authority, origin.base + target, extra_headers=extra, subprotocols=_PROTOCOLS)
    writer.write(connection.send(request))
    output, refusal, status = bytearray(), bytearray(), 0
    while True:
        received = await reader.read(_PART)
        connection.receive_data(received or None)
        for event in connection.events():
            match event:
                case AcceptConnection():
                    status = 200
                case BytesMessage(data=data) if data and data[0] in _OUTPUT:
                    output += data[1:]
                case RejectConnection(status_code=code, has_body=has_body):
                    status = code
                    if not has_body:
                        return Reply(code, None)
                case RejectData(data=data, body_finished=is_finished):
                    refusal += data
                    if is_finished:
                        return Reply(status, _refusal(bytes(refusal)))
                case CloseConnection():
                    return Reply(200, output.decode(errors="replace"))
                case _:
                    pass
        if not received:
            raise Unanswered(FaultKind.UNREACHABLE, "the stream ended without a result")


def _refusal(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return content.decode(errors="replace")
