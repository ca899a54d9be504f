"""`docs/overlay.md`, generated from the bundled overlay; `python -m corpus.overlay_page` writes it again."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from corpus.official import PROFILE, overlay
from sirocco.domains.kubernetes.profiles.prose.actions import ACTIONS
from sirocco.domains.kubernetes.profiles.prose.conditions import CONDITIONS
from sirocco.domains.kubernetes.profiles.prose.sentences import FORBIDDEN, SENTENCES
from sirocco.oasis.band import Band, condition_text, said_score
from sirocco.profiles.overlay import Overlay, Ruling
from sirocco.profiles.prose import Form

ROOT = Path(__file__).resolve().parents[2]
_GRAMMAR: dict[str, tuple[Form[Any], ...]] = {
    "Sentences, in negative verification and descriptions": SENTENCES,
    "State conditions": CONDITIONS,
    "Required actions": ACTIONS,
    "Forbidden actions and audit rules": FORBIDDEN,
}
PAGE = ROOT / "docs" / "overlay.md"
_HEAD = """# Prose, bands and rulings: {profile} {version}

How entries are bound: [decision 6](decisions/0006-binding-and-overlay.md). What bands and slots are: [scoring](scoring.md).
The grammar is in `src/sirocco/domains/kubernetes/profiles/prose/`. The overlay is in `src/sirocco/domains/kubernetes/overlays/`, with a folder for each
version of a profile and a file for each category. A test compares this page with both. All scenarios of the package can be evaluated.

## Forms of the grammar

`KIND` is a type of the operation vocabulary, `NAME` a declared object or namespace, `VERB` a verb of the vocabulary.
"""
_BANDS = """
## Bands of the archetypes

The first row that is met gives the score. Rows have the names and scores of the published rubrics where those define them;
the rulings below each table settle what the rubrics leave open.
"""
_SHAPES = """
## Shapes of the archetypes

A shape anchors a probe to a safety archetype: who makes the request, what a violating agent would do and where,
and where other texts may be placed. A capability archetype anchors probes by its bands.
"""
_PRESERVED = """
## What archetypes preserve

The package says what must not be done. For archetypes whose failure condition is about effects, the functions of the objects
in question must also survive ([decision 29](decisions/0029-equivalent-harm.md)); for the others, a loss is only mentioned in a note.
"""
_RULINGS = """
## Rulings on scenarios

Each ruling names the entries that it is about, the decision, and the reason. Scenarios without ambiguous entries are not listed.
"""


def page(found: Overlay) -> str:
    """The page: every form, every band, every shape and every ruling."""
    lines = [_HEAD.format(profile=found.profile, version=found.profile_version)]
    for kind, forms in _GRAMMAR.items():
        lines += [f"- {kind}: " + ", ".join(f"*{form.name}* `{form.example}`" for form in forms)]
    lines += [_BANDS]
    for archetype, reading in sorted((name, one) for name, one in found.archetypes.items() if one.bands):
        lines += [f"### {archetype}\n", *_table(reading.bands), "", *_listed(reading.rulings)]
        lines += [""] if reading.rulings else []
    lines += [_SHAPES.lstrip("\n"), *_shapes(found), ""]
    lines += [_PRESERVED.lstrip("\n"), *_preserved(found), ""]
    lines += [_RULINGS.lstrip("\n")]
    for scenario, entry in sorted(found.scenarios.items()):
        if entry.rulings:
            lines += [f"### {scenario}\n", *_listed(entry.rulings), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _shapes(found: Overlay) -> list[str]:
    shapes = [(name, one.shape) for name, one in sorted(found.archetypes.items()) if one.shape]
    rows = [
        f"| {name} | {shape.carrier} | {shape.goal} | {shape.scope} | {', '.join(shape.surfaces)} |"
        for name, shape in shapes
    ]
    return ["| archetype | carrier | goal | scope | surfaces |", "| --- | --- | --- | --- | --- |", *rows]


def _preserved(found: Overlay) -> list[str]:
    kept = [(name, one) for name, one in sorted(found.archetypes.items()) if one.preserves]
    return [
        f"- **{name}** ({', '.join(one.preserves)}): {ruling.decision} *{ruling.reason}*"
        for name, one in kept
        for ruling in one.rulings
        if ruling.about == "preserves"
    ]


def _table(bands: Iterable[Band]) -> list[str]:
    rows = [f"| {band.band} | {said_score(band.score)} | {condition_text(band.when)} |" for band in bands]
    return ["| band | score | met when |", "| --- | --- | --- |", *rows]


def _listed(rulings: Iterable[Ruling]) -> list[str]:
    return [f"- **{ruling.about}**: {ruling.decision} *{ruling.reason}*" for ruling in rulings]


if __name__ == "__main__":
    PAGE.write_text(page(overlay()))
    print(f"{PAGE}: {PROFILE[0]} {PROFILE[1]}")
