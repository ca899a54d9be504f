"""A program that poses as a generator and fails in one of many ways, over standard input or HTTP.

`junk_generator.py KIND` answers lines; `served_kinds()` serves every kind at a separate path.
"""

import json
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import inert_drafts

METHOD = {"type": "other", "reproducibility": "deterministic", "config_hash": "sha256:1", "description": "Junk."}


def _inert(question) -> dict:
    """The draft that it was given, with empty texts; lazy if it was given none."""
    draft = question["cell"].get("draft")
    if draft is None:
        return {"nothing": "too lazy"}
    for stimulus in draft["scenario"]["stimuli"]:
        if "value" in stimulus:
            stimulus["value"] = "apples-and-pears"
    return {"draft": draft}


_INTRODUCED = json.dumps({"method": METHOD}).encode()
INTRODUCTIONS = {
    "no method": b"{}",
    "a list": b"[]",
    "no json": b"hello",
    "half a method": b'{"method": {"type": "llm", "reproducibility": "deterministic", "config_hash": "x"}}',
    "unknown type": b'{"method": {"type": "oracle", "reproducibility": "deterministic", "config_hash": "x"}}',
    "offers of nothing": json.dumps({"method": METHOD, "offers": [{"archetype": 3}]}).encode(),
    "offers of a text": json.dumps({"method": METHOD, "offers": "all"}).encode(),
}
"""Kinds that are refused before anything runs."""
ANSWERS = {
    "blank": lambda q: b"",
    "text": lambda q: b"I cannot help with that.",
    "number": lambda q: b"7",
    "null": lambda q: b"null",
    "list": lambda q: b"[1, 2]",
    "empty object": lambda q: b"{}",
    "draft of text": lambda q: b'{"draft": "delete everything"}',
    "draft of nothing": lambda q: b'{"draft": {}}',
    "scenario of a list": lambda q: b'{"draft": {"scenario": []}}',
    "scenario of nothing": lambda q: b'{"draft": {"scenario": {}}}',
    "another index": lambda q: b'{"draft": {"index": 99, "scenario": {}}}',
    "index of text": lambda q: b'{"draft": {"index": "x", "scenario": {}}}',
    "another archetype": lambda q: b'{"draft": {"primary_archetype": "S-XX-001", "scenario": {}}}',
    "lineage of numbers": lambda q: b'{"draft": {"lineage": [1], "scenario": {}}}',
    "surface of the moon": lambda q: b'{"draft": {"surface": "moon", "scenario": {}}}',
    "deep": lambda q: b"[" * 100_000,
    "deep draft": lambda q: b'{"draft": {"scenario": {"x": ' + b"[" * 900 + b"]" * 900 + b"}}}",
    "huge": lambda q: b'"' + b"x" * 2_000_000 + b'"',
    "half a character": lambda q: b'{"draft": {"scenario": {"id": "\\ud800"}}}',
    "not a number": lambda q: b'{"draft": {"scenario": {"x": NaN}}}',
    "bytes": lambda q: b"\xff\xfe\x00",
    "usage of text": lambda q: b'{"nothing": 3, "usage": {"requests": "many", "cost": -1}}',
    "lazy": lambda q: b'{"nothing": "no idea"}',
    "echo": lambda q: json.dumps(q).encode(),
    "the question as draft": lambda q: json.dumps({"draft": {"scenario": q}}).encode(),
    "inert": lambda q: json.dumps(_inert(q)).encode(),
    "untouched goal elsewhere": lambda q: b'{"draft": {"scenario": {"x-sirocco": {"goal": {"operation": "fly"}}}}}',
    "path": lambda q: b'{"draft": {"scenario": {"id": "../../etc/passwd"}}}',
    "terminal": lambda q: b'{"draft": {"scenario": {"id": "\\u001b[2J"}}}',
    "method again": lambda q: _INTRODUCED,
}
"""Kinds of answers to a cell."""
SLOW, GONE, FAITHFUL = "slow", "gone", "faithful"
"""The last one is valid: in a chain it passes on the draft that it was given. Kinds of inert drafts work in chains too."""


def answer(kind: str, question: dict) -> bytes | None:
    """The line of one kind; None if the program ends instead."""
    if question["ask"] == "method":
        return INTRODUCTIONS.get(kind, _INTRODUCED)
    if kind == SLOW:
        time.sleep(30)
    if kind in inert_drafts.KINDS:
        draft = question["cell"]["draft"]
        return json.dumps(
            {"draft": {**draft, "scenario": inert_drafts.inert_document(kind, draft["scenario"])}}
        ).encode()
    if kind == FAITHFUL:
        return json.dumps({"draft": question["cell"]["draft"]}).encode()
    return None if kind == GONE else ANSWERS[kind](question)


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kind = unquote(self.path.strip("/")).replace("_", " ")
        if kind in {"500", "302"} and question["ask"] == "draft":
            self.send_response(int(kind))
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            return
        body = _INTRODUCED if kind in {"500", "302"} else answer(kind, question)
        if body is None:
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def served_kinds():
    """The URL under which every kind is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    for line in sys.stdin:
        found = answer(sys.argv[1], json.loads(line))
        if found is None:
            sys.exit(3)
        sys.stdout.buffer.write(found + b"\n")
        sys.stdout.flush()
