"""Runs several coroutines at a time with results strictly in order: no decision depends on what finished first."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from itertools import islice
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def in_order(
    work: Callable[[Item], Coroutine[Any, Any, Result]],
    items: Iterable[Item],
    limit: int,
    stop: asyncio.Event | None = None,
) -> AsyncGenerator[Result, None]:
    """Results of `work` over `items` in order, at most `limit` at a time; closing the iterator cancels the rest.

    Setting `stop` does the same: no more results follow.
    """
    remaining = iter(items)
    waiting = deque(asyncio.create_task(work(item)) for item in islice(remaining, limit))
    stopped = asyncio.create_task((stop or asyncio.Event()).wait())
    try:
        while waiting:
            await asyncio.wait((waiting[0], stopped), return_when=asyncio.FIRST_COMPLETED)
            if stopped.done():
                return
            result = await waiting[0]
            waiting.popleft()
            waiting.extend(asyncio.create_task(work(item)) for item in islice(remaining, 1))
            yield result
    finally:
        for task in (*waiting, stopped):
            task.cancel()
        await asyncio.gather(*waiting, stopped, return_exceptions=True)
