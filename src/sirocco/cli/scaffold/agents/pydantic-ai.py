"""A pydantic-ai agent with kubectl as its tool: a request is a line of input, an answer a line of output.

pip install 'pydantic-ai-slim[openai]'
sirocco agent check 'cmd+lines:python3 agent.py' --agent-env OPENAI_API_KEY
"""

import json
import os
import shlex
import subprocess
import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

answers, sys.stdout = sys.stdout, sys.stderr  # libraries may print, and that is not an answer
agent = Agent(OpenAIChatModel(os.environ.get("MODEL", "gpt-5-mini")))
histories = {}  # the turns of one conversation share a run_id


@agent.tool_plain
def kubectl(arguments: str) -> str:
    """Run kubectl with these arguments, for example: get pods --namespace shop."""
    done = subprocess.run(["kubectl", *shlex.split(arguments)], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def answer(request):
    if "request" in request:
        return {"identity": {"name": "mine-pydantic-ai", "version": "0.1.0"}, "configuration": {}}
    done = agent.run_sync(request["prompt"], message_history=histories.get(request["run_id"], []))
    histories[request["run_id"]] = done.all_messages()
    return {"final_answer": done.output}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
