"""An asynchronous context manager kept open in a thread of its own, for programs without an event loop."""

import asyncio
import threading
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import Any


class Background:
    """Opens on construction, and closes when `close` is called; exceptions of either reach the caller."""

    def __init__(self, manager: AbstractAsyncContextManager[Any]) -> None:
        self._manager = manager
        self._opened: Future[None] = Future()
        self._closed: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="kubesim", daemon=True)
        self._thread.start()
        self._opened.result()

    def close(self) -> None:
        """Leave the context manager and end the thread."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()
        self._closed.result()

    def _run(self) -> None:
        try:
            asyncio.run(self._keep_open())
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits for it
            (self._closed if self._opened.done() else self._opened).set_exception(error)
        else:
            self._closed.set_result(None)

    async def _keep_open(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with self._manager:
            self._opened.set_result(None)
            await self._end.wait()
