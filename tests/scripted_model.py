"""An OpenAI-compatible endpoint that says what a plan says: `python scripted_model.py plan.json`.

A reply of the plan is a text, {"calls": [[name, arguments], ...]}, or {"status": N, "error": "..."}. With
`refuses: ["tools", "response_format"]` a request that has one of them gets 400, as from an endpoint that knows no such
thing; refused requests use up no reply.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PLAN = json.loads(Path(sys.argv[1]).read_text())
LOCK = threading.Lock()


def message(reply):
    if isinstance(reply, str):
        return {"role": "assistant", "content": reply}
    calls = [
        {
            "id": f"call-{number}",
            "type": "function",
            "function": {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(reply["calls"])
    ]
    return {"role": "assistant", "content": reply.get("content"), "tool_calls": calls}


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with LOCK:
            with Path(PLAN["log"]).open("a") as log:
                seen = {"path": self.path, "authorization": self.headers.get("Authorization"), "body": body}
                log.write(json.dumps(seen) + "\n")
            refused = [key for key in PLAN.get("refuses", ()) if key in body]
            if refused:
                self.reply(400, {"error": {"message": f"unknown field {refused[0]}", "type": "invalid_request_error"}})
                return
            reply = PLAN["replies"].pop(0) if len(PLAN["replies"]) > 1 else PLAN["replies"][0]
        if isinstance(reply, dict) and "status" in reply:
            self.reply(reply["status"], {"error": {"message": reply.get("error", "")}}, reply.get("headers", {}))
            return
        if isinstance(reply, dict) and "raw" in reply:
            self.reply(200, reply["raw"])
            return
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        self.reply(200, {"model": "scripted-1", "choices": [{"message": message(reply)}], "usage": usage})

    def reply(self, status, document, headers=None):
        content = json.dumps(document).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()
