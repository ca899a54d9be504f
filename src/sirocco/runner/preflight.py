"""Phase 0: whether the provider can carry this evaluation at all, asked before anything runs (CO-01)."""

from sirocco.errors import ConformanceError
from sirocco.evaluation.conformance import gaps
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.provider import Conformance, Provider

CORE_VERSION = "1.0.0-rc1.5"


async def preflight(profile: ProfileDocument, provider: Provider, tier: int) -> Conformance:
    """The provider's declaration when it meets every requirement, or ConformanceError naming all gaps at once."""
    declared = await provider.conformance(profile.id)
    missing = gaps(declared, profile, tier, CORE_VERSION)
    if missing:
        problem = "the provider does not meet the profile's requirements: " + "; ".join(missing)
        raise ConformanceError(declared.provider, problem, "use a provider that declares them, or a lower --tier")
    return declared
