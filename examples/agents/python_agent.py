"""An agent as a Python callable; it runs in a separate process. Whatever it is asked, it counts pods.

cd examples/agents && sirocco agent check python:python_agent:make
"""

import json
import ssl
import urllib.request


class PodCounter:
    """Made anew for every conversation, so what it keeps is of this one."""

    identity = {"name": "pod-counter-py", "version": "1.0.0"}

    async def respond(self, request):
        environment = request["environment"]
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


def make():
    return PodCounter()


def in_five_lines(request):
    return f"You asked: {request['prompt']} I did nothing about it."
