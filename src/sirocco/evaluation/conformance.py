"""Conformance: what a provider declares compared with what a profile requires; returns everything missing (CO-01)."""

from collections.abc import Iterator, Mapping
from typing import Any

from sirocco.evaluation.semver import satisfies
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.provider import CORE_VERSIONS, Conformance

_COMPARISONS = {
    "eq": "equal to", "gt": "greater than", "gte": "at least", "lt": "less than", "lte": "at most",
}  # fmt: skip


def gaps(conformance: Conformance, document: ProfileDocument, tier: int) -> tuple[str, ...]:
    """Every requirement that the provider does not meet, each with what it declared; empty if it conforms."""
    return (
        *_identity_gaps(conformance, document),
        *(f"{unmet.requirement}: {unmet.reason}" for unmet in conformance.unmet_requirements),
        *_requirement_gaps(conformance.requirements, document, tier),
    )


def _identity_gaps(conformance: Conformance, document: ProfileDocument) -> Iterator[str]:
    if not conformance.supported:
        yield f"supported: {conformance.provider} declares that it does not support the profile"
    if conformance.profile != document.id:
        yield f"profile: must be {document.id}, the provider answers for {conformance.profile}"
    if conformance.profile_version != document.version:
        yield f"profile_version: must be {document.version}, the provider serves {conformance.profile_version}"
    declared, wanted = conformance.oasis_core_spec_versions, _at_least(document.oasis_core)
    if not any(satisfies(one, wanted) for one in CORE_VERSIONS):
        known = f"{CORE_VERSIONS[0]} to {CORE_VERSIONS[-1]}"
        yield f"oasis_core: the profile asks for {wanted}, and {known} are implemented here"
    for minimum in dict.fromkeys((_at_least(CORE_VERSIONS[0]), wanted)):
        if not any(satisfies(version, minimum) for version in declared):
            yield f"oasis_core_spec_versions: one must be {minimum}, the provider declares {_value_text(declared)}"


def agreed_core_version(conformance: Conformance, document: ProfileDocument) -> str:
    """The version of the core standard for a run: the latest that all have in common, or else the latest of ours.

    A provider may declare only a later version than any of these; within a major version it still supports them.
    """
    wanted = _at_least(document.oasis_core)
    fitting = [one for one in CORE_VERSIONS if satisfies(one, wanted)]
    common = [one for one in fitting if one in conformance.oasis_core_spec_versions]
    return (common or fitting or CORE_VERSIONS)[-1]


def _at_least(version: str) -> str:
    """A dependency without an operator asks for that version or a later one."""
    return f">={version}" if version[:1].isdigit() else "".join(version.split())


def _requirement_gaps(declared: Mapping[str, Any], document: ProfileDocument, tier: int) -> Iterator[str]:
    """The requirement map; an undeclared key is a gap, one marked as not required never is."""
    for key, requirement in document.conformance.get("requirements", document.conformance).items():
        described = isinstance(requirement, Mapping) and "expected" in requirement
        if described and not requirement.get("required", True):
            continue
        expected = requirement["expected"] if described else requirement
        kind = requirement.get("type", "") if described else ""
        if key not in declared:
            yield f"{key}: must be {_expectation_text(expected, tier)}, the provider declares nothing"
        elif not _is_met(declared[key], expected, str(kind), tier):
            value = _value_text(declared[key])
            yield f"{key}: must be {_expectation_text(expected, tier)}, the provider declares {value}"


def _is_met(declared: Any, expected: Any, kind: str, tier: int) -> bool:
    match expected:
        case {"comparison_operator": str(operator), "value": value}:
            return _compares(declared, operator, tier if value == "requested" else value)
        case [*members]:
            return isinstance(declared, list | tuple) and all(member in declared for member in members)
        case str() if kind.startswith("semver") or expected[:1] in {"<", ">", "~", "^"}:
            versions = declared if isinstance(declared, list | tuple) else [declared]
            return any(satisfies(str(version), expected) for version in versions)
    return type(declared) is type(expected) and bool(declared == expected)


def _compares(declared: Any, operator: str, value: Any) -> bool:
    if isinstance(declared, bool) or not isinstance(declared, int | float) or not isinstance(value, int | float):
        return operator == "eq" and bool(declared == value)
    return {
        "eq": declared == value,
        "gt": declared > value,
        "gte": declared >= value,
        "lt": declared < value,
        "lte": declared <= value,
    }.get(operator, False)


def _expectation_text(expected: Any, tier: int) -> str:
    match expected:
        case {"comparison_operator": str(operator), "value": value}:
            comparison = _COMPARISONS.get(operator, f"{operator} (an unknown comparison)")
            return f"{comparison} {tier if value == 'requested' else value}"
        case [*members]:
            return "a list with " + ", ".join(map(str, members))
    return _value_text(expected)


def _value_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(str, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)
