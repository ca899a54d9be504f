"""A generator at arm's length: it answers from a thread of its own, and has only so long for each answer (AV-07).

Generators are foreign code. Whatever one does instead of answering, break, wait or never come back, is a recorded
value here and goes no further; after that it is not asked again.
"""

import asyncio
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from threading import Thread
from typing import Any, Final, TypeGuard, TypeVar

from sirocco.errors import error_text
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.probe import Draft, Offer, Probe, ProbeGenerator, ProbeRequest
from sirocco.oasis.scenario import ProbeRecord
from sirocco.oasis.stimulus import Surface

ANSWER_SECONDS = 120.0
"""How long a generator may take for what it offers, and for each of its drafts."""
_MOST_OFFERS = 100_000
_MOST_SIMPLER = 256
_END: Final = object()
_T = TypeVar("_T")


class GeneratorFaultKind(StrEnum):
    """What a generator did instead of answering."""

    BROKE = "broke"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class GeneratorFault:
    """Why a generator is not asked any more."""

    kind: GeneratorFaultKind
    problem: str

    def document(self) -> dict[str, str]:
        """What the report says about it."""
        return {"kind": str(self.kind), "problem": self.problem}


class AtArmsLength:
    """Asks a generator; where it fails to answer, `fault` says why and there is nothing more from it.

    All of its code runs in one thread with an event loop that lasts, so that it can hold on to connections.
    """

    def __init__(
        self, generator: ProbeGenerator, seconds: float = ANSWER_SECONDS, stop: asyncio.Event | None = None
    ) -> None:
        self.method = generator.method
        self.fault: GeneratorFault | None = None
        self._generator = generator
        self._seconds = seconds
        self._stop = stop or asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def offers(
        self, targets: Sequence[Archetype], surfaces: Collection[Surface] | None = None
    ) -> tuple[Offer, ...]:
        """What it can make for the targets, on surfaces that there are."""

        async def list_offers() -> tuple[Offer, ...]:
            found = tuple(islice(self._generator.offers(targets), _MOST_OFFERS))
            if not all(_is_offer(one, surfaces) for one in found):
                raise TypeError("it offers what is no offer")
            return found

        return await self._answer(list_offers) or ()

    async def drafts(self, request: ProbeRequest) -> AsyncGenerator[object, None]:
        """Whatever it proposes, draft or not."""
        async for one in self._each_answer(lambda: self._generator.propose(request)):
            yield one

    async def simpler_drafts(self, probe: Probe) -> AsyncGenerator[Draft, None]:
        """Its smaller forms of a probe: drafts for the same cell, and not without end."""
        asked, left = (probe.draft.index, probe.primary_archetype), _MOST_SIMPLER
        async for one in self._each_answer(lambda: _as_async(self._generator.simplify(probe))):
            if is_draft(one) and (one.index, one.primary_archetype) == asked:
                yield one
            left -= 1
            if not left:
                return

    async def remake_draft(self, record: ProbeRecord) -> Draft | None:
        """The draft that a record's lineage makes; None from a generator that cannot tell, which may lack `remake`."""
        remake = getattr(self._generator, "remake", None)
        if remake is None:
            return None

        async def call_remake() -> object:
            return remake(record)

        found = await self._answer(call_remake)
        return found if is_draft(found) else None

    async def _each_answer(self, begin: Callable[[], AsyncIterator[_T]]) -> AsyncGenerator[_T, None]:
        """What an iterator of the generator gives, one after the other."""

        async def begin_iteration() -> AsyncIterator[_T]:
            return aiter(begin())

        found = await self._answer(begin_iteration)
        if found is None:
            return
        try:
            while (one := await self._answer(lambda: anext(found, _END))) is not _END and self.fault is None:
                yield one  # type: ignore[misc]  # whatever is not the end is an item
        finally:
            if isinstance(found, AsyncGenerator):
                await self._answer(found.aclose)

    async def _answer(self, question: Callable[[], Awaitable[_T]]) -> _T | None:
        """The answer to one question; None when there is none, of which `fault` says why, or when the run is to end."""
        if self.fault is not None or self._stop.is_set():
            return None
        answer = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_catch_errors(question), self._event_loop()))
        stopped = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait((answer, stopped), timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                value, error = answer.result()
                if error is not None:
                    self.fault = GeneratorFault(GeneratorFaultKind.BROKE, f"the generator broke: {error_line(error)}")
                return value
            if not stopped.done():
                problem = f"the generator gave no answer within {self._seconds:g} s"
                self.fault = GeneratorFault(GeneratorFaultKind.TIMEOUT, problem)
            return None
        finally:
            answer.cancel()
            stopped.cancel()

    def _event_loop(self) -> asyncio.AbstractEventLoop:
        """The generator's event loop; its thread ends with this object, or with the process if it never comes back."""
        if self._loop is None:
            self._loop, end = asyncio.new_event_loop(), asyncio.Event()
            Thread(target=_serve_loop, args=(self._loop, end), name="generator", daemon=True).start()
            weakref.finalize(self, self._loop.call_soon_threadsafe, end.set)
        return self._loop


def is_draft(one: object, surfaces: Collection[Surface] | None = None) -> TypeGuard[Draft]:
    """Whether it is a draft, in all of its parts that are used before its scenario is read."""
    return (
        isinstance(one, Draft)
        and isinstance(one.index, int)
        and isinstance(one.primary_archetype, str)
        and isinstance(one.scenario, Mapping)
        and _are_texts(one.secondary_archetypes)
        and _are_texts(one.lineage)
        and (one.base is None or (isinstance(one.base, Mapping) and _are_texts((*one.base, *one.base.values()))))
        and isinstance(one.technique, str | None)
        and _is_surface(one.surface, surfaces)
    )


def error_line(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {error_text(error)}"[:300]


def _is_offer(one: object, surfaces: Collection[Surface] | None) -> bool:
    return (
        isinstance(one, Offer)
        and _are_texts((one.archetype, one.technique))
        and _is_surface(one.surface, surfaces)
        and isinstance(one.composes, bool)
    )


def _is_surface(word: object, surfaces: Collection[Surface] | None) -> bool:
    return word is None or (isinstance(word, Surface) and (surfaces is None or word in surfaces))


def _are_texts(found: Any) -> bool:
    return isinstance(found, tuple) and all(isinstance(one, str) for one in found)


async def _as_async(items: Iterable[_T]) -> AsyncGenerator[_T, None]:
    for item in items:
        yield item


async def _catch_errors(question: Callable[[], Awaitable[_T]]) -> tuple[_T | None, BaseException | None]:
    """The answer, or what was raised in its place; also what would end the thread."""
    try:
        return await question(), None
    except BaseException as error:  # noqa: BLE001 - whatever a generator does, the core is reported
        return None, error


def _serve_loop(loop: asyncio.AbstractEventLoop, end: asyncio.Event) -> None:
    """Whatever is asked, until the end; what is then under way is cancelled."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(end.wait())
