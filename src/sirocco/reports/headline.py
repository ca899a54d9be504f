"""A result in words, the same wherever it is told: terminal, page, Markdown, JUnit, exit code and recommendation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sirocco.oasis.verdict import Vacuity

Detail = Mapping[str, Any]
_NO_CALLS = frozenset({Vacuity.NO_AGENT_CALLS, Vacuity.EMPTY_AUDIT_LOG})
_NAMED = 3
"""So many probes are named in a line."""


def any_violation(block: Detail) -> bool:
    """Whether the adversarial phase saw safety violated: in a safety probe, beside what a probe aimed at, or withheld.

    The one answer for everybody who asks; where the archetypes were primary or secondary makes no difference (AV-18).
    """
    results = block["safety_results"]
    return bool(results["failed"] or block.get("secondary_violations") or block["reserved_scenarios"]["failed"])


def violation_count(block: Detail) -> str:
    """How many violations, and the probes of those that no safety probe stands for."""
    beside = block.get("secondary_violations") or ()
    primary, secondary = block["safety_results"]["failed"], len(beside)
    word = "violation" if max(primary, secondary) == 1 else "violations"
    probes = list(dict.fromkeys(str(one.get("probe", one.get("archetype", ""))) for one in beside))
    more = f" and {len(probes) - _NAMED} more" if len(probes) > _NAMED else ""
    named = f" ({', '.join(probes[:_NAMED])}{more})" if probes else ""
    return f"{primary} primary, {secondary} secondary {word}{named}"


def probe_count(block: Detail) -> str:
    """What kinds of probes were run, and what came of each."""
    safety, capability = block["safety_results"], block.get("capability_results") or {"total": 0}
    told = f"{safety['total']} safety ({safety['failed']} violated)"
    if capability["total"]:
        mean = capability.get("mean_score")
        scored = "no score" if mean is None else f"mean {mean:.2f}"
        lowest = f", {failed} in the lowest band" if (failed := capability.get("failed")) else ""
        told += f", {capability['total']} capability ({scored}{lowest})"
    return f"{_counted(safety['total'] + capability['total'], 'probe')}: {told}"


def shortcomings(block: Detail) -> list[str]:
    """What keeps an adversarial phase without violations from being a clean one, in words; nothing for one that is."""
    reason = block.get("incomplete_reason", "no reason is given")
    found = [] if block["complete"] else [f"the adversarial phase is incomplete: {reason}"]
    missing = list(map(str, block.get("archetypes_without_delivered_probe", ())))
    tried = {str(one["archetype"]) for one in block.get("probe_details", ())}
    if unreached := [one for one in missing if one in tried]:
        found.append(f"no probe reached the agent for {', '.join(unreached)}")
    if unmade := [one for one in missing if one not in tried]:
        found.append(f"no probe was run for {', '.join(unmade)}: raise --probes, or choose with --archetype")
    return found


def twin_count(block: Detail) -> str | None:
    """Harmless look-alikes, which are no probes, and how many were left undone; None when there were none."""
    refusal = (block.get("generalization") or {}).get("over_refusal") or {}
    if not refusal.get("twins"):
        return None
    return f"{_counted(refusal['twins'], 'harmless look-alike')}, {refusal['refused']} refused"


def idleness(verdict: Detail) -> str | None:
    """That an agent seems not to be there at all, in words; None for one that made calls in most safety scenarios.

    It changes no verdict: whoever does nothing violates nothing, and that is seldom what a PASS is wanted for.
    """
    judged = [one for one in verdict["scenario_details"] if one.get("classification") != "capability"]
    idle = sum(any(check.get("vacuous") in _NO_CALLS for check in one.get("checks", ())) for one in judged)
    if 2 * idle <= len(judged):
        return None
    return f"the agent made no call in {idle} of {len(judged)} safety scenarios; try it with sirocco agent check"


def smallest_form(failure: Detail) -> str:
    """The file to look at first: the probe's smallest form, where one was found."""
    return str(failure.get("probe_minimal") or failure.get("probe_serialized", ""))


def incompleteness(verdict: Detail) -> str | None:
    """Why the evaluation is incomplete, in one line; None for a complete one."""
    mode = verdict["metadata"]["evaluation_mode"]
    return None if mode["complete"] else "; ".join(map(str, mode["incomplete_because"]))


def is_capability_withheld(verdict: Detail) -> bool:
    """Whether capability was not run because safety failed, as the standard has it (CO-03), and for no other reason."""
    filters = verdict["metadata"]["evaluation_mode"]["filters"]
    return verdict["safety"] == "FAIL" and not filters and not _is_broken_off(verdict)


def _is_broken_off(verdict: Detail) -> bool:
    metadata = verdict["metadata"]
    return bool(metadata["aborted"]) or "planned" in metadata["evaluation_mode"]


def category_outcome(verdict: Detail, category: str, level: Detail) -> tuple[str | None, str]:
    """The verdict on a safety category and its count; what held as far as a run came is no PASS of the category."""
    planned = verdict["metadata"]["evaluation_mode"].get("planned", {}).get(category, 0)
    if level["total"] >= planned:
        return level["status"], f"{level['passed']} of {level['total']} passed"
    status = None if level["status"] == "PASS" else level["status"]
    return status, f"so far {level['total']} of {planned}, {level['passed']} passed"


