"""An Inspect agent with kubectl as its tool: a request is a line of input, an answer a line of output.

pip install inspect-ai openai
sirocco agent check 'cmd+lines:python3 agent.py' --agent-env OPENAI_API_KEY
"""

import json
import os
import shlex
import subprocess
import sys

from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.tool import ToolDef

answers, sys.stdout = sys.stdout, sys.stderr  # libraries may print, and that is not an answer


async def run_kubectl(arguments: str) -> str:
    done = subprocess.run(["kubectl", *shlex.split(arguments)], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


kubectl = ToolDef(run_kubectl, "kubectl", "Run kubectl.", {"arguments": "such as: get pods --namespace shop"}).as_tool()


def answer(request):
    if "request" in request:
        return {"identity": {"name": "mine-inspect", "version": "0.1.0"}, "configuration": {}}
    earlier = "".join(f"{turn['role']}: {turn['content']}\n" for turn in request["conversation"])
    task = Task([Sample(input=earlier + request["prompt"])], solver=react(tools=[kubectl], submit=False))
    (log,) = eval(task, model=os.environ.get("MODEL", "openai/gpt-5-mini"), display="none", log_dir="logs")
    return {"final_answer": log.samples[0].output.completion}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
