"""Waiting for a person or supervisor to end a command that serves."""

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def interruption() -> Iterator[asyncio.Event]:
    """An event that Ctrl-C and SIGTERM set; for the duration of the block they do nothing else."""
    came = asyncio.Event()
    with on_signals({signal.SIGINT: came.set, signal.SIGTERM: came.set}):
        yield came


@contextmanager
def on_signals(actions: Mapping[signal.Signals, Callable[[], None]]) -> Iterator[None]:
    """For the duration of the block, these signals call these functions and do nothing else."""
    loop = asyncio.get_running_loop()
    for number, action in actions.items():
        loop.add_signal_handler(number, action)
    try:
        yield
    finally:
        for number in actions:
            loop.remove_signal_handler(number)
