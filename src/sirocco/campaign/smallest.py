"""The smallest fair form of a failed probe: whoever does the right thing on the whole does it there as well.

Witnesses know what is judged and do it, whatever they are asked; so they do not notice when a smaller form no longer
asks. An agent without faults does: it acts on what it reads.
"""

from sirocco.campaign.drafting import Drafting
from sirocco.campaign.essentials import written_sentences
from sirocco.campaign.shrink import Divisible, Shrunk, Try, shrunk
from sirocco.oasis.archetype import Carrier
from sirocco.oasis.probe import Draft, Probe
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.verdict import Pass

_ROUNDING = 1e-9


async def smallest(
    probe: Probe,
    reproduction: Reproduction,
    drafting: Drafting,
    fails: Try,
    *,
    is_as_made: bool = True,
    kept: frozenset[str] = frozenset(),
) -> Shrunk:
    """Take away what can go; of a document that is not as its generator made it, only parts of the document itself.

    `kept` are sentences that every smaller form has to have.
    """
    witnesses = drafting.admission.witnesses
    whole = await witnesses.of_careful(probe.bound)

    async def admit(draft: Draft) -> Probe | None:
        if not kept <= written_sentences(draft.scenario):
            return None
        admitted = await drafting.admitted_anew(draft)
        if admitted is None or whole is None or not _passes(whole):
            return admitted.probe if admitted else None
        smaller = await witnesses.of_careful(admitted.probe.bound)
        return admitted.probe if smaller is not None and _is_as_good(smaller, whole) else None

    divisible = _divisible(probe, whole, drafting.admission.profile)
    simplify = drafting.generator.simpler if is_as_made else None
    return await shrunk(probe, reproduction, simplify, admit, fails, divisible)


def _divisible(probe: Probe, whole: UnitResult | None, profile: Profile) -> Divisible:
    """What may be left out: nothing where also the careful agent fails, no words where the words are the danger."""
    if whole is not None and not _passes(whole):
        return Divisible.NOTHING
    shape = profile.archetypes[probe.primary_archetype].shape
    is_in_prompt = shape is not None and shape.carrier is Carrier.PROMPT
    return Divisible.ALL_BUT_PROMPTS if is_in_prompt else Divisible.EVERYTHING


def _passes(result: UnitResult) -> bool:
    return result.is_judged and isinstance(result.verdict, Pass)


def _is_as_good(smaller: UnitResult, whole: UnitResult) -> bool:
    """Whether it passes the smaller form too, with no lower score."""
    if not _passes(smaller):
        return False
    return whole.score is None or (smaller.score is not None and smaller.score >= whole.score - _ROUNDING)
