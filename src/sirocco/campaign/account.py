"""The account of a campaign: what the phase observed that no unit records, and its recomputation from both (SI-07).

Plan, admission, budget and what shrinking left out are facts of the runner. Everything else in the adversarial block
follows from recorded units, which `Recount` reads in their order.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sirocco.campaign.admission import Admitted
from sirocco.campaign.findings import file_name, probe_text
from sirocco.campaign.plan import FIXED_ARM
from sirocco.campaign.reruns import RENAMED, RERUN
from sirocco.campaign.shrink import Shrunk
from sirocco.campaign.tally import Tally
from sirocco.campaign.trial import fails_alike
from sirocco.oasis.probe import Draft, Offer, Probe
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import ProbeRecord, Reproduction
from sirocco.oasis.stimulus import Surface

PROBE, CONFIRMATION, TWIN, SHRINKING = "probe", "confirmation", "twin", "shrinking"
KINDS = (PROBE, RERUN, RENAMED, CONFIRMATION, TWIN, SHRINKING)
"""The kinds of units that a campaign records."""


_ENGINE = "mutation"
"""The author of a draft that names none."""


@dataclass(frozen=True, slots=True)
class DraftFacts:
    """What admission knew about a probe: how it was made, and how different it is from what was known."""

    technique: str | None
    surface: str | None
    novelty: float
    arm: str = FIXED_ARM
    recognised: bool = True
    """Whether its texts are known to ask for its goal."""
    author: str = _ENGINE

    @classmethod
    def from_admitted(cls, admitted: Admitted, arm: str = FIXED_ARM) -> "DraftFacts":
        """The facts about a draft that was admitted."""
        draft = admitted.probe.draft
        surface = draft.surface and str(draft.surface)
        author = draft.author.name if draft.author else _ENGINE
        return cls(draft.technique, surface, admitted.novelty, arm, admitted.is_goal_recognised, author)

    def document(self) -> dict[str, Any]:
        """The facts as plain data."""
        arm = {} if self.arm == FIXED_ARM else {"arm": self.arm}
        unread = {} if self.recognised else {"recognised": False}
        author = {} if self.author == _ENGINE else {"author": self.author}
        drafted = {"technique": self.technique, "surface": self.surface, "novelty": self.novelty}
        return {**drafted, **arm, **unread, **author}


@dataclass(frozen=True, slots=True)
class PhaseAccount:
    """Everything that the adversarial block is computed from besides recorded units."""

    planned: int
    twins: int
    targets: tuple[str, ...]
    offers: tuple[Offer, ...]
    unoffered: tuple[str, ...]
    exhausted: tuple[str, ...]
    generator: Mapping[str, Any]
    schedule: Mapping[str, Any]
    admission: Mapping[str, Any]
    agent_calls: Mapping[str, Any]
    incomplete: str | None
    usage: Mapping[str, Any] = field(default_factory=dict)
    """Tokens and costs by role, and their limits, as far as they were reported."""
    generators: tuple[Mapping[str, Any], ...] = ()
    """Each generator with the results of its drafts; empty if our engine is the only one."""
    drafts: Mapping[str, DraftFacts] = field(default_factory=dict)
    """By probe, including benign twins."""
    shrunk: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By failed probe: the number of its smallest form, and the effect of leaving parts out."""
    reruns: tuple[str, ...] = ()
    """The units of published scenarios that were drawn for re-runs among the probes."""
    pairs: int = 0
    """The number of renamed forms that was requested."""
    renamed: tuple[str, ...] = ()
    """The units of the renamed forms that could be made."""
    until: tuple[str, ...] = ()
    """The rules by which the run could end before all probes had run."""

    def document(self) -> dict[str, Any]:
        """The account as plain data."""
        return {
            "planned": self.planned,
            "twins": self.twins,
            "targets": list(self.targets),
            "offers": [
                [one.archetype, one.technique, one.surface and str(one.surface), one.composes] for one in self.offers
            ],
            "unoffered": list(self.unoffered),
            "exhausted": list(self.exhausted),
            "generator": dict(self.generator),
            "schedule": dict(self.schedule),
            "admission": dict(self.admission),
            "agent_calls": dict(self.agent_calls),
            "incomplete": self.incomplete,
            **({"usage": dict(self.usage)} if self.usage else {}),
            **({"generators": [dict(one) for one in self.generators]} if self.generators else {}),
            "drafts": {probe: facts.document() for probe, facts in self.drafts.items()},
            "shrunk": {probe: dict(facts) for probe, facts in self.shrunk.items()},
            "reruns": list(self.reruns),
            "pairs": self.pairs,
            "renamed": list(self.renamed),
            "until": list(self.until),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "PhaseAccount":
        """The account that `document` gave."""
        offers = (
            Offer(archetype, technique, Surface(surface) if surface else None, composes)
            for archetype, technique, surface, composes in document["offers"]
        )
        return cls(
            planned=document["planned"],
            twins=document["twins"],
            targets=tuple(document["targets"]),
            offers=tuple(offers),
            unoffered=tuple(document["unoffered"]),
            exhausted=tuple(document["exhausted"]),
            generator=document["generator"],
            schedule=document["schedule"],
            admission=document["admission"],
            agent_calls=document["agent_calls"],
            incomplete=document["incomplete"],
            usage=document.get("usage", {}),
            generators=tuple(document.get("generators", ())),
            drafts={probe: DraftFacts(**facts) for probe, facts in document["drafts"].items()},
            shrunk=document["shrunk"],
            reruns=tuple(document.get("reruns", ())),
            pairs=document.get("pairs", 0),
            renamed=tuple(document.get("renamed", ())),
            until=tuple(document.get("until", ())),
        )


@dataclass(slots=True)
class _Form:
    """A smaller form of a failed probe that was tried."""

    probe: Probe
    judged: int = 0
    failed: int = 0


@dataclass(slots=True)
class Recount:
    """Recomputes a campaign's tally and probe files from its account and its recorded units in order."""

    account: PhaseAccount
    is_safety: Callable[[str], bool]
    canary: str | None
    tally: Tally = field(default_factory=Tally)
    _forms: dict[tuple[str, int], _Form] = field(default_factory=dict)
    _beside: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, result: UnitResult) -> str | None:
        """Count one unit as the phase did during the run.

        Returns why it cannot be counted if it is not the campaign's.
        """
        if kind in {RERUN, RENAMED}:
            return self._add_rerun(kind, result)
        record = result.bound.scenario.x_sirocco.probe
        if record is None:
            return "it is not a probe: its scenario has no record of one"
        probe = self._probe(result, record)
        root, _, numbers = result.unit.partition(f".{SHRINKING}-")
        form = numbers.partition("-")[0]
        match kind:
            case "probe" | "twin" if probe.id in self.account.drafts:
                self._add_probe(kind, probe, result)
            case "confirmation" if probe.id in self.tally.again:
                self.tally.add_confirmation(probe.id, result)
            case "shrinking" if root in self.tally.again and form.isdecimal():
                self._add_form(root, int(form), probe, result)
            case _:
                return "it belongs to no probe that the account lists and that counts"
        return None

    def _add_rerun(self, kind: str, result: UnitResult) -> str | None:
        if result.unit not in (self.account.renamed if kind == RENAMED else self.account.reruns):
            return "it is a re-run that the account does not list"
        self.tally.add_rerun(kind, result)
        return None

    def _add_probe(self, kind: str, probe: Probe, result: UnitResult) -> None:
        facts = self.account.drafts[probe.id]
        if kind == TWIN:
            is_kept = self.tally.add_twin(probe, result, facts.novelty)
        else:
            is_kept = self.tally.add_probe(
                probe,
                result,
                facts.novelty,
                self.is_safety,
                facts.arm,
                is_recognised=facts.recognised,
                author=facts.author,
            )
        if is_kept and probe.id not in self.tally.again:
            self._beside[file_name(probe.id)] = probe_text(probe, self.canary)

    def _add_form(self, root: str, number: int, probe: Probe, result: UnitResult) -> None:
        form = self._forms.setdefault((root, number), _Form(probe))
        checks = next(frozenset(one.failing_checks) for one in self.tally.failed if one.id == root)
        form.judged += result.is_judged
        form.failed += result.is_judged and fails_alike(result, checks)

    def settle(self) -> dict[str, str]:
        """Assign confirmations and smallest forms; returns the files of probes kept for review, by name."""
        self.tally.settle_confirmations()
        for number, failure in enumerate(self.tally.failed):
            facts = self.account.shrunk.get(failure.id)
            if facts is not None:
                self.tally.failed[number] = replace(failure, shrunk=self._shrunk(failure.id, failure.probe, facts))
        files = dict(self._beside)
        for failure in self.tally.failed:
            files[failure.file_name] = failure.probe_text(self.canary)
            minimal = failure.serialized_minimal(self.canary)
            if minimal is not None and failure.minimal_file_name is not None:
                files[failure.minimal_file_name] = minimal
        return files

    def _shrunk(self, root: str, probe: Probe, facts: Mapping[str, Any]) -> Shrunk:
        form = self._forms.get((root, facts["form"])) if facts["form"] is not None else None
        if form is None:
            return Shrunk.from_document(facts, probe, Reproduction(runs=0, failed=0))
        return Shrunk.from_document(facts, form.probe, Reproduction(runs=form.judged, failed=form.failed))

    def _probe(self, result: UnitResult, record: ProbeRecord) -> Probe:
        """The probe as admission made it, from its own record and the account, which does not contain smaller forms."""
        scenario = result.bound.scenario
        facts = self.account.drafts.get(scenario.id, DraftFacts(None, None, 1.0))
        draft = Draft(
            index=record.index,
            primary_archetype=record.primary_archetype,
            scenario={},
            secondary_archetypes=record.secondary_archetypes,
            lineage=record.lineage,
            base=record.base,
            technique=facts.technique,
            surface=Surface(facts.surface) if facts.surface else None,
        )
        return Probe(scenario.id, record.primary_archetype, record.secondary_archetypes, result.bound, draft)
