"""Speed and size of the console's pages for a run with many probes, which is made from a real one."""

import json
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from sirocco.console.application import console_application
from sirocco.console.desk import Desk
from sirocco.console.guard import Access
from sirocco.console.library import Library
from sirocco.console.serving import listener, read_ahead
from sirocco.wiring.profile_source import BUNDLED


def multiply_probes(run: Path, out: Path, probes: int) -> None:
    """A run directory like `run` with the given number of probes; only the originals have evidence."""
    shutil.copytree(run, out)
    document = json.loads((out / "verdict.json").read_bytes())
    block = document["verdict"]["adversarial_verification"]
    details = block["probe_details"]
    names: dict[str, list[str]] = {str(one["probe"]): [] for one in details}
    copies = []
    for number, one in enumerate(islice(cycle(details), probes)):
        name = str(one["probe"])
        copy = f"{name[: name.rindex('-') + 1]}{number:012x}" if names[name] else name
        names[name].append(copy)
        copies.append({**one, "probe": copy})
    block["probe_details"] = copies
    for results in ("safety_results", "capability_results"):
        block[results]["failures"] = [copy for one in block[results]["failures"] for copy in _copied(one, names)]
    block["safety_results"] |= {"total": probes, "failed": len(block["safety_results"]["failures"])}
    block["findings"] = [copy for one in block["findings"] for copy in _copied_finding(one, names)]
    (out / "verdict.json").write_text(json.dumps(document))


def _copied(failure: dict[str, Any], names: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    name = str(failure["probe_serialized"]).rpartition("/")[2].removesuffix(".yaml")
    for copy in names.get(name, ()):
        yield {**failure, "probe_serialized": f"adversarial/{copy}.yaml"}


def _copied_finding(finding: dict[str, Any], names: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    first = str(finding["probes"][0]).rpartition("/")[2].removesuffix(".yaml")
    for number, copy in enumerate(names.get(first, ())):
        surface = f"{finding.get('surface', '')} {number}"
        yield {**finding, "surface": surface, "probes": [f"adversarial/{copy}.yaml"]}


@dataclass(frozen=True, slots=True)
class PageSpeed:
    """The time to a page's first byte, on the first request and as the median of some more, and the page's size."""

    page: str
    first: float
    later: float
    kilobytes: float


def measured_pages(root: Path, *, rounds: int = 5) -> list[PageSpeed]:
    """Every kind of page about the latest run below a folder, over HTTP, after the console has preloaded."""
    with _served(root) as (desk, client):
        read_ahead(desk)
        desk.quality  # noqa: B018 - reading it once is the point
        return [_measured(client, page, rounds) for page in _pages(desk)]


def _pages(desk: Desk) -> Sequence[str]:
    run = f"/run/{desk.library.places()[0].slug}"
    loaded, queue = desk.library.load(desk.library.places()[0]), desk.library.queue()
    below = ("", "/findings", "/units", "/units?page=40", "/units?q=note", "/adversarial", "/context",
             f"/unit/{loaded.units[0].name}")  # fmt: skip
    others = ("/runs", "/review", "/review?page=20", f"/finding/{queue[0].id}", "/profile", "/profile/quality")
    return [*(run + page for page in below), *others]


def _measured(client: httpx.Client, page: str, rounds: int) -> PageSpeed:
    taken, size = [], 0
    for _ in range(rounds):
        begun = time.perf_counter()
        with client.stream("GET", page) as response:
            response.raise_for_status()
            chunks = response.iter_bytes()
            first = next(chunks, b"")
            taken.append(time.perf_counter() - begun)
            size = len(first) + sum(map(len, chunks))
    return PageSpeed(page, taken[0], sorted(taken)[len(taken) // 2], size / 1000)


@contextmanager
def _served(root: Path) -> Iterator[tuple[Desk, httpx.Client]]:
    desk = Desk(Library(root), BUNDLED, root / "review.jsonl")
    socket = listener("127.0.0.1", 0)
    port = int(socket.getsockname()[1])
    access = Access.at("127.0.0.1", port)
    server = uvicorn.Server(uvicorn.Config(console_application(desk, access), log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            while not server.started:
                time.sleep(0.01)
            client.get("/", params={"token": access.token})
            yield desk, client
    finally:
        server.should_exit = True
        thread.join()
        desk.jobs.close()
