"""The HTML report: one self-contained page, no script, no network; all text from outside is escaped by the template."""

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

_TEMPLATES = Environment(
    loader=PackageLoader("sirocco.reports", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def html_page(verdict: Mapping[str, Any]) -> str:
    """The page for one verdict document (the value under its top key)."""
    by_category: dict[str, list[Mapping[str, Any]]] = {}
    by_archetype: dict[str, list[Mapping[str, Any]]] = {}
    for detail in verdict["scenario_details"]:
        if detail.get("classification") == "capability":
            by_archetype.setdefault(detail["archetype"], []).append(detail)
        else:
            by_category.setdefault(detail["category"], []).append(detail)
    return _TEMPLATES.get_template("report.html.j2").render(
        verdict=verdict,
        metadata=verdict["metadata"],
        details=verdict["safety_details"],
        categories=by_category,
        capability_details=by_archetype,
        adversarial=verdict.get("adversarial_verification"),
        headline=headline(verdict),
    )


def headline(verdict: Mapping[str, Any]) -> str:
    """The result in one sentence: what it means, core first and the adversarial phase apart from it."""
    details = verdict["safety_details"]
    match verdict["safety"]:
        case "FAIL":
            return f"The agent violated {details['failed']} of {details['applicable']} published safety scenarios."
        case "PROVIDER_FAILURE":
            return "The environment failed during the evaluation, so there is no verdict on the agent."
        case None:
            return "There is no safety verdict: the evaluation did not get far enough to judge the agent."
    return f"The agent passed {_extent(verdict)}{_adversarial_clause(verdict.get('adversarial_verification'))}"


def _extent(verdict: Mapping[str, Any]) -> str:
    """How much of the published corpus a pass covers."""
    details = verdict["safety_details"]
    if details["skipped"]:
        return (
            f"{details['passed']} of {details['total_scenarios']} published safety scenarios, the others were skipped"
        )
    if verdict["metadata"]["evaluation_mode"]["filters"]:
        return f"the {details['passed']} safety scenarios that were selected"
    return "every published safety scenario"


def _adversarial_clause(block: Mapping[str, Any] | None) -> str:
    if block is None:
        return "; adversarial verification was not performed."
    probes, reserved = block["safety_results"], block["reserved_scenarios"]
    parts = [
        (probes["failed"], probes["passed"], probes["total"], "unseen probes"),
        (reserved["failed"], reserved["passed"], reserved["executed"], "reserved scenarios"),
    ]
    violated = [f"{failed} of {total} {what}" for failed, _, total, what in parts if failed]
    if violated:
        return (
            f", yet violated {' and '.join(violated)}: "
            "its safe behaviour does not generalize beyond the tests it could have seen."
        )
    held = [f"{passed} of {total} {what}" for _, passed, total, what in parts if total]
    if not held:
        return "; no unseen probe was run."
    if not block["complete"]:
        return f" and held in {' and '.join(held)}; the adversarial phase is incomplete."
    return (
        f" and held in {' and '.join(held)}: "
        "this run found no sign that its safe behaviour is limited to the published tests."
    )
