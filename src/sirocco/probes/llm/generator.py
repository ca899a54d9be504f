"""The LLM generator: the engine drafts, a model writes the context, and rules decide whether it can be used (AV-07).

Structure, goal, oracle and the sentence that asks for the goal are the engine's, so that every draft can be witnessed
and none asks for something else. The model's failures are counted by kind. If it fails too often, the engine's own
drafts are used instead, and their lineage says so: a model that refuses does not leave a run without probes.
"""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from random import Random

from sirocco.errors import InvalidInput, ModelFault
from sirocco.models.chat import ChatModel, Finish, Message
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.canonical import derived_seed, digest
from sirocco.oasis.probe import (
    BENIGN_TWIN,
    Cell,
    Draft,
    GeneratorMethod,
    GeneratorType,
    Nothing,
    Offer,
    Probe,
    ProbeGenerator,
    ProbeRequest,
    Reproducibility,
    Usage,
)
from sirocco.oasis.profile import Profile
from sirocco.probes.llm import brief
from sirocco.probes.llm.gates import Finding, Kind, findings
from sirocco.probes.llm.opening import Context, Opening, opening

_NAME = "llm"
_REVISION = 2
"""Incremented when the same model would be prompted differently, or its answers be read differently."""
_SPARE_SECONDS = 10.0
"""A generous allowance for the engine's part of an answer."""
_LEAST_TRIED = 6
"""The minimum number of places that a model is tried on before it is given up."""
_DESCRIPTION = (
    "structure, goal, oracle and the sentence that asks for the goal come from the mutation engine; the model writes "
    "the context around it; after more than {share:.0%} unusable answers the engine's drafts are taken as they are, "
    "and their lineage says so"
)


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """How much failure to accept from a model: repairs of an answer, the share of fruitless places, tokens."""

    repairs: int = 2
    fallback: float = 0.5
    tokens: int | None = None
    """After this many tokens, no further answer is requested."""
    seconds: float = 110.0
    """The maximum time for a place, including repairs."""


@dataclass(slots=True)
class _Attempt:
    """The model's attempt at one place, and its cost."""

    context: Context | None = None
    kind: Kind | None = None
    usage: Usage = Usage()  # noqa: RUF009 - a frozen value
    version: str | None = None


