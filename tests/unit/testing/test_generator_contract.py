"""The contract suite: our own generator keeps it, and one that does not is told."""

from dataclasses import replace
from functools import cache

import pytest

from bundled import small_profile
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.testing.generators import GeneratorContract

_profile = cache(small_profile)


@pytest.mark.requirement("AV-07", "AV-08", "AV-10")
class TestMutation(GeneratorContract):
    def profile(self):
        return _profile()

    def generator(self, profile):
        return MutationGenerator(profile)


class Cheating(MutationGenerator):
    """Breaks one promise."""

    def __init__(self, profile, broken) -> None:
        super().__init__(profile)
        self.broken = broken

    def offers(self, targets):
        found = super().offers(targets)
        return tuple(replace(one, archetype="S-XX-001") for one in found) if self.broken == "offers" else found

    async def propose(self, request):
        async for draft in super().propose(request):
            if self.broken == "index":
                yield replace(draft, index=7)
            elif self.broken == "dice":
                yield replace(draft, scenario={**draft.scenario, "name": f"{len(request.cells)}"})
            elif self.broken == "schema":
                yield replace(draft, scenario={**draft.scenario, "stimuli": []})
            else:
                yield draft

    def simplify(self, probe):
        return iter([probe.draft]) if self.broken == "simplify" else super().simplify(probe)


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        ("offers", "test_offers_are_for_targets_and_the_same_each_time"),
        ("index", "test_each_cell_is_answered_by_at_most_one_draft_for_its_archetype"),
        ("dice", "test_a_deterministic_generator_gives_the_same_bytes_for_the_same_seed"),
        ("schema", "test_drafts_are_scenarios_of_the_profile"),
        ("simplify", "test_what_is_simpler_is_still_the_same_probe"),
    ],
)
def test_a_generator_that_breaks_a_promise_is_told_which(broken, test):
    class Theirs(GeneratorContract):
        def profile(self):
            return _profile()

        def generator(self, profile):
            return Cheating(profile, broken)

    with pytest.raises(AssertionError):
        getattr(Theirs(), test)()
