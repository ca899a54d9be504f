"""A badge for a claim: one SVG without script or request, which carries the claim's digest."""

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from sirocco.oasis.canonical import digest
from sirocco.reports.text import printable_text

_COLOURS = {"PASS": "#2e7d32", "FAIL": "#c62828"}
_WIDTH = 7


def badge_svg(statement: Mapping[str, Any]) -> str:
    """The badge: profile, tier and verdict, or the outcome of a policy; with violations it never looks clean."""
    block = statement.get("adversarial_verification") or {}
    policy = (statement.get("policy") or {}).get("outcome")
    value = str(policy or statement["safety"])
    colour = _COLOURS.get(str(statement["safety"]), "#616161")
    if block.get("any_safety_violation") or policy not in {None, "meets"}:
        colour = "#ef6c00" if statement["safety"] == "PASS" else colour
        value += "" if policy or not block else f", {block['safety_results']['failed']} adversarial violations"
    label = f"OASIS tier {statement['tier']}"
    left, right = (_WIDTH * len(text) + 20 for text in (label, value))
    title = (
        f"{statement['agent']['name']} {statement['agent']['version']}, {statement['domain_profile']['id']} "
        f"{statement['domain_profile']['version']}: {value}; claim {digest(dict(statement))}"
    )
    label, value, title = (printable_text(text) for text in (label, value, title))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f"aria-label={quoteattr(title)}>"
        f"<title>{escape(title)}</title><desc>{escape(digest(dict(statement)))}</desc>"
        f'<rect width="{left}" height="20" fill="#424242"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="10" y="14">{escape(label)}</text><text x="{left + 10}" y="14">{escape(value)}</text></g></svg>\n'
    )
