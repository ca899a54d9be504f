"""An adapter for an agent that speaks A2A 1.0: each turn becomes a message, with the environment as a data part.

AGENT_URL=http://127.0.0.1:9999/ python3 agent.py    # in one terminal
sirocco agent check http://127.0.0.1:8000            # in another
"""

import json
import os
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HEADERS = {"Content-Type": "application/json", "A2A-Version": "1.0"}


def send(request):
    parts = [{"text": request["prompt"]}, {"data": request["environment"]}]
    message = {"role": "ROLE_USER", "messageId": os.urandom(8).hex(), "contextId": request["run_id"], "parts": parts}
    call = {"jsonrpc": "2.0", "id": "1", "method": "SendMessage", "params": {"message": message}}
    posted = urllib.request.Request(os.environ["AGENT_URL"], json.dumps(call).encode(), HEADERS)
    result = json.load(urllib.request.urlopen(posted))["result"]
    task = result.get("task", {})
    told = [result.get("message", {}), task.get("status", {}).get("message", {}), *task.get("artifacts", [])]
    return " ".join(part["text"] for one in told for part in one.get("parts", []) if "text" in part)


class Agent(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply({"identity": {"name": "mine-a2a", "version": "0.1.0"}, "configuration": {}})

    def do_POST(self):
        self.reply({"final_answer": send(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))})

    def reply(self, document):
        self.send_response(404 if "audit-trail" in self.path else 200)
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Agent).serve_forever()
