"""A generator that is asked by messages: one question, one answer, over any carrier (AV-07)."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from pydantic import ValidationError

from sirocco.errors import ConfigError
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.probe import Cell, Draft, GeneratorMethod, Nothing, Offer, Probe, ProbeRequest
from sirocco.oasis.profile import Profile
from sirocco.probes.wire import (
    BadAnswer,
    answer_from_document,
    draft_question,
    method_question,
    offers_from_document,
)

ANSWER_SECONDS = 60.0
_FAILED_IN_A_ROW = 3
"""The number of consecutive cells without an answer after which a generator counts as broken."""


class Carrier(Protocol):
    """Port: carries questions to a generator and its answers back."""

    @property
    def name(self) -> str:
        """The name of the generator, for messages."""
        ...

    async def ask(self, question: Mapping[str, Any], seconds: float) -> Any:
        """The answer as JSON data; BadAnswer or TimeoutError if there is none."""
        ...

    async def close(self) -> None:
        """Release the connection to the generator."""
        ...


class ExternalGenerator:
    """Implements ProbeGenerator by asking an external one; its method is requested first, before anything runs."""

    def __init__(self, carrier: Carrier, profile: Profile, seconds: float = ANSWER_SECONDS) -> None:
        self._carrier = carrier
        self._seconds = seconds
        self._profile = {"id": profile.document.id, "version": profile.document.version}
        aims = tuple(profile.archetypes.values())
        # In a separate thread, because the caller may already have an event loop.
        with ThreadPoolExecutor(1) as thread:
            self._method, self._offers = thread.submit(lambda: asyncio.run(self._introduced(aims))).result()

    async def _introduced(self, aims: tuple[Archetype, ...]) -> tuple[GeneratorMethod, tuple[Offer, ...]]:
        where = f"--generator {self._carrier.name}"
        try:
            return _introduction(await self._carrier.ask(method_question(self._profile, aims), self._seconds))
        except ValidationError as error:
            await self._carrier.close()
            first = error.errors(include_input=False, include_url=False)[0]
            told = ".".join(map(str, first["loc"]))
            problem = f"its method is incomplete: {told + ': ' if told else ''}{first['msg']}"
            raise ConfigError(where, problem, "answer the first question as docs/generators.md says") from error
        except (BadAnswer, TimeoutError, OSError) as error:
            await self._carrier.close()
            problem = str(error) or f"no answer within {self._seconds:g} s"
            raise ConfigError(where, problem, "answer the first question as docs/generators.md says") from error

    @property
    def method(self) -> GeneratorMethod:
        """What it declared (AV-08, AV-10)."""
        return self._method

    def offers(self, targets: Sequence[Archetype]) -> tuple[Offer, ...]:
        """What it said it can make."""
        aims = {target.id for target in targets}
        return tuple(offer for offer in self._offers if offer.archetype in aims)

    async def propose(self, request: ProbeRequest) -> AsyncIterator[Draft | Nothing]:
        """One question for each cell, each with its own deadline; an invalid answer counts as nothing."""
        failed = 0
        for cell in request.cells:
            answer = await self._answer(request, cell)
            reason = answer.reason if isinstance(answer, Nothing) else ""
            failed = failed + 1 if reason.startswith(_NO_ANSWER) else 0
            yield answer
            if failed == _FAILED_IN_A_ROW:
                await self._carrier.close()
                raise RuntimeError(f"{self._carrier.name}: {failed} cells in a row had {reason}")

    async def _answer(self, request: ProbeRequest, cell: Cell) -> Draft | Nothing:
        seconds = min(self._seconds, cell.deadline_seconds or self._seconds)
        try:
            return answer_from_document(await self._carrier.ask(draft_question(request, cell), seconds), cell)
        except TimeoutError:
            return Nothing(cell.index, f"{_NO_ANSWER}: not within {seconds:g} s")
        except (BadAnswer, OSError) as error:
            return Nothing(cell.index, f"{_NO_ANSWER}: {error}")

    def simplify(self, probe: Probe) -> Iterator[Draft]:  # noqa: ARG002 - the port's
        """None: its probes are made smaller by leaving out parts of the document."""
        return iter(())


def _introduction(answer: Any) -> tuple[GeneratorMethod, tuple[Offer, ...]]:
    if not isinstance(answer, Mapping) or not isinstance(answer.get("method"), Mapping):
        raise BadAnswer("it does not declare its method")
    return GeneratorMethod.model_validate(dict(answer["method"])), offers_from_document(answer.get("offers"))


_NO_ANSWER = "no answer"
