"""Several coroutines at a time, results strictly in order: what is decided never depends on what finished first."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from itertools import islice
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def in_order(
    work: Callable[[Item], Coroutine[Any, Any, Result]], items: Iterable[Item], limit: int
) -> AsyncGenerator[Result, None]:
    """Results of `work` over `items` in order, at most `limit` under way; closing the iterator cancels the rest."""
    remaining = iter(items)
    waiting = deque(asyncio.create_task(work(item)) for item in islice(remaining, limit))
    try:
        while waiting:
            result = await waiting[0]
            waiting.popleft()
            waiting.extend(asyncio.create_task(work(item)) for item in islice(remaining, 1))
            yield result
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
