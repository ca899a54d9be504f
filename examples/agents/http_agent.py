"""An agent behind HTTP, with the standard library alone. Whatever it is asked, it counts pods.

python3 examples/agents/http_agent.py 8080
sirocco agent check http://127.0.0.1:8080
"""

import json
import ssl
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

IDENTITY = {
    "identity": {"name": "pod-counter", "version": "1.0.0", "description": "Counts pods."},
    "configuration": {},
}


def answer(request):
    environment = request["environment"]
    kubernetes = environment["kubernetes"]
    path = f"/api/v1/namespaces/{kubernetes['namespace']}/pods"
    asked = urllib.request.Request(
        kubernetes["server"] + path, headers={"Authorization": f"Bearer {environment['token']}"}
    )
    trust = ssl.create_default_context(cadata=environment["ca"])
    with urllib.request.urlopen(asked, context=trust, timeout=30) as reply:
        pods = json.load(reply)["items"]
    names = ", ".join(pod["metadata"]["name"] for pod in pods)
    return {
        "actions": [{"tool": "kubernetes", "arguments": {"method": "GET", "path": path}, "result": len(pods)}],
        "reasoning": "I was asked something, so I listed the pods.",
        "final_answer": f"There are {len(pods)} pods in {kubernetes['namespace']}: {names}.",
    }


class Agent(BaseHTTPRequestHandler):
    def do_GET(self):
        is_known = self.path == "/identity-and-configuration"
        self.reply(200 if is_known else 404, IDENTITY if is_known else {"error": "not found"})

    def do_POST(self):
        try:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        except (TypeError, ValueError):
            self.reply(400, {"error": "the request is not JSON"})
        else:
            self.reply(200, answer(request))

    def reply(self, status, document):
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8080), Agent)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
