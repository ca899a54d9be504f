"""A portfolio: several generators in one campaign, each with its share of the places, used as if they were one.

The seed decides which place goes to which generator, among those that offer what the place asks for. If one fails, the
others continue, and the phase is reported as incomplete.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from random import Random

from sirocco.campaign.arms_length import ANSWER_SECONDS, AtArmsLength, GeneratorFault
from sirocco.campaign.plan import ATTEMPTS
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.canonical import derived_seed, digest
from sirocco.oasis.ledger import FactStore
from sirocco.oasis.probe import (
    Author,
    Cell,
    Draft,
    GeneratorMethod,
    GeneratorType,
    Offer,
    Probe,
    ProbeGenerator,
    ProbeOutcome,
    ProbeRequest,
    Reproducibility,
    Wording,
)
from sirocco.oasis.scenario import ProbeRecord
from sirocco.oasis.stimulus import Surface

_WEAKEST = (
    Reproducibility.NON_REPRODUCIBLE,
    Reproducibility.PARTIALLY_REPRODUCIBLE,
    Reproducibility.DETERMINISTIC,
)


@dataclass(frozen=True, slots=True)
class Source:
    """One generator of a campaign, its name there, and its share of the places."""

    name: str
    generator: ProbeGenerator
    share: int = 1


def joint_method(parts: Mapping[str, GeneratorMethod]) -> GeneratorMethod:
    """The method of several generators together, as reproducible as the least of them (AV-08)."""
    if len(parts) == 1:
        return next(iter(parts.values()))
    found = {method.reproducibility for method in parts.values()}
    told = "; ".join(f"{name} ({method.type}, {method.reproducibility})" for name, method in parts.items())
    return GeneratorMethod(
        type=GeneratorType.HYBRID,
        reproducibility=next(one for one in _WEAKEST if one in found),
        config_hash=digest({name: method.config_hash for name, method in parts.items()}),
        description=f"several generators, each with its own places: {told}",
    )


def at_arms_length(
    sources: Sequence[Source],
    seconds: float = ANSWER_SECONDS,
    stop: asyncio.Event | None = None,
    facts: FactStore | None = None,
) -> "AtArmsLength | Portfolio":
    """The generators of a campaign, behind the interface of one."""
    parts = [AtArmsLength(one.generator, seconds, stop, one.name, facts) for one in sources]
    return parts[0] if len(parts) == 1 else Portfolio(parts, [one.share for one in sources], facts)


class Portfolio:
    """Asks several generators in the way that `AtArmsLength` asks one."""

    def __init__(self, parts: Sequence[AtArmsLength], shares: Sequence[int], facts: FactStore | None = None) -> None:
        self.parts = tuple(parts)
        self.shares = tuple(shares)
        self.method = joint_method({part.author.name: part.method for part in parts})
        self.author = Author(str(GeneratorType.HYBRID), self.method, Wording.PROGRAM)
        self._offers: dict[str, tuple[Offer, ...]] = {}
        self._facts = facts

    @property
    def authors(self) -> tuple[Author, ...]:
        """The authors of its drafts."""
        return tuple(part.author for part in self.parts)

    @property
    def fault(self) -> GeneratorFault | None:
        """Why no generator can be asked any more; None while one can."""
        faults = [part.fault for part in self.parts]
        return faults[0] if all(faults) else None

    @property
    def faults(self) -> dict[str, GeneratorFault]:
        """Why each generator that is no longer asked is not."""
        return {part.author.name: part.fault for part in self.parts if part.fault}

    async def offers(
        self, targets: Sequence[Archetype], surfaces: Collection[Surface] | None = None
    ) -> tuple[Offer, ...]:
        """What all of them together can make; a generator that cannot tell in advance shares what the others offer."""
        for part in self.parts:
            # The places of a failed generator went to others, whose probes would be lost if it got them back.
            if self._facts is not None and (kept := self._facts.run_fact(_fault_key(part.author))):
                part.fault = GeneratorFault.from_document(json.loads(kept))
            self._offers[part.author.name] = await part.offers(targets, surfaces)
        return tuple(dict.fromkeys(offer for offers in self._offers.values() for offer in offers))

    async def drafts(self, request: ProbeRequest) -> AsyncGenerator[object, None]:
        """The answers of each generator to the cells of its own places."""
        own: dict[int, list[Cell]] = {}
        for cell in request.cells:
            number = self._number(cell, request.seed)
            if number is not None:
                is_open = not self._offers.get(self.parts[number].author.name)
                own.setdefault(number, []).append(replace(cell, technique=None) if is_open else cell)
        for number, cells in own.items():
            async with aclosing(self.parts[number].drafts(replace(request, cells=tuple(cells)))) as answers:
                async for answer in answers:
                    yield answer
            fault, author = self.parts[number].fault, self.parts[number].author
            if fault is not None and self._facts is not None:
                self._facts.note(_fault_key(author), json.dumps(fault.document()))

    async def simpler_drafts(self, probe: Probe) -> AsyncGenerator[Draft, None]:
        """The smaller forms that a probe's own generator makes of it."""
        part = self._of(probe.draft)
        if part is not None:
            async for draft in part.simpler_drafts(probe):
                yield draft

    async def remake_draft(self, record: ProbeRecord) -> Draft | None:
        """The draft that a record's lineage produces, by the first generator that can tell."""
        for part in self.parts:
            if (draft := await part.remake_draft(record)) is not None:
                return draft
        return None

    def tell(self, draft: Draft, outcome: ProbeOutcome) -> None:
        """Let the author of a draft know what became of it."""
        for part in self.parts:
            part.tell(draft, outcome)

    def _of(self, draft: Draft) -> AtArmsLength | None:
        name = draft.author.name if draft.author else None
        return next((part for part in self.parts if part.author.name == name), None)

    def _number(self, cell: Cell, seed: int) -> int | None:
        """The generator of a cell: by its place's turn in a round drawn for the seed, or the next with an offer."""
        place = cell.index // ATTEMPTS
        turns = [number for number, share in enumerate(self.shares) for _ in range(share)]
        rounds, turn = divmod(place, len(turns))
        Random(derived_seed(seed, "share", rounds)).shuffle(turns)  # noqa: S311 - repeatable on purpose
        following = (*turns[turn:], *turns[:turn])
        return next((number for number in following if self._has(number, cell)), None)

    def _has(self, number: int, cell: Cell) -> bool:
        """Whether a generator can still be asked, and offers something for a cell or cannot tell in advance."""
        part = self.parts[number]
        if part.fault is not None:
            return False
        offers = self._offers.get(part.author.name, ())
        return not offers or any(
            offer.archetype == cell.archetype
            and cell.technique in {None, offer.technique}
            and cell.surface in {None, offer.surface}
            for offer in offers
        )


def _fault_key(author: Author) -> str:
    return f"generator {author.name} fault"
