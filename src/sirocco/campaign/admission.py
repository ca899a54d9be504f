"""Admission: a draft becomes a probe only if it is anchored, valid, realistic, new and witnessed.

Refused drafts are counted by reason. The decision depends on the draft alone, so drafts can be checked concurrently;
only novelty among siblings is checked in the order of the plan.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sirocco.campaign.anchoring import foreign_prohibitions
from sirocco.campaign.arms_length import error_line
from sirocco.campaign.asking import is_goal_said, is_prompt_empty, unfit_texts, words_against_goal
from sirocco.campaign.latitude import excesses
from sirocco.campaign.learned import with_learned_names
from sirocco.campaign.novelty import LEAST_DISTANCE, Known, Sketch, sketch
from sirocco.campaign.overruling import overrule_claims
from sirocco.campaign.realism import repeated_literals, unrealistic_features
from sirocco.errors import InvalidInput
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.probe import Draft, GeneratorMethod, Probe, Wording, probe_record
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import Excluded, RunIdentity, Skipped
from sirocco.profiles.load import load_scenario
from sirocco.profiles.slots import unused_slots
from sirocco.runner.execution import Execution
from sirocco.runner.planned import plan_scenario
from sirocco.runner.witnessing import Witnesses

Fitting = Callable[[BoundScenario], BoundScenario | Excluded | Skipped]
"""The scenario as it applies to the agent at hand (CO-08, CO-15)."""
_OURS = "x-sirocco"


@dataclass(frozen=True, slots=True)
class Rejection:
    """A draft that was refused; `reason` is a word for counting."""

    draft: Draft
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Admitted:
    """A probe, how different it is from what is known, and which claims of its generator were overruled."""

    probe: Probe
    warnings: tuple[str, ...] = ()
    sketch: "Sketch[int] | None" = None
    novelty: float = 1.0
    is_goal_recognised: bool = True
    """Whether its texts are known to ask for the goal; without that, passing it shows nothing."""


class Admission:
    """The gate between generators and the agent."""

    def __init__(
        self,
        profile: Profile,
        targets: Sequence[Archetype],
        witnesses: Witnesses,
        *,
        method: GeneratorMethod | None = None,
        seed: int = 0,
    ) -> None:
        self.profile = profile
        self.targets = {archetype.id for archetype in targets}
        self.witnesses = witnesses
        self.method = method
        self.seed = seed
        self.known = Known((bound.scenario for bound in profile.scenarios), profile.domain.declarations)

    async def decide(self, draft: Draft, fitting: Fitting | None = None, *, anew: bool = False) -> Admitted | Rejection:
        """Admit or reject one draft; depends on the draft alone.

        `fitting` adapts the scenario to the agent. With `anew`, the draft is a smaller form of an admitted probe, which
        may be as close to a published scenario as it happens to be.
        """
        found = self.valid(draft)
        if isinstance(found, Rejection):
            return found
        bound, warnings = found
        drawn = sketch(bound.scenario, self.profile.domain.declarations)
        novelty = self.known.to_published(bound.scenario)
        if not anew and novelty < LEAST_DISTANCE:
            return Rejection(
                draft, "novelty", f"at {novelty:.2f} from a published scenario; {LEAST_DISTANCE} is required"
            )
        if not anew and draft.base is None and (said := self.known.published_sentence(bound.scenario)):
            return Rejection(draft, "novelty", f"it has no base, but repeats a published scenario: {said!r}")
        runnable = fitting(bound) if fitting else bound
        if isinstance(runnable, Excluded):
            return Rejection(draft, "not_applicable", runnable.condition)
        if isinstance(runnable, Skipped):
            return Rejection(draft, "unprovisionable", runnable.reason)
        by_person = draft.author is not None and draft.author.wording is Wording.PERSON
        is_recognised = not _is_to_be_read(draft) or await is_goal_said(bound, self.witnesses, by_person=by_person)
        if not is_recognised and not by_person:
            return Rejection(draft, "goal_not_said", _why_not_said(bound))
        report = await self.witnesses.report(bound)
        if report.problems:
            return Rejection(draft, report.problems[0].reason, "; ".join(p.detail for p in report.problems))
        draft = replace(draft, scenario=_plain_json(draft.scenario))
        probe = Probe(bound.scenario.id, draft.primary_archetype, draft.secondary_archetypes, runnable, draft)
        return Admitted(probe, warnings, drawn, round(novelty, 3), is_recognised)

    async def decide_safely(
        self, draft: Draft, fitting: Fitting | None = None, *, anew: bool = False
    ) -> Admitted | Rejection:
        """Decide as `decide` does; if deciding raises, the draft is refused."""
        try:
            return await self.decide(draft, fitting, anew=anew)
        except Exception as error:  # noqa: BLE001 - environments are foreign code, and so may be the draft
            return Rejection(draft, "unprovisionable", error_line(error))

    def among_siblings(self, admitted: Admitted) -> Admitted | Rejection:
        """Whether a probe is also new among the probes admitted earlier in its cell; asked in plan order."""
        draft, drawn = admitted.probe.draft, admitted.sketch
        if drawn is None:
            return admitted
        cell = (draft.primary_archetype, draft.technique, draft.surface)
        nearest = self.known.to_siblings(cell, drawn)
        if nearest < LEAST_DISTANCE:
            return Rejection(draft, "novelty", f"at {nearest:.2f} from an earlier probe; {LEAST_DISTANCE} is required")
        self.known.add(cell, drawn)
        return replace(admitted, novelty=min(admitted.novelty, round(nearest, 3)))

    def valid(self, draft: Draft) -> tuple[BoundScenario, tuple[str, ...]] | Rejection:
        """The draft's scenario, corrected where only the profile decides, if it is sound and realistic."""
        archetypes = self.profile.archetypes
        for archetype in (draft.primary_archetype, *draft.secondary_archetypes):
            if archetype not in archetypes:
                named = f"profile {self.profile.document.id} defines no archetype {archetype!r}"
                return Rejection(draft, "unknown_archetype", named)
        if draft.primary_archetype not in self.targets:
            return Rejection(draft, "not_a_target", f"{draft.primary_archetype} was not requested")
        document, warnings = overrule_claims(draft, self.profile)
        try:
            bound = self._load_scenario(self._with_record(document, draft), draft)
        except InvalidInput as error:
            return Rejection(draft, "invalid", str(error))
        if foreign := foreign_prohibitions(bound, self.profile):
            return Rejection(draft, "not_anchored", "; ".join(foreign))
        about = {draft.primary_archetype, *draft.secondary_archetypes}
        published = [one for one in self.profile.scenarios if one.scenario.archetype in about]
        if strange := unrealistic_features(bound, [one.scenario for one in published]):
            return Rejection(draft, "realism", "; ".join(strange))
        if places := repeated_literals(bound, published):
            return Rejection(draft, "literal_repeated", f"a confidential value is part of  {', '.join(places)}")
        if unread := self._unread_texts(bound, draft):
            return unread
        # A draft without a base could be mistaken for any scenario.
        others = self.profile.scenarios if draft.base is None else ()
        return with_learned_names(bound, published, self.profile.document.learned_words, others), warnings

    def _unread_texts(self, bound: BoundScenario, draft: Draft) -> Rejection | None:
        """A reason to refuse a third party's texts without reading them further, if there is one."""
        if not _is_to_be_read(draft):
            return None
        if is_prompt_empty(bound):
            return Rejection(draft, "goal_not_said", "the operator's request mentions nothing that exists")
        if draft.author and draft.author.wording is Wording.PROGRAM:
            unfit = (*excesses(bound, self.profile), *unfit_texts(bound, self.profile))
            return Rejection(draft, "realism", "; ".join(unfit)) if unfit else None
        return None

    def _load_scenario(self, document: Mapping[str, Any], draft: Draft) -> BoundScenario:
        """Parse the scenario, dropping ground truth that nothing in it uses, as compositions may leave some."""
        where = f"draft {draft.index}"
        bound = load_scenario(document, self.profile, where)
        loose = {problem.path[-1] for problem in unused_slots(bound)}
        if not loose:
            return bound
        extension = dict(document[_OURS])
        extension["slots"] = {name: value for name, value in extension["slots"].items() if name not in loose}
        return load_scenario({**document, _OURS: extension}, self.profile, where)

    def _with_record(self, document: Mapping[str, Any], draft: Draft) -> Mapping[str, Any]:
        """The document with the record of where it comes from, which generators do not write themselves."""
        extension = document.get(_OURS, {})
        if self.method is None or not isinstance(extension, Mapping):
            return document
        record = probe_record(draft, draft.author.method if draft.author else self.method, self.seed)
        return {**document, _OURS: {**extension, "probe": record}}


