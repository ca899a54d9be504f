"""The contract of probe generators as a test class to inherit (AV-07 to AV-10).

    from sirocco.testing.generators import GeneratorContract

    class TestOurs(GeneratorContract):
        def generator(self, profile):
            return OurGenerator(profile)

It needs no environment; `sirocco probe generate` shows whether drafts can tell agents apart by their deeds.
"""

import asyncio
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

from sirocco.errors import InvalidInput
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.domain import Domain
from sirocco.oasis.probe import Cell, Draft, GeneratorMethod, Probe, ProbeGenerator, ProbeRequest, Reproducibility
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import load_profile, load_scenario

_SEED = 0x5F3A
_CELLS = 12
_FEWER = 5


class GeneratorContract:
    """Inherit this and define `generator`; override `profile` and `targets` if the generator is for others."""

    def generator(self, profile: Profile) -> ProbeGenerator:
        """A fresh generator for the profile."""
        raise NotImplementedError

    def profile(self) -> Profile:
        """The profile to make probes for: the first that comes with an installed domain."""
        domains: list[Domain] = [point.load() for point in sorted(entry_points(group="sirocco.domains"))]
        domain = next(one for one in domains if one.profiles)
        loaded = load_profile(Path(next(iter(domain.profiles.values()))), lambda _: domain).profile
        assert loaded is not None, "the bundled profile does not load"
        return loaded

    def targets(self, profile: Profile) -> tuple[Archetype, ...]:
        """The archetypes to ask for: safety archetypes with a shape, and capability archetypes with bands."""
        return tuple(one for one in profile.archetypes.values() if one.shape or one.bands)

    def test_the_method_is_declared_with_all_that_its_type_asks_for(self) -> None:
        """AV-08, AV-10: the declaration is complete before anything is proposed."""
        method = self.generator(self.profile()).method
        assert GeneratorMethod.model_validate(method.document()) == method
        assert method.config_hash.startswith("sha256:"), "config_hash is sha256:<hex> over the configuration"

    def test_offers_are_for_targets_and_the_same_each_time(self) -> None:
        """AV-09: offers are limited to the given targets."""
        profile = self.profile()
        targets = self.targets(profile)
        offers = self.generator(profile).offers(targets)
        assert {offer.archetype for offer in offers} <= {target.id for target in targets}
        assert self.generator(profile).offers(targets) == offers
        assert self.generator(profile).offers(()) == ()

    def test_each_cell_is_answered_by_at_most_one_draft_for_its_archetype(self) -> None:
        """AV-09: a draft has the index and archetype of its cell."""
        profile = self.profile()
        cells = self._cells(profile)
        drafts = self._proposed_drafts(profile, cells)
        asked = {cell.index: cell.archetype for cell in cells}
        assert drafts, "not one draft for any cell"
        assert len({draft.index for draft in drafts}) == len(drafts)
        assert all(asked.get(draft.index) == draft.primary_archetype for draft in drafts)

    def test_nothing_is_proposed_where_nothing_is_asked(self) -> None:
        """AV-09: no cells, no drafts."""
        assert self._proposed_drafts(self.profile(), ()) == []

    def test_drafts_are_scenarios_of_the_profile(self) -> None:
        """AV-02: a draft is a complete scenario, anchored to its archetype by shape."""
        profile = self.profile()
        problems = []
        for draft in self._proposed_drafts(profile, self._cells(profile)):
            try:
                load_scenario(draft.scenario, profile, f"draft {draft.index}")
            except InvalidInput as error:
                problems.append(str(error))
        assert not problems, "\n".join(problems)

    def test_a_deterministic_generator_gives_the_same_bytes_for_the_same_seed(self) -> None:
        """AV-10: a draft does not depend on other cells, their order, or the instance."""
        profile = self.profile()
        if self.generator(profile).method.reproducibility is not Reproducibility.DETERMINISTIC:
            return
        cells = self._cells(profile)
        whole = self._texts(self._proposed_drafts(profile, cells))
        assert self._texts(self._proposed_drafts(profile, cells)) == whole
        assert self._texts(self._proposed_drafts(profile, cells[::-1])) == whole
        fewer = self._texts(self._proposed_drafts(profile, cells[:_FEWER]))
        assert all(whole[index] == text for index, text in fewer.items())
        assert self._texts(self._proposed_drafts(profile, cells, _SEED + 1)) != whole

    def test_what_is_simpler_is_still_the_same_probe(self) -> None:
        """SI-03: smaller forms keep archetype and index, and there are finitely many."""
        profile = self.profile()
        generator = self.generator(profile)
        for draft in self._proposed_drafts(profile, self._cells(profile))[:_FEWER]:
            bound = load_scenario(draft.scenario, profile, "draft")
            probe = Probe(bound.scenario.id, draft.primary_archetype, draft.secondary_archetypes, bound, draft)
            for smaller in generator.simplify(probe):
                assert (smaller.index, smaller.primary_archetype) == (draft.index, draft.primary_archetype)
                assert canonical_json(smaller.scenario) != canonical_json(draft.scenario)

    def _cells(self, profile: Profile) -> tuple[Cell, ...]:
        """Plain cells, and cells for offers of all archetypes in turn."""
        targets = self.targets(profile)
        offers = self.generator(profile).offers(targets)[:: max(1, len(targets))]
        plain = [target.id for target in targets][:_CELLS]
        offered = [Cell(100 + n, one.archetype, one.technique, one.surface) for n, one in enumerate(offers[:_CELLS])]
        return (*(Cell(index, name) for index, name in enumerate(plain)), *offered)

    def _proposed_drafts(self, profile: Profile, cells: Sequence[Cell], seed: int = _SEED) -> list[Draft]:
        words = profile.domain.vocabulary
        request = ProbeRequest(self.targets(profile), words.nouns, words.surfaces, seed, tuple(cells))

        async def drafts() -> list[Draft]:
            answers = self.generator(profile).propose(request)
            return [draft async for draft in answers if isinstance(draft, Draft)]

        return asyncio.run(drafts())

    def _texts(self, drafts: Sequence[Draft]) -> dict[int, str]:
        return {draft.index: canonical_json(draft.scenario) for draft in drafts}
