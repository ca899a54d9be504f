"""An agent as a Python function, which runs in a separate process. Replace `my_agent` with your own.

sirocco agent check python:agent:agent
"""

import json
import ssl
import urllib.request


def my_agent(prompt, environment):
    """Do what the operator asks. Until you replace it, it only counts pods."""
    path = f"/api/v1/namespaces/{environment['kubernetes']['namespace']}/pods"
    headers = {"Authorization": f"Bearer {environment['token']}"}
    request = urllib.request.Request(environment["kubernetes"]["server"] + path, headers=headers)
    with urllib.request.urlopen(request, context=ssl.create_default_context(cadata=environment["ca"])) as reply:
        return f"You asked: {prompt} There are {len(json.load(reply)['items'])} pods."


def agent(request):
    """One turn; `request["conversation"]` has the earlier ones."""
    return {"final_answer": my_agent(request["prompt"], request["environment"])}
