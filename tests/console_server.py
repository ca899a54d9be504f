"""A console as `sirocco console` serves it, in a thread of the test, and a client that acts as a browser."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from sirocco.console.application import console_application
from sirocco.console.desk import Desk
from sirocco.console.guard import Access
from sirocco.console.library import Library
from sirocco.console.serving import listener
from sirocco.review.log import ReviewRules


@dataclass
class Served:
    """The console's address, what it works with, and a client that has the cookie."""

    desk: Desk
    access: Access
    client: httpx.Client

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.access.port}"

    @property
    def entrance(self) -> str:
        return f"{self.address}/?token={self.access.token}"

    def secret(self, path: str) -> str:
        found = re.search(r'name="form_secret" value="([^"]+)"', self.client.get(path).text)
        assert found, f"{path} has no form"
        return found[1]

    def send(self, page: str, to: str, **fields: str) -> httpx.Response:
        """Submit a form of a page, as a browser does."""
        return self.client.post(to, data={"form_secret": self.secret(page), **fields})


@contextmanager
def served_console(
    root: Path, profile: str = "kubernetes_operations", *, is_read_only: bool = False, rules: ReviewRules | None = None,
    signers: dict[str, Any] | None = None, log_file: Path | None = None,
) -> Iterator[Served]:  # fmt: skip
    desk = Desk(Library(root), profile, log_file or root / "review.jsonl", rules or ReviewRules(), signers or {})
    socket = listener("127.0.0.1", 0)
    access = Access.at("127.0.0.1", socket.getsockname()[1], is_read_only=is_read_only)
    config = uvicorn.Config(console_application(desk, access), log_level="error", lifespan="off", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    with httpx.Client(base_url=f"http://127.0.0.1:{access.port}", follow_redirects=True, timeout=60) as client:
        try:
            client.get("/", params={"token": access.token}).raise_for_status()
            yield Served(desk, access, client)
        finally:
            server.should_exit = True
            thread.join(10)
            desk.jobs.close()
