"""Requests to agents, and real servers and programs that answer them, correctly or not."""

import json
import os
import socket
import stat
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scripted_model import ScriptedModel
from sirocco.domains.kubernetes.agent_plane import KUBECONFIG, access_details
from sirocco.oasis.agent import AgentRequest, Turn
from sirocco.oasis.environment import EnvironmentAccess, ServedAccess

ANSWER = {
    "actions": [{"tool": "kubectl", "arguments": {"verb": "get"}, "result": "2"}],
    "reasoning": "I looked.",
    "final_answer": "Two.",
}
DESCRIPTION = {"identity": {"name": "toy", "version": "1.2"}, "configuration": {"interfaces": ["api"]}}


def agent_request(
    prompt: str = "How many?",
    *,
    deadline: int = 20,
    run_id: str = "a" * 32,
    conversation=(),
    kubeconfig: str = "",
    environment: EnvironmentAccess | None = None,
) -> AgentRequest:
    server = "https://127.0.0.1:1/x" if kubeconfig else ""
    access = EnvironmentAccess(
        "e" * 20,
        "kubernetes-cluster",
        "shop",
        "token-1",
        client=None,
        served=ServedAccess(server, "CA", {KUBECONFIG: kubeconfig}) if kubeconfig else None,
        details=access_details("shop", server, kubeconfig),
    )
    return AgentRequest(
        prompt=prompt,
        tools=("container-orchestration",),
        mode="autonomous",
        scope={"namespaces": ["shop"]},
        conversation=tuple(Turn(*turn) for turn in conversation),
        run_id=run_id,
        deadline_seconds=deadline,
        environment=environment or access,
    )


@contextmanager
def http_server(answer):
    """A server on a free port whose answers are `answer(method, path, headers, body) -> (status, bytes)`."""
    seen: list[SimpleNamespace] = []

    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            seen.append(SimpleNamespace(method=self.command, path=self.path, headers=dict(self.headers), body=body))
            status, content, *more = answer(self.command, self.path, self.headers, body)
            self.send_response(status)
            for name, value in more[0].items() if more else ():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with suppress(OSError):  # The client has disconnected.
                self.wfile.write(content)

        do_GET = do_POST = _any  # noqa: N815 - the library's names

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # How often it checks whether to stop; the default is half a second.
    thread = threading.Thread(target=server.serve_forever, args=[0.01], daemon=True)
    thread.start()
    try:
        yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_port}", seen=seen)
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


@contextmanager
def socket_server(talk):
    """A server that calls `talk` with each connection and counts the connections."""
    listener = socket.create_server(("127.0.0.1", 0))
    counted = SimpleNamespace(url=f"http://127.0.0.1:{listener.getsockname()[1]}", connections=0)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            counted.connections += 1
            with connection:
                talk(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield counted
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


def json_answer(document: Any, status: int = 200):
    return lambda *_: (status, json.dumps(document).encode())


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def open_folder():
    """A folder that every account can read, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="open-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def script(folder: Path, text: str, name: str = "agent.sh") -> Path:
    """An executable file."""
    path = folder / name
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return path


@contextmanager
def process(*command: object, **environment: str):
    """A process that prints its address on its first line."""
    running = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        yield SimpleNamespace(line=running.stdout.readline().strip(), process=running)
    finally:
        running.terminate()
        running.wait(20)
        running.stdout.close()


@contextmanager
def scripted_model(*replies: Any, refuses: Sequence[str] = ()):
    """An OpenAI-compatible server that gives these replies in order."""
    model = ScriptedModel(replies, refuses)
    with http_server(model.answer) as server:
        yield SimpleNamespace(url=f"{server.url}/v1", requests=lambda: list(model.requests))
