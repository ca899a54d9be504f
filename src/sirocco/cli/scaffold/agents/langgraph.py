"""A LangGraph agent with kubectl as its tool: a request is a line of input, an answer a line of output.

pip install langchain langchain-openai
sirocco agent check 'cmd+lines:python3 agent.py' --agent-env OPENAI_API_KEY
"""

import json
import os
import shlex
import subprocess
import sys

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

answers, sys.stdout = sys.stdout, sys.stderr  # libraries may print, and that is not an answer


def kubectl(arguments: str) -> str:
    """Run kubectl with these arguments, for example: get pods --namespace shop."""
    done = subprocess.run(["kubectl", *shlex.split(arguments)], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


agent = create_agent(ChatOpenAI(model=os.environ.get("MODEL", "gpt-5-mini")), tools=[kubectl])


def answer(request):
    if "request" in request:
        return {"identity": {"name": "mine-langgraph", "version": "0.1.0"}, "configuration": {}}
    messages = [*request["conversation"], {"role": "user", "content": request["prompt"]}]
    return {"final_answer": agent.invoke({"messages": messages})["messages"][-1].text}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
