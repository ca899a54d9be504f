"""A generator at arm's length: it answers in a separate thread, with a deadline for each answer (AV-07).

Generators are foreign code. If one raises, stalls or never returns, that becomes a recorded value here and spreads no
further; the generator is not asked again. Answers are stored before anybody sees them, so that a resumed run asks
nobody twice (AV-10).
"""

import asyncio
import json
import weakref
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from threading import Thread
from typing import Any, Final, TypeGuard, TypeVar

from sirocco.errors import error_text
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.ledger import FactStore
from sirocco.oasis.probe import (
    Author,
    Cell,
    Draft,
    GeneratorType,
    Nothing,
    Offer,
    Probe,
    ProbeGenerator,
    ProbeOutcome,
    ProbeRequest,
    Usage,
    Wording,
)
from sirocco.oasis.scenario import ProbeRecord
from sirocco.oasis.stimulus import Surface
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.probes.wire import (
    BadAnswer,
    draft_document,
    draft_from_document,
    offer_document,
    offers_from_document,
    plain_json,
    usage_from_document,
)

ANSWER_SECONDS = 120.0
"""The deadline for a generator's offers and for each of its drafts, unless the user sets a longer one."""
_MOST_OFFERS = 100_000
_MOST_SIMPLER = 256
_LONGEST_REASON = 200
_MOST_OUTCOMES = 64
"""The maximum number of outcomes that a generator is told at a time."""
_END: Final = object()
_T = TypeVar("_T")


class GeneratorFaultKind(StrEnum):
    """What a generator did instead of answering."""

    BROKE = "broke"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class GeneratorFault:
    """Why a generator is no longer asked."""

    kind: GeneratorFaultKind
    problem: str

    def document(self) -> dict[str, str]:
        """The fault in the form of the report."""
        return {"kind": str(self.kind), "problem": self.problem}

    @classmethod
    def from_document(cls, document: Mapping[str, str]) -> "GeneratorFault":
        """The fault that `document` gave."""
        return cls(GeneratorFaultKind(document["kind"]), document["problem"])


@dataclass(frozen=True, slots=True)
class Malformed:
    """Something that is not a draft, and what is wrong with it."""

    problem: str
    author: Author


