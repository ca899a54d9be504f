"""Checks of what a provider declares, before it provides anything (CO-01)."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from sirocco.evaluation.conformance import gaps
from sirocco.providers.checking.outcome import Gap, NotNeeded, require
from sirocco.providers.checking.session import Session
from sirocco.providers.http import answers

_CONFORMANCE = "GET /v1/conformance"
_SHAPE: Mapping[str, type] = {
    "provider": str,
    "provider_version": str,
    "oasis_core_spec_versions": list,
    "profile": str,
    "profile_version": str,
    "supported": bool,
    "requirements": Mapping,
}
_NO_PROFILE = "profile-that-nobody-serves"


async def health(session: Session) -> None:
    """The provider reports that it is up."""
    result = await session.attempt("healthz")
    if result.status == 404:
        raise NotNeeded("the provider has no GET /healthz, and the standard asks for none")
    require(result.succeeded, "GET /healthz", f"answered {result.status}", "answer 200 while the provider works")


async def conformance(session: Session) -> None:
    """The declaration is complete and well-formed."""
    body = await _declaration(session, session.profile.id)
    session.declared = body
    wrong = [key for key, kind in _SHAPE.items() if not isinstance(body.get(key), kind)]
    require(not wrong, _CONFORMANCE, f"missing or of the wrong type: {', '.join(wrong)}", "declare every key")
    unmet = body.get("unmet_requirements")
    require(unmet is None or isinstance(unmet, list), _CONFORMANCE, "unmet_requirements is not a list", "list them")


async def requirements(session: Session) -> None:
    """The declaration meets the profile's requirements at the tier."""
    declared = answers.conformance(session.declared, session.profile.id)
    missing = gaps(declared, session.profile, session.tier)
    require(not missing, _CONFORMANCE, "; ".join(missing), "declare what the profile requires, and do it")


async def versions(session: Session) -> None:
    """Both lists of core versions agree."""
    inner = session.declared.get("requirements", {}).get("oasis_core_spec_version")
    if inner is None:
        raise NotNeeded("the requirements name no core version")
    outer = _texts(session.declared.get("oasis_core_spec_versions"))
    problem = (
        f"oasis_core_spec_versions is {sorted(outer)}, requirements.oasis_core_spec_version {sorted(_texts(inner))}"
    )
    require(outer == _texts(inner), _CONFORMANCE, problem, "declare the same versions in both places")


async def unknown_profile(session: Session) -> None:
    """A profile that does not exist is not declared as supported."""
    result = await session.attempt("conformance", query=f"?profile={_NO_PROFILE}")
    claims = isinstance(result.body, Mapping) and result.body.get("supported") is True
    problem = "declares support for a profile that does not exist"
    require(not (result.succeeded and claims), _CONFORMANCE, problem, "answer supported: false for it")


async def _declaration(session: Session, profile: str) -> Mapping[str, Any]:
    body = await session.call("conformance", query=f"?profile={quote(profile, safe='')}")
    if not body:
        raise Gap(_CONFORMANCE, "the declaration is empty", "declare every key")
    return body


def _texts(value: Any) -> set[str]:
    return {value} if isinstance(value, str) else {str(item) for item in value or ()}
