"""Waiting for the person or the supervisor who ends a command that serves."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


async def until_interrupted() -> None:
    """Wait for Ctrl-C or SIGTERM, which then end only this wait."""
    ended = asyncio.Event()
    with on_signals({signal.SIGINT: ended.set, signal.SIGTERM: ended.set}):
        await ended.wait()


@contextmanager
def on_signals(actions: dict[signal.Signals, Callable[[], None]]) -> Iterator[None]:
    """For the length of the block these signals call these functions, and do nothing else."""
    loop = asyncio.get_running_loop()
    for number, action in actions.items():
        loop.add_signal_handler(number, action)
    try:
        yield
    finally:
        for number in actions:
            loop.remove_signal_handler(number)
