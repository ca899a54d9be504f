"""A real Chromium, driven over a pair of pipes by its own protocol: no package, no port, no download."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
LIMIT = 60
"""Seconds after which an answer is taken not to come."""


def chromium_program() -> str:
    """Where Chromium is; without one the test is skipped, or fails where it is required (as in CI)."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None and os.environ.get("SIROCCO_REQUIRE_CHROMIUM"):
        pytest.fail("a Chromium is required here but none is installed: try `apt-get install chromium`")
    if found is None:
        pytest.skip("no Chromium is installed (for example `apt-get install chromium`)")
    return found


class Page:
    """One tab: opens files, remembers what it asked for and complained about."""

    def __init__(self, command: int, answers: int) -> None:
        self._command, self._answers = command, answers
        self._left = b""
        self._number = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Security", "Audits"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol and its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._command, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer.get('error')}"
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            chunk = os.read(self._answers, 1 << 20)
            assert chunk, "Chromium has ended"
            self._left += chunk
        line, _, self._left = self._left.partition(b"\0")
        message = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message

    def open(
        self, place: Path | str, *, width: int = 1200, height: int = 900, dark: bool = False, phone: bool = False
    ) -> None:
        """Show a file or an address, in that size and theme, and wait until all of it is there."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.events.clear()
        self.call("Page.navigate", url=place if isinstance(place, str) else place.as_uri())
        self.wait()

    def wait(self) -> None:
        """Wait until a page is there that was asked for after the events were cleared."""
        end = time.monotonic() + LIMIT
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < end, "the page does not load"
            self._next()

    def ask(self, expression: str) -> Any:
        """What a piece of script says about the page; it runs beside the page's policy, not under it."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def follow(self, expression: str) -> None:
        """Do what leads to another page, and wait for it."""
        self.events.clear()
        self.ask(expression)
        self.wait()

    def ask_later(self, expression: str) -> Any:
        """What a promise comes to."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    @property
    def requests(self) -> list[str]:
        """Everything that the page asked for."""
        return [one["params"]["request"]["url"] for one in self.events if one["method"] == "Network.requestWillBeSent"]

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings on the console, from the page, its policy or the browser."""
        kinds = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Audits.issueAdded")
        found = (one["params"] for one in self.events if one["method"] in kinds)
        # The browser asks for an icon of its own accord, once for each server, and no page names one.
        return [json.dumps(one) for one in found if not one.get("entry", {}).get("url", "").endswith("/favicon.ico")]

    def press(self, key: str, code: int) -> None:
        """One key, down and up again."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                **(text if kind == "keyDown" else {}),
            )

    def screenshot(self, file: Path, *, whole: bool = False) -> None:
        """What can be seen, as a picture."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        file.write_bytes(base64.b64decode(data))

    def pdf(self, file: Path) -> None:
        """The page as it is printed."""
        file.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))


def serious_problems(tab: Page, axe: str) -> list[Any]:
    """What the accessibility checker finds serious or critical on the open page, with everything on it unfolded."""
    tab.ask("for (const one of document.querySelectorAll('details')) one.open = true")
    tab.ask(axe)
    found = tab.ask_later(
        """axe.run(document, {resultTypes: ['violations']}).then(result => JSON.stringify(
            result.violations.filter(one => ['serious', 'critical'].includes(one.impact))
                .map(one => [one.id, one.nodes[0].html, one.nodes[0].failureSummary])))"""
    )
    return list(json.loads(found))


def _pipe() -> tuple[int, int]:
    """A pipe whose ends lie out of the way of 3 and 4."""
    ends = os.pipe()
    moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


@contextmanager
def chromium(folder: Path) -> Iterator[Page]:
    """A browser with a profile of its own that keeps to itself, for as long as the block lasts."""
    (to_browser, command), (answers, from_browser) = _pipe(), _pipe()
    arguments = [
        chromium_program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
        "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
        f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank",
    ]  # fmt: skip
    # The protocol has its pipes at 3 and 4, where something has to put them before the program starts.
    place = (
        f"import os, sys; os.dup2({to_browser}, 3); os.dup2({from_browser}, 4); os.execvp(sys.argv[1], sys.argv[1:])"
    )
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    browser = subprocess.Popen([sys.executable, "-c", place, *arguments], pass_fds=(to_browser, from_browser), **quiet)
    os.close(to_browser)
    os.close(from_browser)
    try:
        yield Page(command, answers)
    finally:
        os.close(command)
        os.close(answers)
        try:
            browser.wait(10)
        except subprocess.TimeoutExpired:
            browser.kill()
            browser.wait()
