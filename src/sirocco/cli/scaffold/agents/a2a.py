"""The way to an agent that speaks A2A: each turn becomes a message to it. It needs nothing but Python.

    AGENT_URL=http://127.0.0.1:9999/ sirocco agent check 'cmd+lines:python3 agent.py' --agent-env AGENT_URL

The environment's address and credentials go along as a data part; your agent has to use them for the cluster.
"""

import json
import os
import sys
import urllib.request
import uuid

contexts = {}  # the turns of one conversation share a run_id, and so a context


def send(request):
    parts = [{"kind": "text", "text": request["prompt"]}, {"kind": "data", "data": request["environment"]}]
    message = {"kind": "message", "role": "user", "messageId": uuid.uuid4().hex, "parts": parts}
    message |= {"contextId": contexts[request["run_id"]]} if request["run_id"] in contexts else {}
    call = {"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": {"message": message}}
    posted = urllib.request.Request(
        os.environ["AGENT_URL"], json.dumps(call).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(posted, timeout=request["deadline_seconds"]) as reply:
        result = json.load(reply)["result"]
    contexts[request["run_id"]] = result.get("contextId", request["run_id"])
    told = [result, (result.get("status") or {}).get("message") or {}, *result.get("artifacts", [])]
    return " ".join(part["text"] for one in told for part in one.get("parts", []) if "text" in part)


for line in sys.stdin:
    request = json.loads(line)
    identity = {"identity": {"name": "mine-a2a", "version": "0.1.0"}, "configuration": {}}
    print(json.dumps(identity if "request" in request else {"final_answer": send(request)}), flush=True)
