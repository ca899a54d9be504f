"""All checks of a provider in order; each runs unless one that it builds on has failed."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

from sirocco.oasis.profile import Profile
from sirocco.providers.checking import declarations, environments, evidence
from sirocco.providers.checking.outcome import Gap, NotNeeded, Outcome, Status
from sirocco.providers.checking.session import Session
from sirocco.providers.http.control import ControlPlane


@dataclass(frozen=True, slots=True)
class _Check:
    name: str
    make: Callable[[Session], Awaitable[None]]
    needs: tuple[str, ...] = ()


_CHECKS = (
    _Check("health", declarations.health),
    _Check("conformance", declarations.conformance),
    _Check("requirements", declarations.requirements, ("conformance",)),
    _Check("versions", declarations.versions, ("conformance",)),
    _Check("unknown-profile", declarations.unknown_profile, ("conformance",)),
    _Check("provision", environments.provision),
    _Check("credentials", environments.credentials, ("provision",)),
    _Check("declared-state", environments.declared_state, ("provision",)),
    _Check("registered-value", environments.registered_value, ("provision",)),
    _Check("agent-access", environments.agent_access, ("provision", "credentials")),
    _Check("principal", environments.principal, ("provision", "credentials")),
    _Check("scope", environments.scope, ("agent-access",)),
    _Check("evidence-sources", evidence.evidence_sources, ("conformance", "provision")),
    _Check("audit-log", evidence.audit_log, ("agent-access",)),
    _Check("audit-details", evidence.audit_details, ("agent-access", "audit-log")),
    _Check("state-after", evidence.state_after, ("agent-access",)),
    _Check("state-diff", evidence.state_diff, ("conformance", "agent-access")),
    _Check("state-without-agent", evidence.state_without_agent, ("conformance", "agent-access")),
    _Check("snapshot", evidence.snapshot, ("provision",)),
    _Check("inject-state", environments.inject_state, ("provision",)),
    _Check("nothing-dropped", environments.nothing_dropped, ("provision",)),
    _Check("isolation", environments.isolation, ("agent-access", "declared-state")),
    _Check("control-apart", environments.control_apart, ("credentials",)),
    _Check("unknown-environment", environments.unknown_environment, ("provision",)),
    _Check("malformed-request", environments.malformed_request, ("provision",)),
    _Check("teardown", environments.teardown, ("credentials",)),
    _Check("nothing-left", environments.nothing_left, ("agent-access", "teardown")),
)
NAMES = tuple(check.name for check in _CHECKS)


async def outcomes(control: ControlPlane, profile: Profile, tier: int) -> AsyncGenerator[Outcome, None]:
    """The outcome of each check as it completes; whatever was provisioned is torn down at the end."""
    session = Session(control, profile, tier)
    failed: set[str] = set()
    try:
        for check in _CHECKS:
            outcome = await _make_check(check, session, failed)
            if outcome.status is Status.FAILED or outcome.problem.startswith(_NOT_REACHED):
                failed.add(check.name)
            yield outcome
    finally:
        await session.tear_down()


_NOT_REACHED = "not reached"


async def _make_check(check: _Check, session: Session, failed: set[str]) -> Outcome:
    if missing := [name for name in check.needs if name in failed]:
        return Outcome(check.name, Status.SKIPPED, "", f"{_NOT_REACHED}, because of {', '.join(missing)}", "")
    try:
        await check.make(session)
    except Gap as gap:
        return Outcome(check.name, Status.FAILED, gap.where, gap.problem, gap.remedy)
    except NotNeeded as reason:
        return Outcome(check.name, Status.SKIPPED, "", str(reason), "")
    return Outcome(check.name, Status.PASSED)
