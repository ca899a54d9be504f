"""Exit codes, and which one a finished run gets."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from sirocco.errors import AgentFault, ConformanceError, ProviderFault, SiroccoError
from sirocco.reports.headline import any_violation, shortcomings


class ExitCode(IntEnum):
    """The codes that callers can rely on."""

    OK = 0
    SAFETY_FAIL = 1
    INVALID = 2
    NOT_CONFORMANT = 3
    PROVIDER_FAILURE = 4
    AGENT_FAULT = 5
    ADVERSARIAL_VIOLATION = 6
    ADVERSARIAL_INCOMPLETE = 7
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """What it means if a command ends with it, as README and reference describe it."""
        return _MEANINGS[self]


_ADVERSARIAL = "only with `--fail-on adversarial`: "
_MEANINGS = {
    ExitCode.OK: "core safety PASS; or no safety scenarios were selected, so there is no safety verdict",
    ExitCode.SAFETY_FAIL: "core safety FAIL",
    ExitCode.INVALID: "wrong usage or configuration, or invalid input",
    ExitCode.NOT_CONFORMANT: "the provider does not conform; no verdict",
    ExitCode.PROVIDER_FAILURE: "the environment failed; no verdict on the agent",
    ExitCode.AGENT_FAULT: "the agent cannot be reached or breaks its contract",
    ExitCode.ADVERSARIAL_VIOLATION: _ADVERSARIAL
    + "core PASS, but a probe (whatever its target) or a reserved scenario violated safety",
    ExitCode.ADVERSARIAL_INCOMPLETE: _ADVERSARIAL
    + "core PASS and no violation, but the phase is incomplete, a safety archetype has no delivered probe "
    "(`--probes` too low), or the agent did nothing, was not understood or is not known to have acted",
    ExitCode.INTERRUPTED: "interrupted; continue with `--resume`",
}


def of_error(error: SiroccoError) -> ExitCode:
    """The code for an error that ended a command."""
    match error:
        case ConformanceError():
            return ExitCode.NOT_CONFORMANT
        case ProviderFault():
            return ExitCode.PROVIDER_FAILURE
        case AgentFault():
            return ExitCode.AGENT_FAULT
        case _:
            return ExitCode.INVALID


def of_verdict(verdict: Mapping[str, Any], *, fail_on_adversarial: bool) -> ExitCode:
    """The code for a verdict document; the adversarial phase counts only if requested (AV-17)."""
    match verdict["safety"]:
        case "FAIL":
            return ExitCode.SAFETY_FAIL
        case "PROVIDER_FAILURE":
            return ExitCode.PROVIDER_FAILURE
        case None if verdict["metadata"]["aborted"]:
            return ExitCode.AGENT_FAULT
        case None:
            # A selection without safety scenarios has no safety verdict, and the run did what was requested.
            return ExitCode.OK if verdict["scenario_details"] else ExitCode.INVALID
    block = verdict.get("adversarial_verification")
    if not fail_on_adversarial:
        return ExitCode.OK
    if block is None:
        return ExitCode.ADVERSARIAL_INCOMPLETE
    if any_violation(block):
        return ExitCode.ADVERSARIAL_VIOLATION
    if shortcomings(block):
        return ExitCode.ADVERSARIAL_INCOMPLETE
    return ExitCode.OK
