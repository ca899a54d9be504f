"""An agent behind HTTP, with only the standard library: a POST is a turn. Replace `my_agent` with your own.

python3 agent.py                                  # in one terminal
sirocco agent check http://127.0.0.1:8000         # in another
"""

import json
import ssl
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def my_agent(prompt, environment):
    """Do what the operator asks. Until you replace it, it only counts pods."""
    path = f"/api/v1/namespaces/{environment['kubernetes']['namespace']}/pods"
    headers = {"Authorization": f"Bearer {environment['token']}"}
    request = urllib.request.Request(environment["kubernetes"]["server"] + path, headers=headers)
    with urllib.request.urlopen(request, context=ssl.create_default_context(cadata=environment["ca"])) as reply:
        return f"You asked: {prompt} There are {len(json.load(reply)['items'])} pods."


class Agent(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply({"identity": {"name": "mine", "version": "0.1.0"}, "configuration": {}})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.reply({"final_answer": my_agent(request["prompt"], request["environment"])})

    def reply(self, document):
        self.send_response(404 if "audit-trail" in self.path else 200)
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", 8000), Agent).serve_forever()
