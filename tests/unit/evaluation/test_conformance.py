"""Preflight: every gap between a provider's declaration and a profile's requirements, named."""

from typing import Any

import pytest

from builders import PROFILE_ID
from sirocco.evaluation.conformance import agreed_core_version, gaps
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.provider import Conformance

CORE = "1.0.0-rc1.5"
REQUIREMENTS: dict[str, Any] = {
    "environment_type": {"type": "string", "required": True, "expected": "kubernetes-cluster"},
    "complexity_tier_supported": {"type": "integer", "expected": {"comparison_operator": "gte", "value": "requested"}},
    "oasis_core_spec_version": {"type": "semver_list", "required": True, "expected": f">={CORE}"},
    "evidence_sources_available": {"type": "array", "required": True, "expected": ["audit_log", "resource_state"]},
    "state_injection": {"type": "boolean", "required": True, "expected": True},
    "network_policy_enforcement": {"type": "boolean", "required": False, "expected": True},
}
DECLARED: dict[str, Any] = {
    "environment_type": "kubernetes-cluster",
    "complexity_tier_supported": 2,
    "oasis_core_spec_version": [CORE],
    "evidence_sources_available": ["resource_state", "audit_log", "state_diff"],
    "state_injection": True,
}


def profile(**changes: Any) -> ProfileDocument:
    document = {
        "id": PROFILE_ID, "name": "Test", "version": "0.1.0", "description": "For tests.", "oasis_core": f">={CORE}",
        "canary": "none", "licence": "Apache-2.0", "vocabulary": {}, "categories": [], "archetypes": [], "tiers": [],
        "conformance": {"requirements": REQUIREMENTS},
    }  # fmt: skip
    return ProfileDocument.model_validate({**document, **changes})


def declared(requirements: dict[str, Any] | None = None, **changes: Any) -> Conformance:
    document = {
        "provider": "lab", "provider_version": "1.0.0", "oasis_core_spec_versions": ["0.9.0", CORE], "profile": PROFILE_ID,
        "profile_version": "0.1.0", "supported": True, "requirements": {**DECLARED, **(requirements or {})},
    }  # fmt: skip
    return Conformance.model_validate({**document, **changes})


def found(conformance: Conformance, *, tier: int = 1, document: ProfileDocument | None = None) -> tuple[str, ...]:
    return gaps(conformance, document or profile(), tier)


@pytest.mark.requirement("CO-01")
def test_a_provider_that_meets_everything_has_no_gap() -> None:
    assert found(declared()) == ()


@pytest.mark.requirement("CO-01")
@pytest.mark.parametrize("number", range(5, 13))
def test_every_version_of_the_core_from_the_fifth_to_the_twelfth_candidate_is_accepted(number: int) -> None:
    version = f"1.0.0-rc1.{number}"
    newer = profile(oasis_core=f">={version}", conformance={"requirements": {}})
    assert found(declared(oasis_core_spec_versions=["0.9.0", version]), document=newer) == ()


@pytest.mark.requirement("CO-01")
@pytest.mark.parametrize(
    ("operator", "met"),
    [("eq", [2]), ("gt", [3]), ("gte", [2, 3]), ("lt", [1]), ("lte", [1, 2]), ("roughly", [])],
)
def test_a_number_is_compared_as_the_profile_says(operator: str, met: list[int]) -> None:
    wanted = {"nodes": {"type": "integer", "expected": {"comparison_operator": operator, "value": 2}}}
    document = profile(conformance={"requirements": wanted})
    assert [number for number in (1, 2, 3) if not found(declared({"nodes": number}), document=document)] == met


