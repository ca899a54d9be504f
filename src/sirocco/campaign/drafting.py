"""Drafting: asks a generator for drafts for the places of a plan, and admits them in plan order.

Only drafts that were requested get further than this; anything additional or repeated is counted.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from sirocco.campaign.admission import Admission, Admitted, Fitting, Rejection
from sirocco.campaign.arms_length import AtArmsLength, Malformed, is_draft
from sirocco.campaign.plan import ATTEMPTS, CoveringDesign, Place
from sirocco.campaign.portfolio import Portfolio
from sirocco.campaign.tally import Tally
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.event import ClaimOverruled, DraftRejected, Event
from sirocco.oasis.mutation import Terms
from sirocco.oasis.probe import (
    BENIGN_TWIN,
    Cell,
    Draft,
    Nothing,
    Offer,
    ProbeOutcome,
    ProbeRequest,
    SurfaceLimit,
    TextForm,
)
from sirocco.oasis.stimulus import Surface
from sirocco.runner.parallel import in_order

_LAST_WHOLE = ATTEMPTS - 3
"""The last attempt that asks for everything that its place specifies."""
_NONE = Draft(-1, "", {})
REFUSED = "refused"
_LONGEST_DETAIL = 500
_STRAYS = 16
"""The number of unrequested drafts after which a generator's answers are ignored."""


class Decide(Protocol):
    """Admits or rejects a draft, which with `anew` is a smaller form of an admitted probe."""

    async def __call__(self, draft: Draft, *, anew: bool = False) -> Admitted | Rejection:
        """Decide about the draft alone."""
        ...


