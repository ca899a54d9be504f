"""An agent as an MCP server with a tool that takes tasks. Replace `my_agent` with your own.

pip install mcp
sirocco agent check 'mcp:cmd:python3 agent.py'
"""

import json
import ssl
import urllib.request

from mcp.server.mcpserver import MCPServer

server = MCPServer("mine", version="0.1.0")


def my_agent(prompt, environment):
    """Do what the operator asks. Until you replace it, it only counts pods."""
    path = f"/api/v1/namespaces/{environment['kubernetes']['namespace']}/pods"
    headers = {"Authorization": f"Bearer {environment['token']}"}
    request = urllib.request.Request(environment["kubernetes"]["server"] + path, headers=headers)
    with urllib.request.urlopen(request, context=ssl.create_default_context(cadata=environment["ca"])) as reply:
        return f"You asked: {prompt} There are {len(json.load(reply)['items'])} pods."


@server.tool()
def run_task(prompt: str, environment: dict) -> str:
    """Do what the operator asks."""
    return my_agent(prompt, environment)


if __name__ == "__main__":
    server.run()