@pytest.mark.requirement("CO-01")
@pytest.mark.parametrize(
    ("conformance", "expected"),
    [
        (declared(supported=False), "supported: lab declares that it does not support the profile"),
        (declared(profile="other"), f"profile: must be {PROFILE_ID}, the provider answers for other"),
        (declared(profile_version="0.2.0"), "profile_version: must be 0.1.0, the provider serves 0.2.0"),
        (
            declared(oasis_core_spec_versions=["1.0.0-rc1", "2.0.0"]),
            f"oasis_core_spec_versions: one must be >={CORE}, the provider declares [1.0.0-rc1, 2.0.0]",
        ),
        (
            declared(unmet_requirements=[{"requirement": "audit_policy", "reason": "start the lab with auditing"}]),
            "audit_policy: start the lab with auditing",
        ),
        (
            declared({"environment_type": "vm"}),
            "environment_type: must be kubernetes-cluster, the provider declares vm",
        ),
        (
            declared({"complexity_tier_supported": 1}),
            "complexity_tier_supported: must be at least 2, the provider declares 1",
        ),
        (
            declared({"oasis_core_spec_version": ["0.4.0"]}),
            f"oasis_core_spec_version: must be >={CORE}, the provider declares [0.4.0]",
        ),
        (
            declared({"evidence_sources_available": ["audit_log"]}),
            "evidence_sources_available: must be a list with audit_log, resource_state, the provider declares [audit_log]",
        ),
        (declared({"state_injection": False}), "state_injection: must be true, the provider declares false"),
        (declared({"state_injection": 1}), "state_injection: must be true, the provider declares 1"),
        (
            declared({"complexity_tier_supported": "2"}),
            "complexity_tier_supported: must be at least 2, the provider declares 2",
        ),
        (
            declared({"complexity_tier_supported": True}),
            "complexity_tier_supported: must be at least 2, the provider declares true",
        ),
    ],
)
def test_a_gap_names_the_requirement_and_what_was_declared(conformance: Conformance, expected: str) -> None:
    assert found(conformance, tier=2) == (expected,)


@pytest.mark.requirement("CO-01")
def test_all_gaps_are_named_at_once() -> None:
    wrong = declared({"environment_type": "vm", "state_injection": False}, supported=False, profile_version="9.0.0")
    assert [gap.partition(":")[0] for gap in found(wrong)] == [
        "supported", "profile_version", "environment_type", "state_injection",
    ]  # fmt: skip


def test_a_requirement_that_is_not_declared_is_a_gap_and_an_optional_one_is_not() -> None:
    missing = declared(requirements=None)
    bare = missing.model_copy(update={"requirements": {}})
    assert {gap.partition(":")[0] for gap in found(bare)} == REQUIREMENTS.keys() - {"network_policy_enforcement"}
    assert found(declared({"network_policy_enforcement": False})) == ()


def test_a_later_core_satisfies_a_profile_that_names_one_without_an_operator() -> None:
    document = profile(oasis_core=CORE)
    assert found(declared(oasis_core_spec_versions=["1.0.0"]), document=document) == ()


def test_requirements_may_stand_without_a_heading_and_as_bare_values() -> None:
    document = profile(conformance={"environment_type": "kubernetes-cluster", "state_injection": {"expected": True}})
    assert found(declared(), document=document) == ()
    assert len(found(declared({"environment_type": "vm"}), document=document)) == 1


@pytest.mark.requirement("CO-01")
def test_a_profile_of_a_later_core_than_is_implemented_is_a_gap() -> None:
    later = profile(oasis_core=">=1.0.0-rc1.13")
    found_gaps = found(declared(oasis_core_spec_versions=["1.0.0-rc1.13"]), document=later)
    assert found_gaps == (
        "oasis_core: the profile asks for >=1.0.0-rc1.13, and 1.0.0-rc1.5 to 1.0.0-rc1.12 are implemented here",
    )


@pytest.mark.requirement("CO-01")
@pytest.mark.parametrize(
    ("wanted", "offered", "agreed"),
    [
        (">=1.0.0-rc1.5", ["1.0.0-rc1.5", "1.0.0-rc1.7"], "1.0.0-rc1.7"),
        (">=1.0.0-rc1.7", ["1.0.0-rc1.5", "1.0.0-rc1.12"], "1.0.0-rc1.12"),
        ("==1.0.0-rc1.8", ["1.0.0-rc1.8", "1.0.0-rc1.12"], "1.0.0-rc1.8"),
        (">=1.0.0-rc1.5", ["1.0.0"], "1.0.0-rc1.12"),
    ],
)
def test_a_run_goes_by_the_latest_version_that_all_know(wanted: str, offered: list[str], agreed: str) -> None:
    assert agreed_core_version(declared(oasis_core_spec_versions=offered), profile(oasis_core=wanted)) == agreed
