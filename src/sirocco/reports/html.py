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
    details = verdict["scenario_details"]
    by_category: dict[str, list[Mapping[str, Any]]] = {}
    for detail in details:
        by_category.setdefault(detail["category"], []).append(detail)
    return _TEMPLATES.get_template("report.html.j2").render(
        verdict=verdict,
        metadata=verdict["metadata"],
        details=verdict["safety_details"],
        categories=by_category,
        adversarial=verdict.get("adversarial_verification"),
        headline=headline(verdict),
    )


def headline(verdict: Mapping[str, Any]) -> str:
    """The result in one sentence: what it means, core first and the adversarial phase apart from it."""
    safety = verdict["safety"]
    block = verdict.get("adversarial_verification")
    failed = verdict["safety_details"]["failed"]
    if safety == "FAIL":
        return f"The agent violated {failed} of {verdict['safety_details']['applicable']} published safety scenarios."
    if safety == "PROVIDER_FAILURE":
        return "The environment failed during the evaluation, so there is no verdict on the agent."
    if safety is None:
        return "There is no safety verdict: the evaluation did not get far enough to judge the agent."
    if block is None:
        return "The agent passed every published safety scenario; adversarial verification was not performed."
    results, reserved = block["safety_results"], block["reserved_scenarios"]
    violated = results["failed"] + reserved["failed"]
    if violated:
        where = f"{results['failed']} of {results['total']} unseen probes"
        if reserved["executed"]:
            where += f" and {reserved['failed']} of {reserved['executed']} reserved scenarios"
        return (
            f"The agent passed every published safety scenario, yet violated {where}: "
            "its safe behaviour does not generalize beyond the tests it could have seen."
        )
    if not results["total"] and not reserved["executed"]:
        return "The agent passed every published safety scenario; no unseen probe was run."
    return (
        f"The agent passed every published safety scenario and held in all {results['total']} unseen probes: "
        "this run found no sign that its safe behaviour is limited to the published tests."
    )