@dataclass(frozen=True, slots=True)
class WorkSite:
    """What every worker of a campaign has: the run's agent and environments, and the admission gate."""

    execution: Execution
    admission: Admission


@dataclass(frozen=True, slots=True)
class AdmissionJob:
    """The decision about one draft, for the agent with which the run started; siblings are compared elsewhere."""

    draft: Draft
    identity: RunIdentity
    anew: bool = False

    async def perform(self, site: WorkSite) -> Admitted | Rejection:
        """Decide in the worker."""
        provider = site.execution.provider
        return await site.admission.decide_safely(
            self.draft, lambda bound: plan_scenario(bound, self.identity, provider), anew=self.anew
        )


def _is_to_be_read(draft: Draft) -> bool:
    """Whether it must be shown that its texts ask for the goal; our engine's do by construction.

    A document without an author does not belong to a campaign and counts nowhere.
    """
    return draft.author is not None and draft.author.wording is not Wording.OURS


def _why_not_said(bound: BoundScenario) -> str:
    found = words_against_goal(bound)
    return f"a text withdraws the request: {found!r}" if found else "no text that reaches the agent asks for the goal"


def _plain_json(value: Any) -> Any:
    """Plain JSON data, in place of any classes that a generator used."""
    match value:
        case Mapping():
            return {str(key): _plain_json(part) for key, part in value.items()}
        case list() | tuple():
            return [_plain_json(part) for part in value]
        case str():
            return str(value)
        case _:
            return value
