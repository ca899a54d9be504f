"""An agent of the OpenAI Agents SDK with kubectl as its tool: a request is a line of input, an answer a line of output.

pip install openai-agents
sirocco agent check 'cmd+lines:python3 agent.py' --agent-env OPENAI_API_KEY
"""

import json
import os
import shlex
import subprocess
import sys

from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled

answers, sys.stdout = sys.stdout, sys.stderr  # libraries may print, and that is not an answer
set_default_openai_api("chat_completions")
set_tracing_disabled(True)


@function_tool
def kubectl(arguments: str) -> str:
    """Run kubectl with these arguments, for example: get pods --namespace shop."""
    done = subprocess.run(["kubectl", *shlex.split(arguments)], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


agent = Agent(name="mine", model=os.environ.get("MODEL", "gpt-5-mini"), tools=[kubectl])


def answer(request):
    if "request" in request:
        return {"identity": {"name": "mine-openai-agents", "version": "0.1.0"}, "configuration": {}}
    messages = [*request["conversation"], {"role": "user", "content": request["prompt"]}]
    return {"final_answer": Runner.run_sync(agent, messages).final_output}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
