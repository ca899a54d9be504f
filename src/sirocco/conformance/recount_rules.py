"""Figures of ours again from the probes listed, by the functions that a campaign computes them with (SI-04, AV-22).

Documents of others keep to the rules that any document is held to: theirs may be rounded, or counted otherwise.
"""

from dataclasses import dataclass
from typing import Any

from sirocco.campaign.plan import FIXED_ARM, thin_archetypes
from sirocco.campaign.sample import Sample, failure_modes, failures_by_distance, memorization_test
from sirocco.campaign.statistics import chance_of_meeting
from sirocco.conformance.document import Document, Part
from sirocco.conformance.ruling import Violations, unless_alike, unless_equal, violation
from sirocco.oasis.archetype import Classification
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure

_OUTCOMES = {Pass.status: "passed", Fail.status: "failed", ProviderFailure.status: "provider_failure"}
_SOURCE = "the probes listed"


@dataclass(frozen=True, slots=True)
class _Listed:
    """A probe as the document lists it."""

    archetype: str
    technique: str | None
    is_safety: bool
    is_reached: bool
    outcome: str
    novelty: float
    arm: str
    mode: tuple[Any, ...] | None

    @property
    def is_telling(self) -> bool:
        """Whether it says something of the violation rate."""
        return self.outcome == "failed" or (self.outcome == "passed" and self.is_reached)


def figures_follow_from_probes(document: Document) -> Violations:
    """Rates by group, distances and kinds of failure are what the probes listed come to (SI-04)."""
    figures, sample = document.block["generalization"], _sample(document)
    if sample is None or not figures["overall"].is_there:
        return
    yield from unless_alike(figures["overall"], sample.rate(sample.ran), _SOURCE)
    category = document.archetype_categories
    for key, group, rate in (
        ("categories", category, sample.rate),
        ("archetypes", {name: name for name in category}, sample.rate_if_enough),
    ):
        probed = {str(group.get(one.archetype)) for one in sample.ran}
        for name, part in figures[key].members.items():
            own = [one for one in sample.ran if str(group.get(one.archetype)) == name]
            yield from unless_alike(part["probes"], rate(own), _SOURCE)
        for name in sorted(probed - figures[key].members.keys()):
            yield violation(figures[key], f"do not have {name}, which was probed", "list it with its figures")
    yield from unless_alike(figures["distance"], failures_by_distance(sample), _SOURCE)
    yield from unless_alike(figures["failure_modes"], failure_modes(sample), _SOURCE)
    yield from _chances(figures["single_hole"], sample)


def _chances(holes: Part, sample: Sample[_Listed]) -> Violations:
    """The chance of meeting a single hole, where the parts that were probed are those that the probes name."""
    parts = {
        "technique": [str(one.technique) for one in sample.ran],
        "archetype": [one.archetype for one in sample.ran],
    }
    for name, probed in parts.items():
        hole = holes[name]
        offered, distinct = hole["offered"].count, set(probed)
        if offered is None or hole["probed"].count is None or len(distinct) > offered:
            continue
        if name == "archetype":
            yield from unless_equal(hole["probed"], len(distinct), _SOURCE)
        if hole["probed"].count == len(distinct):
            numbers = [probed.count(one) for one in distinct] + [0] * (offered - len(distinct))
            expected = chance_of_meeting(numbers, rate=0.5)
            yield from unless_equal(hole.at("chance_of_meeting.every_other_time"), expected, _SOURCE)
    for hole in holes.members.values():
        half, whole = (hole.at(f"chance_of_meeting.{key}") for key in ("every_other_time", "always"))
        if half.number is not None and whole.number is not None and half.number > whole.number:
            yield violation(half, f"is above the {whole.number:g} of a hole that is always there", "compute it again")


def thin_archetypes_follow(document: Document) -> Violations:
    """Archetypes with less than half of their share of the probes are named, and those without any (AV-22)."""
    block, coverage = document.block, document.block["coverage"]
    ran = _ran(document)
    offered = coverage.at("archetypes.offered").count
    if ran is None or offered is None or not coverage.is_there:
        return
    missing = {str(one.value) for one in coverage.at("not_covered.archetypes").entries}
    targets = missing | {one.archetype for one in ran if one.is_reached}
    if len(targets) != offered:
        return
    unreached = sorted(name for name in missing if document.archetypes.get(name) == str(Classification.SAFETY))
    listed = block["archetypes_without_delivered_probe"]
    if sorted(str(one.value) for one in listed.entries) != unreached:
        problem = f"are not {', '.join(unreached) or 'none'}, the safety archetypes that no probe covered"
        yield violation(listed, problem, "list the safety archetypes without a delivered probe")
    unoffered = {str(one.value) for one in coverage["not_offered"].entries}
    classes = {
        name: Classification(document.archetypes[name]) for name in targets - unoffered if name in document.archetypes
    }
    probed = [one.archetype for one in ran]
    thin = thin_archetypes(classes, {name: probed.count(name) for name in set(probed)})
    if thin or coverage["thin"].is_there:
        yield from unless_alike(coverage["thin"], thin, _SOURCE)


def pairs_recounted(document: Document) -> Violations:
    """The test over renamed pairs, with its power, is what the pairs listed come to (SI-04)."""
    pairs = document.block["pairs"]
    listed = [one.value for one in pairs["pairs"].entries]
    if not document.is_ours or not pairs["test"].is_there or not pairs["pairs"].is_there:
        return
    if not all(isinstance(one.at("original").value, dict) for one in pairs["pairs"].entries):
        return
    statuses = [str(one["status"].value) for one in pairs["pairs"].entries]
    counts = {key: statuses.count(key) for key in ("worse", "better", "same", "undecided")}
    plain = [{"status": one.get("status"), "original": {"status": one["original"].get("status")}} for one in listed]
    expected = memorization_test(plain, len(listed) - counts["undecided"], counts)
    yield from unless_alike(pairs["test"], expected, "the pairs listed")


def _sample(document: Document) -> Sample[_Listed] | None:
    """The probes that say something of the violation rate, as the campaign took them."""
    ran = _ran(document)
    if ran is None:
        return None
    return Sample.from_lines(ran, is_sequential=document.block["until"].is_there)


def _ran(document: Document) -> list[_Listed] | None:
    """The probes listed as a campaign counts them; None where the document does not list them whole."""
    details = document.block["probe_details"].entries
    if not document.is_ours or not details or not document.has_archetype_list:
        return None
    if any(one["novelty"].number is None or one["archetype"].text is None for one in details):
        return None
    checks = {
        str(file.value).rpartition("/")[2].removesuffix(".yaml"): finding
        for finding in document.block["findings"].entries
        for file in finding["probes"].entries
    }
    return [_probe(document, one, checks.get(str(one["probe"].value))) for one in details]


def _probe(document: Document, probe: Part, finding: Part | None) -> _Listed:
    archetype, status = str(probe["archetype"].value), probe["status"].value
    outcome = _OUTCOMES.get(str(status), "agent_fault")
    failing = () if finding is None else tuple(str(one.value) for one in finding["failing_checks"].entries)
    return _Listed(
        archetype=archetype,
        technique=probe["technique"].text,
        is_safety=document.archetypes.get(archetype) == str(Classification.SAFETY),
        is_reached=probe["delivered"].value is True and status is not None,
        outcome=outcome,
        novelty=probe["novelty"].number or 0.0,
        arm=probe["arm"].text or FIXED_ARM,
        mode=(archetype, failing) if outcome == "failed" else None,
    )
