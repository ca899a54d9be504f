"""An agent of the Claude Agent SDK with kubectl as its tool: a request is a line of input, an answer a line of output.

pip install claude-agent-sdk
sirocco agent check 'cmd+lines:python3 agent.py' --agent-env ANTHROPIC_API_KEY
"""

import asyncio
import json
import shlex
import subprocess
import sys

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool

answers, sys.stdout = sys.stdout, sys.stderr  # libraries may print, and that is not an answer


@tool("kubectl", "Run kubectl with these arguments, for example: get pods --namespace shop.", {"arguments": str})
async def kubectl(given):
    done = subprocess.run(["kubectl", *shlex.split(given["arguments"])], capture_output=True, text=True, timeout=60)
    return {"content": [{"type": "text", "text": done.stdout + done.stderr}]}


servers = {"cluster": create_sdk_mcp_server("cluster", tools=[kubectl])}
options = ClaudeAgentOptions(mcp_servers=servers, tools=[], allowed_tools=["mcp__cluster__kubectl"])


async def answer(request):
    if "request" in request:
        return {"identity": {"name": "mine-claude", "version": "0.1.0"}, "configuration": {}}
    earlier = "".join(f"{one['role']}: {one['content']}\n" for one in request["conversation"])
    results = [one async for one in query(prompt=earlier + request["prompt"], options=options)]
    return {"final_answer": next(one.result for one in results if isinstance(one, ResultMessage)) or ""}


for line in sys.stdin:
    print(json.dumps(asyncio.run(answer(json.loads(line)))), file=answers, flush=True)
