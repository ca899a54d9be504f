"""A chain: one generator works on the drafts of another, such as a model that rewords drafts of the engine (AV-07)."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.canonical import digest
from sirocco.oasis.probe import (
    Draft,
    GeneratorMethod,
    GeneratorType,
    Nothing,
    Offer,
    Probe,
    ProbeGenerator,
    ProbeRequest,
    Reproducibility,
)

_ORDER = (
    Reproducibility.NON_REPRODUCIBLE,
    Reproducibility.PARTIALLY_REPRODUCIBLE,
    Reproducibility.DETERMINISTIC,
)


class Chain:
    """Implements ProbeGenerator: `first` drafts, `second` gets each draft with its cell and answers with its own."""

    def __init__(self, first: ProbeGenerator, second: ProbeGenerator, names: tuple[str, str]) -> None:
        self._first, self._second, self._names = first, second, names
        methods = (first.method, second.method)
        self._method = GeneratorMethod(
            type=GeneratorType.HYBRID,
            reproducibility=next(one for one in _ORDER if one in {method.reproducibility for method in methods}),
            config_hash=digest([method.config_hash for method in methods]),
            description=f"{names[1]} ({methods[1].type}) works on the drafts of {names[0]} ({methods[0].type})",
        )

    @property
    def method(self) -> GeneratorMethod:
        """Both methods in one (AV-08)."""
        return self._method

    @property
    def answer_seconds(self) -> float:
        """The deadline of its answers: the longer one of the two."""
        return max(getattr(one, "answer_seconds", 0.0) for one in (self._first, self._second))

    def offers(self, targets: Sequence[Archetype]) -> tuple[Offer, ...]:
        """The offers of the first generator."""
        return self._first.offers(targets)

    async def propose(self, request: ProbeRequest) -> AsyncIterator[Draft | Nothing]:
        """The second's drafts over the first's."""
        made: dict[int, Draft] = {}
        async with aclosing(_generator(self._first.propose(replace(request, outcomes=())))) as drafts:
            async for draft in drafts:
                if isinstance(draft, Draft):
                    made[draft.index] = draft
        cells = tuple(replace(cell, draft=made[cell.index]) for cell in request.cells if cell.index in made)
        async with aclosing(_generator(self._second.propose(replace(request, cells=cells)))) as answers:
            async for answer in answers:
                yield self._over(made.get(answer.index), answer) if isinstance(answer, Draft) else answer

    def _over(self, below: Draft | None, draft: Draft) -> Draft:
        """The second's draft with its origin; anything that it leaves open is taken from the first's."""
        if below is None:
            return draft
        return replace(
            draft,
            lineage=(*below.lineage, *(draft.lineage or (f"over {self._names[1]}",))),
            base=draft.base or below.base,
            secondary_archetypes=draft.secondary_archetypes or below.secondary_archetypes,
            technique=draft.technique or below.technique,
            surface=draft.surface or below.surface,
        )

    def simplify(self, probe: Probe) -> Iterator[Draft]:
        """The second's smaller forms."""
        return self._second.simplify(probe)


async def _generator(answers: AsyncIterator[Any]) -> Any:
    async for answer in answers:
        yield answer
