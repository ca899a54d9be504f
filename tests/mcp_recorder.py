"""An MCP server over HTTP that records everything that it receives, and prints its URL."""

import socket
import sys
from pathlib import Path

import uvicorn
from mcp.server.mcpserver import MCPServer

LOG = Path(sys.argv[1])
server = MCPServer("recorder", version="1.0")


@server.tool()
def run_task(request: dict) -> str:
    return "I looked."


inner = server.streamable_http_app()


def record(value):
    with LOG.open("a") as file:
        file.write(repr(value) + "\n")


async def recording(scope, receive, send):
    async def received():
        message = await receive()
        record(message)
        return message

    if scope["type"] == "http":
        record([scope["path"], scope["headers"]])
    await inner(scope, received, send)


listener = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
uvicorn.Server(uvicorn.Config(recording, log_level="error")).run(sockets=[listener])