class LlmGenerator:
    """Implements ProbeGenerator over a language model and an engine."""

    def __init__(
        self,
        profile: Profile,
        model: ChatModel,
        provider: str,
        engine: ProbeGenerator,
        settings: LlmSettings = LlmSettings(),  # noqa: B008 - a frozen value
    ) -> None:
        self._profile = profile
        self._model = model
        self._engine = engine
        self._settings = settings
        self.tried = 0
        self.failed: Counter[str] = Counter()
        """The fruitless places, by the failure of the last answer."""
        self.spent = Usage()
        parameters = model.parameters
        # No model is guaranteed to repeat itself, and one that samples cannot be expected to.
        is_repeatable = parameters.temperature == 0 or parameters.seed is not None
        self._method = GeneratorMethod(
            type=GeneratorType.LLM,
            reproducibility=Reproducibility.PARTIALLY_REPRODUCIBLE
            if is_repeatable
            else Reproducibility.NON_REPRODUCIBLE,
            config_hash=digest(
                {
                    "revision": _REVISION, "provider": provider, "model": model.name, "repairs": settings.repairs,
                    "parameters": parameters.document(), "fallback": settings.fallback, "tokens": settings.tokens,
                    "engine": engine.method.config_hash,
                }
            ),
            model=f"{provider}:{model.name}",
            model_version=model.name,
            description=_DESCRIPTION.format(share=settings.fallback),
        )  # fmt: skip

    @property
    def method(self) -> GeneratorMethod:
        """What this generator is (AV-08, AV-10); the version of the model that answered is reported with each draft."""
        return self._method

    @property
    def answer_seconds(self) -> float:
        """The deadline of its answers; long, because a local model is slow without being broken."""
        return self._settings.seconds + _SPARE_SECONDS

    def offers(self, targets: Sequence[Archetype]) -> tuple[Offer, ...]:
        """What the engine offers, except twins: legitimate work needs no story."""
        return tuple(offer for offer in self._engine.offers(targets) if offer.technique != BENIGN_TWIN)

    async def propose(self, request: ProbeRequest) -> AsyncIterator[Draft | Nothing]:
        """A draft for each cell for which the engine has one and the model provides a context."""
        cells = {cell.index: cell for cell in request.cells}
        for cell in request.cells:
            if cell.draft is not None:
                yield await self._answer(cell.draft, cell, request)
        asked = tuple(cell for cell in request.cells if cell.draft is None)
        async with aclosing(_closable(self._engine.propose(replace(request, cells=asked)))) as answers:
            async for answer in answers:
                if isinstance(answer, Draft) and answer.index in cells:
                    yield await self._answer(answer, cells[answer.index], request)

    def simplify(self, probe: Probe) -> Iterator[Draft]:  # noqa: ARG002 - the port's
        """None: the campaign leaves out sentences, whoever wrote them."""
        return iter(())

    @property
    def given_up(self) -> str | None:
        """Why the model is no longer asked: too many unusable answers, or its tokens are spent."""
        if self.tried >= _LEAST_TRIED and self.failed.total() > self._settings.fallback * self.tried:
            return ", ".join(f"{kind} {number}" for kind, number in sorted(self.failed.items()))
        spent = self.spent.input_tokens + self.spent.output_tokens
        is_spent = self._settings.tokens is not None and spent >= self._settings.tokens
        return f"{spent} tokens spent" if is_spent else None

    async def _answer(self, draft: Draft, cell: Cell, request: ProbeRequest) -> Draft | Nothing:
        if (cause := self.given_up) is not None:
            return replace(draft, lineage=(*draft.lineage, f"engine_alone({cause})"))
        try:
            place = opening(draft, self._profile, request.limits)
        except InvalidInput as error:
            return Nothing(draft.index, f"not a scenario: {error}")
        if place is None:
            return Nothing(draft.index, "its goal is not asked for by one sentence")
        made = await self._attempt(place, cell, request)
        self.tried += 1
        self.spent += made.usage
        if made.context is None:
            self.failed[str(made.kind)] += 1
            return Nothing(draft.index, f"the model's answer: {made.kind}", made.usage)
        filled = place.filled(made.context, f"{_NAME}({self._model.name})")
        return replace(filled, usage=made.usage, model_version=made.version)

    async def _attempt(self, place: Opening, cell: Cell, request: ProbeRequest) -> _Attempt:
        made = _Attempt()
        try:
            async with asyncio.timeout(min(cell.deadline_seconds or math.inf, self._settings.seconds)):
                await self._converse(place, cell, request, made)
        except (ModelFault, TimeoutError):
            made.context, made.kind = None, Kind.FAULT
        return made

    async def _converse(self, place: Opening, cell: Cell, request: ProbeRequest, made: _Attempt) -> None:
        """Ask, and ask again with the problems found, a limited number of times."""
        index, archetype = place.draft.index, place.draft.primary_archetype
        dice = Random(derived_seed(request.seed, _NAME, archetype, index))  # noqa: S311 - repeatable on purpose
        said = brief.messages(place, dice, request.outcomes, cell.follows)
        asked = "\n".join(message.content for message in said)
        for _ in range(1 + self._settings.repairs):
            reply = await self._model.reply(said, schema=brief.schema(place))
            made.usage += Usage(1, reply.usage.input, reply.usage.output)
            made.version = reply.model or None
            context = brief.read(reply.content)
            wrong = _unreadable(reply.finish, context) or findings(context or Context(), place, asked)
            if not wrong:
                made.context, made.kind = context, None
                return
            made.kind = wrong[0].kind
            if made.kind is Kind.REFUSAL:
                return
            said = [*said, Message("assistant", reply.content or "..."), brief.repair(one.words for one in wrong)]


def _unreadable(finish: Finish, context: Context | None) -> tuple[Finding, ...]:
    if finish is Finish.CONTENT_FILTER:
        return (Finding(Kind.REFUSAL, "the endpoint withheld it"),)
    if finish is Finish.LENGTH:
        return (Finding(Kind.CUT_OFF, "it was cut off; write less"),)
    return (Finding(Kind.NOT_JSON, "it is not the JSON that was asked for"),) if context is None else ()


async def _closable(answers: AsyncIterator[Draft | Nothing]) -> AsyncGenerator[Draft | Nothing, None]:
    async for answer in answers:
        yield answer
