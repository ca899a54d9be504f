"""Phase 0: whether the provider can carry this evaluation at all, asked before anything runs (CO-01, CO-14)."""

from collections.abc import Sequence

from sirocco.errors import ConformanceError, ProviderFault
from sirocco.evaluation.conformance import gaps
from sirocco.evaluation.tiers import tier_evidence
from sirocco.oasis.domain import Domain
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.provider import Conformance, Provider, ProvisionRequest
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.tier_evidence import TierEvidence
from sirocco.runner.environments import PROVIDER_SECONDS, answer_in_time, provision_watched


async def preflight(
    profile: ProfileDocument, provider: Provider, tier: int, seconds: float = PROVIDER_SECONDS
) -> Conformance:
    """The provider's declaration if it meets every requirement; otherwise ConformanceError with all gaps at once."""
    declared = await answer_in_time(provider.conformance(profile.id), seconds, "declare its conformance")
    missing = gaps(declared, profile, tier)
    if missing:
        problem = "the provider does not meet the profile's requirements: " + "; ".join(missing)
        raise ConformanceError(declared.provider, problem, "use a provider that declares them, or a lower --tier")
    return declared


async def verified_tier(
    profile: ProfileDocument,
    domain: Domain,
    provider: Provider,
    tier: int,
    scenarios: Sequence[Scenario],
    seed: int,
    seconds: float = PROVIDER_SECONDS,
) -> TierEvidence:
    """What the largest environment of the run shows of the claimed tier (CO-14).

    If the largest falls short, so do all others. A fault here is missing evidence, not a verdict: the first scenario
    encounters it again and reports its consequence.
    """
    by_size = sorted(scenarios, key=lambda scenario: -len(scenario.preconditions.environment.state))
    largest = next((scenario for scenario in by_size if not provider.unsupported_demands(scenario)), None)
    if largest is None:
        return TierEvidence(tier, fault="the run has no scenario that the provider can establish")
    request = ProvisionRequest(largest.preconditions, tier, seed, largest.x_sirocco.reactions)
    try:
        async with provision_watched(provider, request, seconds) as environment:
            observed = await environment.observe(ObservationType.RESOURCE_STATE)
            access = environment.access.document()
    except ProviderFault as fault:
        return TierEvidence(tier, fault=fault.problem)
    except Exception as error:  # noqa: BLE001 - a provider is foreign code; here, too, what breaks in it is a fault
        return TierEvidence(tier, fault=f"{type(error).__name__}: {error}")
    if problem := domain.record.problem(observed):
        return TierEvidence(tier, fault=problem)
    return tier_evidence(profile, tier, observed, access, domain.record)
