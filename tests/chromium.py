"""A real Chromium, driven by its own protocol over a pair of pipes: no package, no port, no download."""

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
"""How many seconds to wait for an answer."""


def chromium_program() -> str:
    """The path of Chromium; without one, the test is skipped, or fails if it is required (as in CI)."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None and os.environ.get("SIROCCO_REQUIRE_CHROMIUM"):
        pytest.fail("a Chromium is required here but none is installed: try `apt-get install chromium`")
    if found is None:
        pytest.skip("no Chromium is installed (for example `apt-get install chromium`)")
    return found


class Page:
    """One tab, which opens files and records requests and complaints."""

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
        """Send one command of the protocol and return its answer."""
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
        """Show a file or an address in this size and theme, and wait until it is completely loaded."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.events.clear()
        self.call("Page.navigate", url=place if isinstance(place, str) else place.as_uri())
        self.wait()

    def wait(self) -> None:
        """Wait until a page requested since the events were cleared has loaded."""
        end = time.monotonic() + LIMIT
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < end, "the page does not load"
            self._next()

    def ask(self, expression: str) -> Any:
        """The result of a script about the page; the page's policy does not apply to it."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def follow(self, expression: str) -> None:
        """Run a script that leads to another page, and wait for that page."""
        self.events.clear()
        self.ask(expression)
        self.wait()

    def ask_later(self, expression: str) -> Any:
        """The result of a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    @property
    def requests(self) -> list[str]:
        """Everything that the page requested."""
        return [one["params"]["request"]["url"] for one in self.events if one["method"] == "Network.requestWillBeSent"]

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings on the console, from the page, its policy or the browser."""
        kinds = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Audits.issueAdded")
        found = (one["params"] for one in self.events if one["method"] in kinds)
        # The browser requests an icon on its own, once per server, and no page names one.
        return [json.dumps(one) for one in found if not one.get("entry", {}).get("url", "").endswith("/favicon.ico")]

    def press(self, key: str, code: int) -> None:
        """Press and release one key."""
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
        """The visible part, as a picture."""
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
    """A pipe whose descriptors are neither 3 nor 4."""
    ends = os.pipe()
    moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


@contextmanager
def chromium(folder: Path) -> Iterator[Page]:
    """A browser with a separate profile that contacts no one, for the duration of the block."""
    (to_browser, command), (answers, from_browser) = _pipe(), _pipe()
    arguments = [
        chromium_program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
        "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
        f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank",
    ]  # fmt: skip
    # The protocol expects its pipes at 3 and 4, where they have to be before the program starts.
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
