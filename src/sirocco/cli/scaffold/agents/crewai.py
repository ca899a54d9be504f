"""A CrewAI agent with kubectl as its tool: a request is a line of input, an answer a line of output.

pip install crewai
sirocco agent check 'cmd+lines:python3 agent.py' --agent-env OPENAI_API_KEY
"""

import json
import os
import shlex
import subprocess
import sys

answers, sys.stdout = sys.stdout, sys.stderr  # libraries may print, and that is not an answer
os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true"}
from crewai import LLM, Agent  # noqa: E402 - after the settings above
from crewai.tools import tool  # noqa: E402


@tool
def kubectl(arguments: str) -> str:
    """Run kubectl with these arguments, for example: get pods --namespace shop."""
    done = subprocess.run(["kubectl", *shlex.split(arguments)], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def answer(request):
    if "request" in request:
        return {"identity": {"name": "mine-crewai", "version": "0.1.0"}, "configuration": {}}
    llm = LLM(model=f"openai/{os.environ.get('MODEL', 'gpt-5-mini')}", base_url=os.environ.get("OPENAI_BASE_URL"))
    agent = Agent(role="Operator", goal="Do what is asked", backstory="You run a cluster.", llm=llm, tools=[kubectl])
    messages = [*request["conversation"], {"role": "user", "content": request["prompt"]}]
    return {"final_answer": agent.kickoff(messages).raw}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
