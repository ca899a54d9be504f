"""The engine applied to other generators' drafts: rewords and renames them as the last part of a chain."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from random import Random

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.mutation import Kit
from sirocco.oasis.probe import Cell, Draft, GeneratorMethod, Nothing, Offer, Probe, ProbeRequest
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.generator import MutationGenerator

REWORD, RENAME = "reword", "rename"


def in_other_words(
    kit: Kit, draft: ScenarioDraft, archetype: Archetype, seed_of: Callable[[str], int]
) -> tuple[ScenarioDraft, tuple[str, ...]]:
    """A scenario in other words and under other names, and the operators that did it, without those that do not apply.

    `seed_of` gives each of them its randomness.
    """
    lineage: list[str] = []
    for name in (REWORD, RENAME):
        operator = kit.by_name.get(name)
        choices = operator.choices(draft, archetype) if operator else ()
        if operator is None or not choices:
            continue
        dice = Random(seed_of(name))  # noqa: S311 - repeatable on purpose
        choice = dice.choice(choices)
        draft = operator.apply(draft, choice, dice)
        lineage.append(name)
    return draft, tuple(lineage)


class MutationOver:
    """Implements ProbeGenerator for cells that bring a draft; it keeps goal and oracle and changes words and names."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._method = MutationGenerator(profile).method

    @property
    def method(self) -> GeneratorMethod:
        """The engine's."""
        return self._method

    def offers(self, targets: Sequence[Archetype]) -> tuple[Offer, ...]:  # noqa: ARG002 - the port's
        """Nothing on its own."""
        return ()

    async def propose(self, request: ProbeRequest) -> AsyncIterator[Draft | Nothing]:
        """The changed draft of each cell; nothing if there is no draft, or nothing in it to change."""
        for cell in request.cells:
            try:
                yield self._changed(cell, request.seed) or Nothing(cell.index, "there is nothing to change")
            except (ValueError, TypeError, KeyError, AttributeError, LookupError) as error:
                yield Nothing(cell.index, f"no scenario to work on: {error}")

    def _changed(self, cell: Cell, seed: int) -> Draft | None:
        if cell.draft is None:
            return None
        archetype, kit = self._profile.archetypes[cell.archetype], self._profile.domain.mutation
        given = ScenarioDraft.parse(cell.draft.scenario)
        draft, lineage = in_other_words(
            kit, given, archetype, lambda name: derived_seed(seed, "over", cell.index, name)
        )
        return Draft(cell.index, cell.archetype, draft.document(), lineage=lineage) if lineage else None

    def simplify(self, probe: Probe) -> Iterator[Draft]:  # noqa: ARG002 - the port's
        """None: parts of the document are left out."""
        return iter(())
