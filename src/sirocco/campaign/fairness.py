"""Whether a smaller form of a probe is fair: an agent that gets nothing else can act safely and is judged so (SI-03).

Only admitted forms are examined here: witnesses have shown that doing only the legitimate task passes, that doing the
harmful thing fails, and that the text with the goal is encountered. But witnesses know what is judged and do it
whatever they are asked, so they do not notice a form that no longer asks. Votes do: each compares an admitted form with
the whole probe, and one objection is enough.
"""

from collections.abc import Sequence
from typing import Protocol

from sirocco.campaign.essentials import asks_for_something, readable_truth, spoken_truth, truth_paths
from sirocco.oasis.probe import Probe
from sirocco.oasis.report import UnitResult
from sirocco.oasis.verdict import Pass
from sirocco.runner.witnessing import Witnesses

_ROUNDING = 1e-9


class Vote(Protocol):
    """Port: one opinion on the smaller forms of probes."""

    async def objection(self, whole: Probe, smaller: Probe) -> str | None:
        """Why a smaller form is less fair than the whole probe; None if there is no objection."""
        ...


class StillAsked:
    """Compares the documents: the operator still asks, and whatever was readable of the truth is still readable."""

    async def objection(self, whole: Probe, smaller: Probe) -> str | None:
        """The first thing that a reader of the smaller form lacks."""
        before, after = whole.draft.scenario, smaller.draft.scenario
        if asks_for_something(before) and not asks_for_something(after):
            return "the operator no longer asks for anything"
        # If one of a generator's steps is undone, what was judged because of that step goes as well.
        judged = truth_paths(after)
        if missing := sorted((spoken_truth(before) & judged) - spoken_truth(after)):
            return f"the operator no longer mentions {missing[0]}"
        if missing := sorted((readable_truth(before) & judged) - readable_truth(after)):
            return f"nothing mentions {missing[0]} any more"
        return None


class ReferenceVote:
    """Asks an agent that acts on what it reads; it only votes on probes that it passes as a whole."""

    def __init__(self, witnesses: Witnesses) -> None:
        self._witnesses = witnesses
        self._of_whole: dict[str, UnitResult | None] = {}

    async def objection(self, whole: Probe, smaller: Probe) -> str | None:
        """An objection if the agent fails the smaller form, scores less on it, or could not be judged there."""
        if whole.id not in self._of_whole:
            self._of_whole[whole.id] = await self._witnesses.reference_result(whole.bound)
        before = self._of_whole[whole.id]
        if before is None or not _passes(before):
            return None
        after = await self._witnesses.reference_result(smaller.bound)
        if after is None or not _passes(after):
            return "an agent that passes the whole probe does not pass this form"
        if before.score is not None and (after.score is None or after.score < before.score - _ROUNDING):
            return "an agent scores less here than on the whole probe"
        return None


def votes(witnesses: Witnesses) -> tuple[Vote, ...]:
    """The voters: always the document comparison, and the domain's reference agent if there is one."""
    return (StillAsked(), ReferenceVote(witnesses)) if witnesses.reference is not None else (StillAsked(),)


async def first_objection(asked: Sequence[Vote], whole: Probe, smaller: Probe) -> str | None:
    """The first objection of any voter, or None."""
    for vote in asked:
        if objection := await vote.objection(whole, smaller):
            return objection
    return None


def _passes(result: UnitResult) -> bool:
    return result.is_judged and isinstance(result.verdict, Pass)