class Drafting:
    """Turns places into probes; counts in `tally`."""

    def __init__(
        self,
        generator: AtArmsLength | Portfolio,
        admission: Admission,
        targets: Sequence[Archetype],
        tally: Tally,
        *,
        seed: int,
        parallel: int = 1,
        stop: asyncio.Event | None = None,
        fitting: Fitting | None = None,
        start: int = 0,
        decide: Decide | None = None,
    ) -> None:
        self.generator = generator
        self.admission = admission
        self.targets = tuple(targets)
        self.tally = tally
        self.seed = seed
        self.parallel = parallel
        self.stop = stop
        self.fitting = fitting
        self.decide = decide or self._decide_here
        self.offers: tuple[Offer, ...] = ()
        self.design = CoveringDesign((), (), {}, 0)
        self._placed = start

    async def plan(self) -> CoveringDesign:
        """The design over what the generator offers, without twins, which are run separately (AV-10)."""
        profile = self.admission.profile
        classes = {target.id: profile.classification(target.id) for target in self.targets}
        self.offers = await self.generator.offers(self.targets, profile.domain.vocabulary.surfaces)
        wanted = [offer for offer in self.offers if offer.technique != BENIGN_TWIN]
        self.design = CoveringDesign(wanted, self.targets, classes, self.seed)
        return self.design

    async def fill(self, places: Sequence[Place], filled: dict[int, Admitted]) -> AsyncGenerator[Event, None]:
        """Fill the places with probes, in plan order whatever finished first.

        Each place has a limited number of attempts.
        """
        start, self._placed = self._placed, self._placed + len(places)
        for attempt in range(ATTEMPTS):
            open_places = [number for number in range(len(places)) if number not in filled]
            if not open_places or self.generator.fault or self._is_stopped:
                break
            # An index belongs to a place and an attempt, so a draft does not depend on the outcome of others.
            numbers = {(start + number) * ATTEMPTS + attempt: number for number in open_places}
            cells = {index: places[number].cell(index, attempt) for index, number in numbers.items()}
            drafts, strays = await self._request_drafts(cells)
            for rejection in strays:
                yield self._record_rejection(rejection)
            work = in_order(self._decide_draft, drafts, self.parallel, self.stop)
            async with aclosing(work) as decisions:
                async for decision in decisions:
                    self.tally.note_draft(decision.draft if isinstance(decision, Rejection) else decision.probe.draft)
                    found = self._new(decision)
                    if isinstance(found, Rejection):
                        yield self._record_rejection(found)
                        continue
                    for warning in found.warnings:
                        self.tally.overruled += 1
                        yield ClaimOverruled(warning)
                    self.tally.admitted.add(found.probe.id)
                    number = numbers[found.probe.draft.index]
                    filled[number] = found
                    if attempt <= _LAST_WHOLE:
                        self.design.renew(places[number])
            self._note_exhausted(places, filled, attempt)
        self._settle(places, filled)

    def _note_exhausted(self, places: Sequence[Place], filled: Mapping[int, Admitted], attempt: int) -> None:
        """Before requesting less, count what was not filled against its cell."""
        if attempt != _LAST_WHOLE or self._is_stopped:
            return
        for number, place in enumerate(places):
            if number not in filled and self.design.exhaust(place):
                self.tally.exhausted.append(str(place))

    def _settle(self, places: Sequence[Place], filled: Mapping[int, Admitted]) -> None:
        """Report the outcome of its places to the design, so that each archetype gets its share (AV-06)."""
        if self.generator.fault or self._is_stopped:
            return
        for number, place in enumerate(places):
            if self.design.settle(place, is_filled=number in filled):
                self.tally.exhausted.append(place.archetype)

    async def _request_drafts(self, cells: Mapping[int, Cell]) -> tuple[list[Draft], list[Rejection]]:
        """The drafts for the cells, in order; a generator that fails or returns anything else is reported."""
        found: dict[int, Draft] = {}
        nothing: set[int] = set()
        strays: list[Rejection] = []
        words = self.admission.profile.domain.vocabulary
        request = ProbeRequest(
            self.targets, words.nouns, words.surfaces, self.seed, tuple(cells.values()), limits=self._limits
        )
        async with aclosing(self.generator.drafts(request)) as proposed:
            async for draft in proposed:
                if isinstance(draft, Nothing):
                    if draft.index in cells:
                        nothing.add(draft.index)
                    self.tally.note_nothing(draft)
                elif isinstance(draft, Malformed):
                    strays.append(Rejection(replace(_NONE, author=draft.author), "malformed", draft.problem))
                elif not is_draft(draft, words.surfaces):
                    none = replace(_NONE, author=self.generator.author)
                    strays.append(Rejection(none, "malformed", "it is on a surface that does not exist"))
                elif stray := _stray(draft, cells, found):
                    strays.append(stray)
                else:
                    found[draft.index] = draft
                if len(found.keys() | nothing) == len(cells) or len(strays) > len(cells) + _STRAYS:
                    break
        for rejection in strays:
            self.tally.note_draft(rejection.draft)
        self.tally.unanswered += len(cells) - len(found)
        return [found[index] for index in sorted(found)], strays

    async def _decide_draft(self, draft: Draft) -> Admitted | Rejection:
        return await self.decide(draft)

    async def _decide_here(self, draft: Draft, *, anew: bool = False) -> Admitted | Rejection:
        return await self.admission.decide_safely(draft, self.fitting, anew=anew)

    def _new(self, decision: Admitted | Rejection) -> Admitted | Rejection:
        """The decision, revised now that the earlier probes are known."""
        if isinstance(decision, Rejection):
            return decision
        if decision.probe.id in self.tally.admitted:
            return Rejection(decision.probe.draft, "repeat", decision.probe.id)
        return self.admission.among_siblings(decision)

    def _record_rejection(self, rejection: Rejection) -> DraftRejected:
        self.tally.note_rejection(rejection.draft, rejection.reason)
        draft = rejection.draft
        refused = ProbeOutcome(
            draft.index, draft.primary_archetype, REFUSED, rejection.reason, rejection.detail[:_LONGEST_DETAIL],
            draft.technique, draft.surface,
        )  # fmt: skip
        self.generator.tell(draft, refused)
        return DraftRejected(draft.index, draft.primary_archetype, rejection.reason, rejection.detail)

    async def admitted_anew(self, draft: Draft) -> Admitted | None:
        """A smaller form of a probe, if it is itself admitted."""
        decision = await self.decide(draft, anew=True)
        return decision if isinstance(decision, Admitted) else None

    @cached_property
    def _limits(self) -> dict[Surface, SurfaceLimit]:
        """The form and length limits of texts on each surface."""
        terms, surfaces = (
            self.admission.profile.domain.mutation.terms,
            self.admission.profile.domain.vocabulary.surfaces,
        )
        return {surface: _limit(terms, surface) for surface in surfaces}

    @property
    def _is_stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()


def _limit(terms: Terms, surface: Surface) -> SurfaceLimit:
    characters, is_line = terms.speech.room(surface)
    if surface in terms.name_surfaces:
        return SurfaceLimit(characters, TextForm.NAME)
    return SurfaceLimit(characters, TextForm.LINE if is_line or surface in terms.line_surfaces else TextForm.TEXT)


def _stray(draft: Draft, cells: Mapping[int, Cell], found: Mapping[int, Draft]) -> Rejection | None:
    """Why a draft was not one of those requested."""
    if draft.index not in cells or draft.index in found:
        return Rejection(draft, "unasked", f"no cell {draft.index} is waiting for a draft")
    if draft.primary_archetype != cells[draft.index].archetype:
        wanted = cells[draft.index].archetype
        return Rejection(draft, "not_a_target", f"cell {draft.index} asks for {wanted}, not {draft.primary_archetype}")
    return None
