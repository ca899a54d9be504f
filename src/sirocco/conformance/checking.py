"""Every numbered requirement, ruled on for a document: which rules decide it, and what it takes to decide."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from sirocco.conformance import adversarial_rules as adversarial
from sirocco.conformance import consequence_rules as consequences
from sirocco.conformance import core_rules as core
from sirocco.conformance import figure_rules as figures
from sirocco.conformance import oasisctl_rules as oasisctl
from sirocco.conformance import recount_rules as recount
from sirocco.conformance import reference_rules as references
from sirocco.conformance import run_rules as runs
from sirocco.conformance import scoring_rules as scoring
from sirocco.conformance import unit_rules as units
from sirocco.conformance.document import Document, Layout, Part, guarded_data
from sirocco.conformance.layout_rules import missing_adversarial_keys, missing_core_keys
from sirocco.conformance.ruling import Ruling, Rulings, Status, Violation, Violations
from sirocco.evaluation.semver import Version

Rule = Callable[[Document], Violations]
_MOST = 50
"""No more violations of one requirement are listed."""
_EVIDENCE = "only the recorded evidence shows it; `sirocco replay` recomputes it"
_RUN = "only the run itself shows it"
_PROFILE = "it is about a profile, not about a document of a run"
_OLDEST, _NEWEST = "1.0.0-rc1.5", "1.0.0-rc1.12"
_DETAILS = "scenario_details"
_BLOCK = "adversarial_verification"


@dataclass(frozen=True, slots=True)
class Requirement:
    """A numbered requirement: its rules, and the places of a verdict of which one must be there to decide it."""

    id: str
    title: str
    rules: tuple[Rule, ...] = ()
    needs: tuple[str, ...] = ("safety",)
    otherwise: str = ""
    """Why a document cannot show that the requirement is met; where there are rules, it can show a violation."""
    oasisctl: tuple[Rule, ...] = ()
    """The rules for the layout of oasisctl."""


def _extension(number: int, title: str, *rules: Rule, needs: str = _BLOCK, otherwise: str = "") -> Requirement:
    return Requirement(f"AV-{number:02}", title, rules, (needs,), otherwise)


REQUIREMENTS: tuple[Requirement, ...] = (
    Requirement("AV-01", "the adversarial phase is optional", (adversarial.optional_phase,)),
    _extension(2, "a probe is structurally a scenario", otherwise="the serialized probes show it: `sirocco validate`"),
    _extension(
        3, "one primary archetype for each probe", adversarial.anchored_probes, units.probes_named_after_their_archetype
    ),
    _extension(
        4,
        "secondary archetypes are metadata",
        adversarial.secondary_archetypes,
        consequences.secondary_results_are_of_the_probe,
    ),
    _extension(5, "classification follows the primary archetype", adversarial.inherited_classification),
    _extension(6, "composition probes are counted", adversarial.composition_counted),
    _extension(7, "any process can be a generator", otherwise=_RUN),
    _extension(8, "the generator's method is declared", adversarial.method_declared, references.profile_is_one),
    _extension(9, "drafts are admitted or refused", adversarial.drafts_accounted, needs=f"{_BLOCK}.admission"),
    _extension(
        10, "reproducibility is declared", adversarial.reproducibility_declared, consequences.seed_has_its_source
    ),
    _extension(
        11,
        "every failed probe is serialized",
        adversarial.failures_serialized,
        references.findings_name_their_probes,
        consequences.findings_share_no_probe,
    ),
    _extension(
        12,
        "the core was frozen before the phase",
        adversarial.core_untouched,
        references.reruns_follow_from_core,
        needs="metadata.core_digest",
    ),
    _extension(13, "each probe runs the scenario flow", otherwise=_EVIDENCE),
    _extension(14, "independent verification", otherwise=_EVIDENCE),
    Requirement(
        "AV-15",
        "safety is PASS, FAIL or PROVIDER_FAILURE",
        (adversarial.binary_safety, consequences.faults_leave_no_verdict),
        oasisctl=(adversarial.binary_safety,),
    ),
    _extension(
        16,
        "capability probes are scored from 0 to 1",
        adversarial.capability_means,
        consequences.shortfalls_name_their_band,
    ),
    _extension(17, "probe verdicts are reported apart", adversarial.findings_apart),
    _extension(
        18,
        "violated safety secondaries are listed",
        adversarial.secondary_violations_listed,
        references.violations_beside_name_their_probes,
    ),
    _extension(19, "reserved scenarios stay withheld", otherwise="`sirocco reserved audit` looks for leaks"),
    _extension(20, "reserved scenarios are rotated", otherwise=_PROFILE),
    _extension(21, "of reserved scenarios only counts", adversarial.reserved_counts),
    _extension(
        22,
        "the adversarial section is whole",
        adversarial.block_is_whole,
        references.coverage_follows_from_probes,
        recount.thin_archetypes_follow,
        consequences.calls_ran_out_for_a_purpose,
    ),
    _extension(23, "the interpretation note stands", adversarial.note_stands),
    _extension(
        24,
        "violations ask for additional review",
        adversarial.review_recommended,
        needs=f"{_BLOCK}.certification_recommendation",
    ),
    _extension(25, "evasion resistance", otherwise=_PROFILE),
    _extension(26, "findings become scenarios", otherwise=_PROFILE),
    _extension(27, "a claim names generator and probe count", otherwise="it is about claims: `sirocco claim`"),
    Requirement("CO-01", "preflight", (core.preflight_shown,)),
    Requirement(
        "CO-02",
        "the safety gate follows from its scenarios",
        (core.gate_follows_from_scenarios,),
        oasisctl=(oasisctl.gate_follows,),
    ),
    Requirement(
        "CO-03",
        "capability scores after a PASS, at every level",
        (scoring.scores_follow, consequences.undecided_checks_told_alike),
        oasisctl=(oasisctl.scores_follow,),
    ),
    Requirement(
        "CO-04",
        "every check has a definite verdict",
        (core.every_check_decided, core.vacuous_passes_counted, consequences.reasons_are_those_of_checks),
        (_DETAILS,),
        oasisctl=(oasisctl.assertions_decide,),
    ),
    Requirement("CO-05", "action first", otherwise=_EVIDENCE),
    Requirement("CO-06", "value containment", otherwise=_EVIDENCE),
    Requirement("CO-07", "evidence sources were available", (core.sources_available,), (_DETAILS,)),
    Requirement(
        "CO-08",
        "exclusions by configuration",
        (core.exclusions_counted, runs.everything_was_run),
        ("metadata.configuration_coverage",),
        oasisctl=(oasisctl.exclusions_counted,),
    ),
    Requirement(
        "CO-09",
        "tolerance-adjusted passes are reviewed",
        (core.tolerated_passes_reviewed, units.reviews_tell_the_measure, references.probes_for_review_ran),
        ("safety_details.human_review",),
        oasisctl=(oasisctl.tolerance_flagged,),
    ),
    Requirement("CO-10", "an environment for each scenario", (units.sessions_are_their_own,), otherwise=_RUN),
    Requirement(
        "CO-11",
        "the report is whole",
        (
            missing_core_keys,
            core.report_is_whole,
            core.incompleteness_labelled,
            references.artifacts_are_their_own,
            references.failures_told_alike,
            units.details_name_their_own,
            runs.metadata_is_possible,
            consequences.models_are_those_that_answered,
            runs.reasons_follow,
            runs.selection_was_run,
        ),
        oasisctl=(oasisctl.keys_there,),
    ),
    Requirement("CO-12", "schemas and profile quality", otherwise=_PROFILE),
    Requirement(
        "CO-13",
        "stimuli of the standard's types",
        (
            core.stimuli_known,
            units.stimuli_have_their_time,
            consequences.times_lie_in_the_run,
            consequences.something_was_delivered,
        ),
        (_DETAILS,),
    ),
    Requirement("CO-14", "the tier is verified", (core.tier_shown,)),
    Requirement(
        "CO-15",
        "omitted scenarios are justified",
        (core.omissions_justified,),
        ("skipped_scenarios", "safety_details.skipped"),
    ),
    Requirement("SI-01", "witnessed probes", otherwise=_RUN),
    Requirement("SI-02", "blind agents", otherwise=_RUN),
    Requirement("SI-03", "shrinking and confirmation", (figures.reproduction_counted,), (f"{_BLOCK}.findings",)),
    Requirement(
        "SI-04",
        "generalization figures follow from counts",
        (
            figures.intervals_recomputed,
            figures.reruns_counted,
            recount.figures_follow_from_probes,
            recount.pairs_recounted,
            consequences.twins_follow,
        ),
        (f"{_BLOCK}.generalization", f"{_BLOCK}.reruns", f"{_BLOCK}.pairs"),
    ),
    Requirement("SI-05", "novelty", (consequences.admitted_probes_are_new,), otherwise=_RUN),
    Requirement("SI-06", "commitments to reserved scenarios", otherwise="`sirocco reserved verify` checks them"),
    Requirement("SI-07", "replay", otherwise=_EVIDENCE),
    Requirement("SI-08", "effect beats route", otherwise=_EVIDENCE),
    Requirement("SI-09", "rehearsal does not help", otherwise=_RUN),
    Requirement(
        "SI-10",
        "the run is bound to its evidence",
        (figures.digests_well_formed, runs.digests_differ),
        ("metadata.evidence_root", "metadata.config_hash"),
    ),
    Requirement("SI-11", "proven simulation", otherwise=_RUN),
    Requirement(
        "SI-12",
        "able or absent",
        (figures.participation_counted, units.units_agree_with_themselves),
        ("participation",),
    ),
    Requirement("SI-13", "no false accusation", otherwise=_EVIDENCE),
)


_PLACES: dict[str, tuple[str, ...]] = {
    "AV-04": (f"{_BLOCK}.probe_details[].secondary_archetypes",),
    "AV-08": (f"{_BLOCK}.generator", f"{_BLOCK}.generators"),
    "AV-09": (f"{_BLOCK}.admission", f"{_BLOCK}.planned"),
    "AV-10": (f"{_BLOCK}.generator.reproducibility", f"{_BLOCK}.generator.config_hash", "metadata.seed"),
    "AV-11": (f"{_BLOCK}.safety_results.failures", f"{_BLOCK}.capability_results.failures"),
    "AV-12": ("metadata.core_digest",),
    "AV-15": ("safety", f"{_BLOCK}.safety_results", f"{_BLOCK}.probe_summary"),
    "AV-16": (f"{_BLOCK}.capability_results",),
    "AV-17": (f"{_BLOCK}.safety_results.any_safety_violation",),
    "AV-18": (f"{_BLOCK}.secondary_violations",),
    "AV-21": (f"{_BLOCK}.reserved_scenarios",),
    "AV-23": (f"{_BLOCK}.interpretation_note",),
    "AV-24": (f"{_BLOCK}.certification_recommendation",),
    "CO-01": ("metadata.environment.conformance_check",),
    "CO-02": ("safety", "safety_details", "metadata.aborted", "metadata.abort_reason"),
    "CO-03": ("capability",),
    "CO-04": ("scenario_details[].checks", "scenario_details[].secondary"),
    "CO-07": ("scenario_details[].evidence_sources",),
    "CO-08": ("metadata.configuration_coverage", "excluded_scenarios"),
    "CO-09": ("safety_details.human_review", "scenario_details[].safety_tolerance"),
    "CO-13": ("scenario_details[].stimuli",),
    "CO-14": ("metadata.environment.tier", "metadata.environment.tier_evidence", "capability.tier"),
    "CO-15": ("skipped_scenarios",),
    "SI-03": (f"{_BLOCK}.findings[].reproduction",),
    "SI-04": (f"{_BLOCK}.generalization", f"{_BLOCK}.reruns", f"{_BLOCK}.pairs"),
    "SI-10": ("metadata.evidence_root", "metadata.config_hash", "metadata.seed", "metadata.seed_source"),
    "SI-12": ("participation", f"{_BLOCK}.participation", "scenario_details[].participation"),
}
"""Where a document states a requirement. What is missing or misshapen there violates it, besides CO-11 or AV-22."""
_INDEX = re.compile(r"\[\d+\]")


def check_document(data: Any) -> Rulings:
    """Rule on every requirement for a document, whatever it holds; plain data in, nothing is read or written."""
    document = Document(Part(guarded_data(data)))
    version = _core_version(document)
    if document.layout is Layout.UNKNOWN:
        problem = "is neither an OASIS verdict, which has the top key `verdict`, nor a report of oasisctl"
        unknown = Violation("the document", problem, "give a verdict or report of an evaluation")
        first = Ruling("CO-11", "the report is whole", Status.VIOLATED, (unknown,))
        others = (_undecided_ruling(one, problem) for one in REQUIREMENTS if one.id != first.id)
        return Rulings(document.layout, version, (first, *others))
    misshapen = _misshapen_places(document) if document.layout is Layout.VERDICT else {}
    rulings = (_ruling(one, document, version, misshapen.get(one.id, ())) for one in REQUIREMENTS)
    return Rulings(document.layout, version, tuple(rulings))


def _misshapen_places(document: Document) -> dict[str, list[Violation]]:
    """What is missing or of a wrong kind, by the requirement that is stated there."""
    found: dict[str, list[Violation]] = {}
    for one in (*missing_core_keys(document), *missing_adversarial_keys(document)):
        place = _INDEX.sub("[]", one.where).removeprefix("verdict.")
        for requirement, stated in _PLACES.items():
            if any(place == own or place.startswith((f"{own}.", f"{own}[")) for own in stated):
                found.setdefault(requirement, []).append(one)
    return found


def _ruling(
    requirement: Requirement, document: Document, version: str | None, misshapen: Iterable[Violation]
) -> Ruling:
    if document.layout is Layout.OASISCTL:
        return _oasisctl_ruling(requirement, document)
    if not requirement.rules:
        return _undecided_ruling(requirement, requirement.otherwise)
    is_off = not document.block.is_there or document.block["performed"].value is False
    if is_off and requirement.needs[0].startswith(_BLOCK):
        return _undecided_ruling(requirement, "the adversarial phase was not performed")
    found = tuple(islice(_distinct(chain(_violations(requirement.rules, document), misshapen)), _MOST))
    if found:
        return Ruling(requirement.id, requirement.title, Status.VIOLATED, found)
    if requirement.otherwise:
        return _undecided_ruling(requirement, requirement.otherwise)
    if not any(document.verdict.at(place).is_there for place in requirement.needs):
        return _undecided_ruling(requirement, f"the document has no {' or '.join(requirement.needs)}")
    if version is not None and not _is_known(version):
        return _undecided_ruling(
            requirement, f"core version {version} is outside {_OLDEST} to {_NEWEST}; nothing contradicts it"
        )
    return Ruling(requirement.id, requirement.title, Status.MET)


def _oasisctl_ruling(requirement: Requirement, document: Document) -> Ruling:
    # Its layout has no place for the extension; a section that was put there is held to the extension nevertheless.
    is_extended = document.block.is_there and requirement.needs[0].startswith(_BLOCK)
    rules = requirement.rules if is_extended else requirement.oasisctl
    found = tuple(islice(_distinct(_violations(rules, document)), _MOST))
    if found:
        return Ruling(requirement.id, requirement.title, Status.VIOLATED, found)
    if requirement.id == "CO-11":
        return _undecided_ruling(requirement, oasisctl.OMITTED)
    if requirement.oasisctl:
        return Ruling(requirement.id, requirement.title, Status.MET)
    return _undecided_ruling(requirement, requirement.otherwise or "the layout of oasisctl has no place for it")


def _violations(rules: Iterable[Rule], document: Document) -> Iterator[Violation]:
    for rule in rules:
        yield from rule(document)


def _distinct(violations: Iterable[Violation]) -> Iterator[Violation]:
    """Each violation once."""
    seen: set[Violation] = set()
    for violation in violations:
        if violation not in seen:
            seen.add(violation)
            yield violation


def _undecided_ruling(requirement: Requirement, reason: str) -> Ruling:
    return Ruling(requirement.id, requirement.title, Status.UNDECIDABLE, reason=reason)


def _core_version(document: Document) -> str | None:
    key = "oasis_core_spec" if document.layout is Layout.OASISCTL else "oasis_core_version"
    text = document.metadata[key].text
    return None if text is None else text.strip().lstrip("≥>= ")


def _is_known(version: str) -> bool:
    found, oldest, newest = (Version.parse(text) for text in (version, _OLDEST, _NEWEST))
    return found is None or (oldest is not None and newest is not None and oldest <= found <= newest)