def category_outcomes(verdict: Detail) -> Iterator[tuple[str, str | None, str]]:
    """All safety categories with their verdicts and counts, those included that a run did not come to."""
    levels = verdict["safety_details"]["category_results"]
    for category, level in levels.items():
        yield category, *category_outcome(verdict, category, level)
    for category, planned in verdict["metadata"]["evaluation_mode"].get("planned", {}).items():
        if category not in levels:
            yield category, None, f"so far 0 of {planned}"


def headline(verdict: Detail) -> str:
    """The result in one sentence: what it means, core first and the adversarial phase apart from it."""
    details = verdict["safety_details"]
    match verdict["safety"]:
        case "FAIL":
            return f"The agent violated {' and '.join(_violated(verdict))}."
        case "PROVIDER_FAILURE":
            return "The environment failed during the evaluation, so there is no verdict on the agent."
        case None if not details["total_scenarios"] and not _is_broken_off(verdict):
            return "There is no safety verdict, because no safety scenario was selected."
        case None:
            return "There is no safety verdict: the evaluation did not get far enough to judge the agent."
    return f"The agent passed {_extent(verdict)}{_adversarial_clause(verdict)}."


def _custom(verdict: Detail) -> list[Detail]:
    """The safety scenarios that are not the profile's: they decide the verdict, and cover nothing published."""
    found = (one for one in verdict["scenario_details"] if one.get("custom"))
    return [one for one in found if one.get("classification") != "capability"]


def _violated(verdict: Detail) -> Iterator[str]:
    details, custom = verdict["safety_details"], _custom(verdict)
    failed = sum(one["status"] == "FAIL" for one in custom)
    if published := details["applicable"] - len(custom):
        yield f"{details['failed'] - failed} of {published} published safety scenarios"
    if custom:
        yield f"{failed} of {len(custom)} custom scenarios"


def _extent(verdict: Detail) -> str:
    """How much of the published corpus a pass covers; custom scenarios are counted apart."""
    details, custom = verdict["safety_details"], len(_custom(verdict))
    passed, total = details["passed"] - custom, details["total_scenarios"] - custom
    own = _counted(custom, "custom scenario")
    if custom and not total:
        return f"{own} and was put to no published one"
    if details["skipped"]:
        said = f"{passed} of {total} published safety scenarios, the others were skipped"
    elif verdict["metadata"]["evaluation_mode"]["filters"]:
        said = f"the {passed} safety scenarios that were selected"
    else:
        said = "every published safety scenario"
    return f"{said}, and {own}" if custom else said


def _adversarial_clause(verdict: Detail) -> str:
    """What unseen probes add: as much as the numbers carry, and no more."""
    block = verdict.get("adversarial_verification")
    if block is None:
        return "; adversarial verification was not performed"
    if any_violation(block):
        # Of a selection nobody knows what the agent does with the rest of the published tests.
        is_whole = verdict["metadata"]["evaluation_mode"]["complete"]
        meaning = ": its safe behaviour does not generalize beyond the tests it could have seen" if is_whole else ""
        return f", yet violated {' and '.join(_violations(block))}{meaning}"
    probes, reserved = block["safety_results"], block["reserved_scenarios"]
    tried = ((probes["passed"], "unseen safety probes"), (reserved["passed"], "reserved scenarios"))
    held = [f"0 of {run} {what}" for run, what in tried if run]
    if not held and probes["total"]:
        return f"; none of {probes['total']} unseen safety probes came to a verdict"
    if not held:
        return "; no unseen safety probe was run"
    return f" and violated {' and '.join(held)}{''.join(f'; {limit}' for limit in _limits(block))}"


def _violations(block: Detail) -> Iterator[str]:
    probes, reserved = block["safety_results"], block["reserved_scenarios"]
    if probes["failed"]:
        yield f"{probes['failed']} of {probes['total']} unseen safety probes"
    if aside := _only_beside(block):
        yield f"safety in {_counted(len(aside), 'unseen probe')} aimed at something else"
    if reserved["failed"]:
        yield f"{reserved['failed']} of {reserved['executed']} reserved scenarios"


def _only_beside(block: Detail) -> Sequence[str]:
    """The probes with a secondary violation; all of them where a failed safety probe would otherwise hide none."""
    failed = {str(one.get("probe_serialized", "")) for one in block["safety_results"].get("failures", ())}
    beside = block.get("secondary_violations") or ()
    return list(dict.fromkeys(str(one.get("probe")) for one in beside if one.get("probe_serialized") not in failed))


def _limits(block: Detail) -> Iterator[str]:
    """What a clean result leaves open."""
    overall = (block.get("generalization") or {}).get("overall") or {}
    if overall.get("run") and not overall["failed"]:
        yield f"that rules out only a violation rate above {overall['interval'][1]:.0%}"
    if missing := len(block.get("archetypes_without_delivered_probe", ())):
        yield f"{_counted(missing, 'safety archetype')} had no delivered probe"
    if not block["complete"]:
        yield "the adversarial phase is incomplete"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
