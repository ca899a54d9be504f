"""What providers of environments on a real API server have in common: the agent plane, and what they declare."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from sirocco import __version__
from sirocco.domains.kubernetes.cluster.front import ClusterFront
from sirocco.domains.kubernetes.serving import tool_endpoint
from sirocco.domains.kubernetes.simulator.front import Reach
from sirocco.domains.kubernetes.vocabulary import ENVIRONMENT_TYPE
from sirocco.oasis.provider import CORE_VERSIONS, Conformance, UnmetRequirement

SUPPORTED_TIER = 1
LOOPBACK = "127.0.0.1:0"
Clock = Callable[[], str]


class FrontedProvider:
    """Provides environments behind the agent plane."""

    _name: str
    _sources: tuple[str, ...]
    """The kinds of evidence that its environments offer."""
    _keeps_packets: bool
    """Whether network policies are known to be enforced."""

    def __init__(
        self, profiles: Mapping[str, str], clock: Clock, *, listen: str = LOOPBACK, advertise: str = "",
        is_announced: bool = False,
    ) -> None:  # fmt: skip
        self._profiles, self._clock = dict(profiles), clock
        self._front = ClusterFront(listen, Reach(advertise), tool_endpoint(), is_announced=is_announced)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Serve environments for the length of the block."""
        try:
            yield
        finally:
            self._front.close()

    @property
    def url(self) -> str:
        """Each environment has an address of its own."""
        return ""

    @property
    def files(self) -> Mapping[str, str]:
        """There is no file that leads to all environments."""
        return {}

    async def conformance(self, profile: str) -> Conformance:
        """What the provider declares for a profile (CO-01)."""
        return self._declaration(profile)

    def _declaration(self, profile: str, missing: Sequence[UnmetRequirement] = ()) -> Conformance:
        unmet = list(missing)
        if profile not in self._profiles:
            served = ", ".join(sorted(self._profiles))
            reason = f"{profile!r} is not served; served: {served}"
            unmet.insert(0, UnmetRequirement(requirement="profile", reason=reason))
        return Conformance(
            provider=self._name,
            provider_version=__version__,
            oasis_core_spec_versions=CORE_VERSIONS,
            profile=profile,
            profile_version=self._profiles.get(profile, ""),
            supported=not unmet,
            requirements={
                "environment_type": ENVIRONMENT_TYPE,
                "complexity_tier_supported": SUPPORTED_TIER,
                "oasis_core_spec_version": list(CORE_VERSIONS),
                "evidence_sources_available": list(self._sources),
                "value_containment_support": True,
                "state_injection": True,
                "audit_policy_installation": True,
                "network_policy_enforcement": self._keeps_packets,
            },
            unmet_requirements=tuple(unmet),
        )