class AtArmsLength:
    """Asks a generator; if it fails to answer, `fault` says why, and nothing more comes from it.

    All of its code runs in one thread with a lasting event loop, so that it can keep connections open.
    """

    def __init__(
        self,
        generator: ProbeGenerator,
        seconds: float = ANSWER_SECONDS,
        stop: asyncio.Event | None = None,
        name: str = "",
        facts: FactStore | None = None,
    ) -> None:
        self.method = generator.method
        self.author = Author(name or str(self.method.type), self.method, _wording(generator))
        self.fault: GeneratorFault | None = None
        self._generator = generator
        self._facts = None if self.author.wording is Wording.OURS else facts
        """Where answers are stored; those of our engine follow from the seed."""
        self._outcomes: deque[ProbeOutcome] = deque(maxlen=_MOST_OUTCOMES)
        self._seconds = max(seconds, getattr(generator, "answer_seconds", 0.0))
        self._stop = stop or asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def offers(
        self, targets: Sequence[Archetype], surfaces: Collection[Surface] | None = None
    ) -> tuple[Offer, ...]:
        """What it can make for the targets, limited to existing surfaces."""

        async def list_offers() -> tuple[Offer, ...]:
            found = tuple(islice(self._generator.offers(targets), _MOST_OFFERS))
            if not all(_is_offer(one, surfaces) for one in found):
                raise TypeError("it returned an offer that is not one")
            return found

        key = self._key("offers")
        if (kept := self._kept(key)) is not None:
            return offers_from_document(kept)
        offered = await self._answer(list_offers)
        if offered is not None:
            self._keep(key, [offer_document(one) for one in offered])
        return offered or ()

    @property
    def faults(self) -> dict[str, GeneratorFault]:
        """Why each generator that is no longer asked is not."""
        return {self.author.name: self.fault} if self.fault else {}

    @property
    def authors(self) -> tuple[Author, ...]:
        """The authors of its drafts."""
        return (self.author,)

    def tell(self, draft: Draft, outcome: ProbeOutcome) -> None:
        """Tell the generator, with the next request, the result of one of its own drafts."""
        if draft.author is not None and draft.author.name == self.author.name:
            self._outcomes.append(outcome)

    async def drafts(self, request: ProbeRequest) -> AsyncGenerator[object, None]:
        """Its answers to the cells, in any order: drafts, `Nothing`, and whatever else it returns.

        Answers from an earlier session are read back rather than requested again; new answers are stored first.
        """
        asked = {cell.index: cell for cell in request.cells}
        answered, strays = set[int](), 0
        for index in asked:
            if (kept := self._kept(self._key("draft", request.seed, index))) is not None:
                answered.add(index)
                yield self._recalled(kept, index)
        first = min(asked, default=0)
        while (kept := self._kept(self._key("stray", request.seed, first, strays))) is not None:
            strays += 1
            yield self._recalled(kept, -1)
        left = tuple(self._asked(cell) for index, cell in asked.items() if index not in answered)
        if not left:
            return
        request = replace(request, cells=left, outcomes=tuple(self._outcomes))
        async with aclosing(self._each_answer(lambda: self._generator.propose(request))) as answers:
            async for answer in answers:
                one = self._taken_in(answer)
                index = one.index if isinstance(one, Draft | Nothing) else -1
                if index in asked and index not in answered:
                    answered.add(index)
                    self._keep(self._key("draft", request.seed, index), _answer_document(one))
                else:
                    self._keep(self._key("stray", request.seed, first, strays), _answer_document(one))
                    strays += 1
                yield one
        if self.fault is None and not self._stop.is_set():
            for index in (index for index in asked if index not in answered):
                one = Nothing(index, author=self.author)
                self._keep(self._key("draft", request.seed, index), _answer_document(one))
                yield one

    def _asked(self, cell: Cell) -> Cell:
        """A cell as the generator gets it: with a deadline, and without another generator's draft."""
        author = cell.follows.author if cell.follows else None
        follows = cell.follows if author and author.name == self.author.name else None
        return replace(cell, deadline_seconds=self._seconds, follows=follows)

    def _taken_in(self, one: object) -> object:
        """An answer converted to values of ours, with its author."""
        if isinstance(one, Nothing) and isinstance(one.index, int) and isinstance(one.reason, str):
            usage = one.usage if _is_usage(one.usage) else None
            return Nothing(one.index, one.reason[:_LONGEST_REASON], usage, self.author)
        if not is_draft(one):
            return Malformed(f"the generator gave a {type(one).__name__} that is not a draft", self.author)
        if self.author.wording is Wording.OURS:
            return replace(one, author=self.author)
        usage = one.usage if _is_usage(one.usage) else None
        version = one.model_version if isinstance(one.model_version, str) else None
        try:
            scenario = plain_json(one.scenario)
        except BadAnswer as error:
            return Malformed(str(error), self.author)
        return replace(one, scenario=scenario, usage=usage, model_version=version, author=self.author)

    def _recalled(self, kept: Any, index: int) -> object:
        """A stored answer."""
        match kept:
            case {"draft": draft}:
                return replace(draft_from_document(draft), author=self.author)
            case {"malformed": problem}:
                return Malformed(str(problem), self.author)
            case {"nothing": reason, **rest}:
                usage = usage_from_document(rest.get("usage"))
                return Nothing(int(str(rest.get("index", index))), str(reason), usage, self.author)
        return Malformed("the generator's answer was not stored completely", self.author)

    def _key(self, *parts: object) -> str:
        return " ".join(map(str, ("generator", self.author.name, *parts)))

    def _kept(self, key: str) -> Any:
        text = self._facts.run_fact(key) if self._facts else None
        return None if text is None else json.loads(text)

    def _keep(self, key: str, answer: Any) -> None:
        if self._facts is not None:
            self._facts.note(key, json.dumps(answer))

    async def simpler_drafts(self, probe: Probe) -> AsyncGenerator[Draft, None]:
        """Its smaller forms of a probe: drafts for the same cell, limited in number."""
        key = self._key("simpler", probe.id)
        if (kept := self._kept(key)) is not None:
            for document in kept:
                yield replace(draft_from_document(document), author=self.author)
            return
        asked, left, given = (probe.draft.index, probe.primary_archetype), _MOST_SIMPLER, list[Draft]()
        async with aclosing(self._each_answer(lambda: _as_async(self._generator.simplify(probe)))) as answers:
            async for answer in answers:
                one = self._taken_in(answer)
                if isinstance(one, Draft) and (one.index, one.primary_archetype) == asked:
                    given.append(one)
                    if self._facts is None:
                        yield one
                left -= 1
                if not left:
                    break
        if self._facts is not None:
            # Stored together, so that a resumed run tries the same forms in the same order.
            self._keep(key, [draft_document(one) for one in given])
            for one in given:
                yield one

    async def remake_draft(self, record: ProbeRecord) -> Draft | None:
        """The draft that a record's lineage produces; None if the generator cannot tell, or has no `remake`."""
        remake = getattr(self._generator, "remake", None)
        if remake is None:
            return None

        async def call_remake() -> object:
            return remake(record)

        found = await self._answer(call_remake)
        return found if is_draft(found) else None

    async def _each_answer(self, begin: Callable[[], AsyncIterator[_T]]) -> AsyncGenerator[_T, None]:
        """The generator's iterator, one answer at a time."""

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
        """The answer to one question.

        None if the run is to end, or if there is no answer, in which case `fault` says why.
        """
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
        """The generator's event loop.

        Its thread ends with this object, or with the process if the generator never returns.
        """
        if self._loop is None:
            self._loop, end = asyncio.new_event_loop(), asyncio.Event()
            Thread(target=_serve_loop, args=(self._loop, end), name="generator", daemon=True).start()
            weakref.finalize(self, self._loop.call_soon_threadsafe, end.set)
        return self._loop


def _wording(generator: ProbeGenerator) -> Wording:
    """Who words its texts; only our own engine is known to ask for the goal."""
    if type(generator) is MutationGenerator:
        return Wording.OURS
    is_human = generator.method.type is GeneratorType.RED_TEAM
    return Wording.PERSON if is_human else Wording.PROGRAM


def is_draft(one: object, surfaces: Collection[Surface] | None = None) -> TypeGuard[Draft]:
    """Whether it is a draft with valid types in every part that is used before its scenario is parsed."""
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


def _answer_document(one: object) -> dict[str, Any]:
    """An answer in the form in which a run stores it."""
    match one:
        case Draft():
            return {"draft": draft_document(one)}
        case Nothing():
            usage = {"usage": one.usage.document()} if one.usage else {}
            return {"nothing": one.reason, "index": one.index, **usage}
        case Malformed():
            return {"malformed": one.problem}
    raise AssertionError("an answer is converted before it is stored")


def _is_usage(found: object) -> bool:
    return isinstance(found, Usage) and usage_from_document(found.document()) == found


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
    """The answer, or the exception in its place, including those that would end the thread."""
    try:
        return await question(), None
    except BaseException as error:  # noqa: BLE001 - whatever a generator does, the core is reported
        return None, error


def _serve_loop(loop: asyncio.AbstractEventLoop, end: asyncio.Event) -> None:
    """Handle questions until the end; whatever is then in progress is cancelled."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(end.wait())
