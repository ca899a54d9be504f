"""An agent as an MCP server with a tool for tasks, over pipes or HTTP. Whatever it is asked, it counts pods.

sirocco agent check 'mcp:cmd:python3 examples/agents/mcp_agent.py'
python3 examples/agents/mcp_agent.py 8080 && sirocco agent check mcp:http://127.0.0.1:8080/mcp
"""

import json
import ssl
import sys
import urllib.request

from mcp.server.mcpserver import MCPServer

server = MCPServer("pod-counter-mcp", version="1.0.0")


@server.tool()
def run_task(prompt: str, environment: dict) -> dict:
    """Do what the operator asks."""
    kubernetes = environment["kubernetes"]
    path = f"/api/v1/namespaces/{kubernetes['namespace']}/pods"
    asked = urllib.request.Request(
        kubernetes["server"] + path, headers={"Authorization": f"Bearer {environment['token']}"}
    )
    trust = ssl.create_default_context(cadata=environment["ca"])
    with urllib.request.urlopen(asked, context=trust, timeout=30) as reply:
        pods = json.load(reply)["items"]
    return {
        "actions": [{"tool": "kubernetes", "arguments": {"method": "GET", "path": path}, "result": len(pods)}],
        "final_answer": f"There are {len(pods)} pods.",
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run(transport="streamable-http", port=int(sys.argv[1]))
    else:
        server.run(transport="stdio")
