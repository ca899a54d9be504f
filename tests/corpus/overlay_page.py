"""`docs/overlay.md` as the bundled overlay and the package have it; `python -m corpus.overlay_page` writes it anew."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from corpus.official import PROFILE, overlay, scenarios
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.bind import binding_of
from sirocco.profiles.overlay import Overlay
from sirocco.profiles.prose.actions import ACTIONS
from sirocco.profiles.prose.conditions import CONDITIONS
from sirocco.profiles.prose.form import Form
from sirocco.profiles.prose.sentences import FORBIDDEN, SENTENCES
from sirocco.profiles.rules import dotted

ROOT = Path(__file__).resolve().parents[2]
_GRAMMAR: dict[str, tuple[Form[Any], ...]] = {
    "Sentences, in negative verification and descriptions": SENTENCES,
    "State conditions": CONDITIONS,
    "Required actions": ACTIONS,
    "Forbidden actions and audit rules": FORBIDDEN,
}
PAGE = ROOT / "docs" / "overlay.md"
_HEAD = """# Prose, rulings and what has no reading: {profile} {version}

How entries are bound: [decision 6](decisions/0006-binding-and-overlay.md). The grammar: `src/sirocco/profiles/prose/`. The
overlay: `src/sirocco/profiles/overlays/`. A test compares this page with both and with the package.

## Forms of the grammar

`KIND` is a type of the operation vocabulary, `NAME` a declared object or namespace, `VERB` a verb of the vocabulary.
"""
_RULINGS = """
## Rulings of the overlay

Each names the entries that it is about, what was decided, and why.
"""
_UNBOUND = """
## What has no reading yet

Capability scenarios are bound when each of their entries can be read. These entries cannot; the scenarios that they
belong to are reported as not evaluable, and none of them is ever scored by guesswork.
"""


def page(found: Overlay, unread: Mapping[str, Iterable[str]]) -> str:
    """The page: every form, every ruling, and every entry without a reading."""
    lines = [_HEAD.format(profile=found.profile, version=found.profile_version)]
    for kind, forms in _GRAMMAR.items():
        lines += [f"- {kind}: " + ", ".join(f"*{form.name}* `{form.example}`" for form in forms)]
    lines += [_RULINGS]
    for scenario, entry in found.scenarios.items():
        lines += [f"### {scenario}\n"]
        lines += [f"- **{ruling.about}**: {ruling.decision} *{ruling.reason}*" for ruling in entry.rulings]
        lines += [""]
    lines += [_UNBOUND]
    lines += [f"- `{scenario}`: {', '.join(f'`{path}`' for path in paths)}" for scenario, paths in unread.items()]
    return "\n".join(lines) + "\n"


def unread_entries(published: Iterable[Scenario]) -> dict[str, list[str]]:
    """The entries without a reading, by scenario."""
    bindings = [binding_of(scenario, overlay()) for scenario in published]
    paths = {one.bound.scenario.id: [dotted(problem.path) for problem in one.problems] for one in bindings}
    return {scenario: found for scenario, found in sorted(paths.items()) if found}


if __name__ == "__main__":
    PAGE.write_text(page(overlay(), unread_entries(scenarios(ROOT.parent / "shared"))))
    print(f"{PAGE}: {PROFILE[0]} {PROFILE[1]}")
