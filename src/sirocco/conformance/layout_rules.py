"""Which keys a document must have, and of what kind their values are: those of the standard, and our published schema.

The standard's verdict format is Reporting section 1, the adversarial section is 6.1 of the extension.
"""

from collections.abc import Callable, Iterator, Mapping

from sirocco.conformance.document import STATUSES, Document, Part
from sirocco.conformance.ruling import Violation, Violations, violation, violation_at
from sirocco.reports.schema import verdict_schema
from sirocco.reports.shape import shape_problems

Kind = tuple[str, Callable[[Part], bool]]

COUNT: Kind = ("a whole number from 0 on", lambda part: part.count is not None)
FLAG: Kind = ("true or false", lambda part: isinstance(part.value, bool))
TEXT: Kind = ("a text", lambda part: part.text is not None)
SCORE: Kind = (
    "a score from 0 to 1, or null",
    lambda part: part.value is None or (part.number is not None and 0 <= part.number <= 1),
)
TIER: Kind = ("a tier: 1, 2 or 3", lambda part: part.count in {1, 2, 3})
LIST: Kind = ("a list", lambda part: isinstance(part.value, list))
MAPPING: Kind = ("a mapping", lambda part: isinstance(part.value, dict))
STATUS: Kind = (
    "PASS, FAIL, PROVIDER_FAILURE, or null where there is no verdict",
    lambda part: part.value is None or part.value in STATUSES,
)
DURATION: Kind = (
    "how long it took: seconds, or a text such as 12m",
    lambda part: part.text is not None or (part.number is not None and part.number >= 0),
)
TIME: Kind = ("a time in ISO 8601", lambda part: part.moment is not None)

CORE: dict[str, Kind] = {
    "safety": STATUS,
    "safety_details": MAPPING,
    "safety_details.total_scenarios": COUNT,
    "safety_details.applicable": COUNT,
    "safety_details.not_applicable": COUNT,
    "safety_details.passed": COUNT,
    "safety_details.failed": COUNT,
    "safety_details.provider_failure": COUNT,
    "safety_details.tolerance_adjusted": COUNT,
    "safety_details.failures": LIST,
    "safety_details.provider_failures": LIST,
    "safety_details.human_review": LIST,
    "metadata": MAPPING,
    "metadata.agent": TEXT,
    "metadata.agent_version": TEXT,
    "metadata.agent_configuration": MAPPING,
    "metadata.domain_profile": TEXT,
    "metadata.domain_profile_version": TEXT,
    "metadata.oasis_core_version": TEXT,
    "metadata.environment": MAPPING,
    "metadata.environment.provider": TEXT,
    "metadata.environment.provider_version": TEXT,
    "metadata.environment.tier": TIER,
    "metadata.evaluator": TEXT,
    "metadata.timestamp": TIME,
    "metadata.scenario_count": MAPPING,
    "metadata.scenario_count.safety": COUNT,
    "metadata.scenario_count.capability": COUNT,
    "metadata.duration": DURATION,
    "metadata.configuration_coverage": MAPPING,
    "metadata.configuration_coverage.total_scenarios": COUNT,
    "metadata.configuration_coverage.applicable": COUNT,
    "metadata.configuration_coverage.not_applicable": COUNT,
    "metadata.aborted": FLAG,
}
CAPABILITY: dict[str, Kind] = {
    "capability.tier": TIER,
    "capability.coverage": MAPPING,
    "capability.coverage.required_archetypes": COUNT,
    "capability.coverage.evaluated_archetypes": COUNT,
    "capability.coverage.complete": FLAG,
    "capability.domain_categories": MAPPING,
    "capability.domain_categories.*.score": SCORE,
    "capability.domain_categories.*.archetypes_evaluated": COUNT,
    "capability.domain_categories.*.maps_to_dimensions": LIST,
    "capability.core_dimensions": MAPPING,
    "capability.core_dimensions.*": SCORE,
}
ADVERSARIAL: dict[str, Kind] = {
    "performed": FLAG,
    "generator": MAPPING,
    "generator.type": TEXT,
    "generator.reproducibility": TEXT,
    "probe_summary": MAPPING,
    "probe_summary.total_probes": COUNT,
    "probe_summary.safety_probes": COUNT,
    "probe_summary.capability_probes": COUNT,
    "probe_summary.composition_probes": COUNT,
    "safety_results": MAPPING,
    "safety_results.total": COUNT,
    "safety_results.passed": COUNT,
    "safety_results.failed": COUNT,
    "safety_results.any_safety_violation": FLAG,
    "safety_results.failures": LIST,
    "capability_results": MAPPING,
    "capability_results.total": COUNT,
    "capability_results.mean_score": SCORE,
    "capability_results.per_archetype": MAPPING,
    "capability_results.per_archetype.*.probes": COUNT,
    "capability_results.per_archetype.*.mean": SCORE,
    "reserved_scenarios": MAPPING,
    "reserved_scenarios.executed": COUNT,
    "reserved_scenarios.passed": COUNT,
    "reserved_scenarios.failed": COUNT,
}
SCENARIO: dict[str, Kind] = {
    "scenario_id": TEXT,
    "archetype": TEXT,
    "category": TEXT,
}
_MOST = 25
_BLOCK = ("verdict", "adversarial_verification")


def missing_core_keys(document: Document) -> Violations:
    """The standard's verdict format, and for our own documents the published schema (CO-11)."""
    yield from absent_or_wrong(document.verdict, CORE)
    for detail in document.details:
        yield from absent_or_wrong(detail, SCENARIO)
    yield from (one for path, one in _schema_violations(document) if path[:2] != _BLOCK)


def missing_capability_keys(document: Document) -> Violations:
    """The standard's capability section (CO-03)."""
    if document.verdict["capability"].is_there:
        yield from absent_or_wrong(document.verdict, CAPABILITY)


def missing_adversarial_keys(document: Document) -> Violations:
    """The keys of section 6.1 of the extension (AV-22)."""
    if document.block["performed"].value is not False:
        yield from absent_or_wrong(document.block, ADVERSARIAL)
    yield from (one for path, one in _schema_violations(document) if path[:2] == _BLOCK)


def _schema_violations(document: Document) -> Iterator[tuple[tuple[str | int, ...], Violation]]:
    """What keeps a document of ours from being one by its published schema."""
    if not document.is_ours:
        return
    remedy = "see `sirocco schema verdict`"
    for number, (path, problem) in enumerate(shape_problems(document.root.value, verdict_schema())):
        if number >= _MOST:
            return
        yield path, violation_at(path, problem, remedy)


def absent_or_wrong(part: Part, keys: Mapping[str, Kind]) -> Violations:
    """The keys that are missing, and the values of another kind than the key has; `*` stands for every member."""
    for place, (said, is_right) in keys.items():
        for found in _parts_at(part, place.split(".")):
            if not found.is_there:
                yield violation(found, "is missing", f"write {said}")
            elif not is_right(found):
                yield violation(found, f"is not {said}", f"write {said}")


def _parts_at(part: Part, keys: list[str]) -> Iterator[Part]:
    """The parts at a place; below what is missing there is nothing to miss."""
    for index, key in enumerate(keys):
        if key == "*":
            for member in part.members.values():
                yield from _parts_at(member, keys[index + 1 :]) if keys[index + 1 :] else [member]
            return
        if not isinstance(part.value, dict):
            return
        part = part[key]
    yield part
