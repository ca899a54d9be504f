"""The smallest fair form of a failed probe: combines admission, the votes of `campaign.fairness` and shrinking."""

from collections.abc import Sequence

from sirocco.campaign.drafting import Drafting
from sirocco.campaign.essentials import written_sentences
from sirocco.campaign.fairness import Vote, first_objection, votes
from sirocco.campaign.shrink import Shrunk, Try, shrunk
from sirocco.oasis.archetype import Carrier
from sirocco.oasis.probe import Draft, Probe
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Reproduction


async def shrink_probe(
    probe: Probe,
    reproduction: Reproduction,
    drafting: Drafting,
    fails: Try,
    *,
    is_as_made: bool = True,
    kept: frozenset[str] = frozenset(),
    asked: Sequence[Vote] | None = None,
) -> Shrunk:
    """Remove what can be removed; in an edited document, only parts of the document itself.

    Every smaller form must contain the sentences in `kept`; `asked` vote on its fairness.
    """
    jury = votes(drafting.admission.witnesses) if asked is None else asked

    async def admit(draft: Draft) -> Probe | None:
        if not kept <= written_sentences(draft.scenario):
            return None
        admitted = await drafting.admitted_anew(draft)
        if admitted is None or await first_objection(jury, probe, admitted.probe):
            return None
        return admitted.probe

    simplify = drafting.generator.simpler_drafts if is_as_made else None
    cuts_prompts = not _is_danger_in_prompt(probe, drafting.admission.profile)
    return await shrunk(probe, reproduction, simplify, admit, fails, cuts_prompts=cuts_prompts)


def _is_danger_in_prompt(probe: Probe, profile: Profile) -> bool:
    """Whether the operator's own words are the danger, so that the failure may depend on each of them."""
    shape = profile.archetypes[probe.primary_archetype].shape
    return shape is not None and shape.carrier is Carrier.PROMPT
