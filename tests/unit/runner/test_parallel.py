"""Several at a time, results in order."""

import asyncio
from contextlib import aclosing

import pytest

from sirocco.runner.parallel import in_order


async def _collected(limit: int, delays: list[int]) -> tuple[list[int], int]:
    under_way = most = 0

    async def work(item: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(delays[item]):
            await asyncio.sleep(0)
        under_way -= 1
        return item

    results = [result async for result in in_order(work, range(len(delays)), limit)]
    return results, most


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_results_come_in_the_order_of_the_items_whatever_finishes_first(limit):
    results, most = asyncio.run(_collected(limit, [9, 1, 5, 2, 3]))
    assert results == [0, 1, 2, 3, 4]
    assert most == min(limit, 5)


def test_closing_early_cancels_what_is_under_way():
    cancelled = []

    async def work(item: int) -> int:
        try:
            for _ in range(item * 100):
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            cancelled.append(item)
            raise
        return item

    async def first() -> int:
        async with aclosing(in_order(work, range(3), 3)) as results:
            return await anext(results)

    assert asyncio.run(first()) == 0
    assert cancelled == [1, 2]


def test_an_error_in_one_reaches_the_caller():
    async def work(item: int) -> int:
        return 1 // item

    async def collected() -> list[int]:
        return [result async for result in in_order(work, [1, 0, 1], 2)]

    with pytest.raises(ZeroDivisionError):
        asyncio.run(collected())


@pytest.mark.parametrize("limit", [1, 3])
def test_once_it_is_stopped_no_result_comes_and_what_is_under_way_is_cancelled(limit):
    begun, cancelled = [], []

    async def work(item: int) -> int:
        begun.append(item)
        try:
            await asyncio.sleep(0 if item < 2 else 60)
        except asyncio.CancelledError:
            cancelled.append(item)
            raise
        return item

    async def collected() -> list[int]:
        stop, results = asyncio.Event(), []
        async for result in in_order(work, range(9), limit, stop):
            results.append(result)
            if result == 1:
                asyncio.get_running_loop().call_later(0.01, stop.set)
        return results

    assert asyncio.run(collected()) == [0, 1]
    assert cancelled == [item for item in begun if item > 1] != []


def test_what_is_stopped_before_it_begins_gives_nothing():
    async def work(item: int) -> int:
        return item

    async def collected() -> list[int]:
        stop = asyncio.Event()
        stop.set()
        return [result async for result in in_order(work, range(9), 2, stop)]

    assert asyncio.run(collected()) == []
