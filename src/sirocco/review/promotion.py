"""Promotion: a reviewed probe becomes a scenario of the corpus, with nothing of the probe left in it (AV-26).

What the probe asks and how it is judged stays: goal, task, predicates. Where it came from goes into the record of the
profile's promotions, and not into the scenario.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sirocco.errors import ConfigError
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.noun import Noun
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.bind import with_predicates
from sirocco.profiles.load import load_scenario
from sirocco.profiles.validate import corpus_problems
from sirocco.reports.markdown import markdown_text

PROMOTIONS = "promotions.yaml"
"""Beside profile.yaml: what the corpus learnt from which run."""
_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
_WORDS_OF_PROBES = re.compile(
    r"\b(probes?|mutat\w+|lineage|generator|seed|benign twin|adversarial|fuzz\w*)\b", re.IGNORECASE
)
_VERSION = "0.1.0"
_VERSION_LINE = re.compile(r"""(?m)^(?P<key>version:[ \t]*)(?P<quote>["']?)[^\s"'#]+(?P=quote)""")


@dataclass(frozen=True, slots=True)
class Wording:
    """What only a person can say of the new scenario."""

    slug: str
    name: str
    intent: str
    description: str
    companion: str | None = None
    """The capability scenario that shows the legitimate work."""
    without_companion: str = ""
    """Why there is none."""
    quality: Mapping[str, Any] = field(default_factory=dict)
    """Attack surface and difficulty, where the proposal is to be another."""


class Promotion(Noun):
    """One line of the record: which scenario was learnt from which finding of which run."""

    scenario: str
    archetype: str
    on: str
    finding: str
    evidence_root: str
    agent: str
    generator: str
    reviewers: tuple[str, ...]
    without_companion: str | None = None
    version: str | None = None
    """The profile's version that first has it; None for one that was promoted before versions were recorded."""


def promoted_scenario(bound: BoundScenario, profile: Profile, wording: Wording) -> BoundScenario:
    """The scenario that a probe becomes; ConfigError, or InvalidInput with every finding, for what is still wrong."""
    published = [one.scenario for one in profile.scenarios]
    _require_wording(bound.scenario, wording)
    document = with_predicates(bound).document()
    extension = {key: value for key, value in document.get("x-sirocco", {}).items() if key != "probe"}
    quality = {**document.get("quality", {}), **wording.quality, "companion_scenario": wording.companion}
    kin = [one for one in published if one.archetype == bound.scenario.archetype]
    subcategory = Counter(one.subcategory for one in kin if one.subcategory).most_common(1)
    made = {
        **document,
        "id": scenario_id(bound.scenario, published, wording.slug),
        "name": wording.name,
        "version": _VERSION,
        **({"subcategory": subcategory[0][0]} if subcategory and "subcategory" not in document else {}),
        "intent": wording.intent,
        "description": wording.description,
        "quality": {key: value for key, value in quality.items() if value is not None},
        "x-sirocco": extension,
    }
    found = load_scenario(made, profile, made["id"])
    problems = [
        problem for number, problem in corpus_problems([*published, found.scenario]) if number == len(published)
    ]
    if problems:
        first = problems[0]
        raise ConfigError(made["id"], first.problem, first.remedy)
    return found


def scenario_id(scenario: Scenario, published: Sequence[Scenario], slug: str) -> str:
    """An id by the convention of the profile's other scenarios: prefix, classification, category, name and number."""
    kin = [one.id.split(".") for one in published if one.category == scenario.category and one.id.count(".") == 3]
    if not kin:
        problem = f"no scenario of {scenario.category} shows how ids are made"
        raise ConfigError(scenario.id, problem, "write the first scenario of the category by hand")
    (prefix, kind, code), _ = Counter((one[0], one[1], one[2]) for one in kin).most_common(1)[0]
    taken = {one.id for one in published}
    stem = f"{prefix}.{kind}.{code}.{slug}"
    return next(name for number in range(1, 1000) if (name := f"{stem}-{number:03}") not in taken)


def _require_wording(scenario: Scenario, wording: Wording) -> None:
    """Raise ConfigError for words that a person has not chosen, or that speak of the probe."""
    if not _SLUG.fullmatch(wording.slug):
        raise ConfigError(
            "--slug", f"{wording.slug!r} is not a valid slug", "write two or more lower-case words joined by hyphens"
        )
    said = {"--name": wording.name, "--intent": wording.intent, "--description": wording.description}
    for option, text in said.items():
        if found := _WORDS_OF_PROBES.search(text):
            problem = f"speaks of where the scenario came from: {found[0]!r}"
            raise ConfigError(option, problem, "say what the scenario shows")
    folded = [" ".join(text.split()).casefold() for text in (wording.intent, wording.description)]
    given = [" ".join((text or "").split()).casefold() for text in (scenario.intent, scenario.description)]
    if folded[0] == given[0] or folded[1] == given[1] or folded[0] == folded[1]:
        problem = "is what the probe says, or intent and description are the same"
        raise ConfigError(
            "--intent, --description", problem, "say what only this scenario shows, and what happens in it"
        )
    if scenario.classification is Classification.SAFETY and not (wording.companion or wording.without_companion):
        problem = "a safety scenario has a companion that shows the legitimate work"
        raise ConfigError("--companion", problem, "name a capability scenario, or say why with --without-companion")


def remains_of_probe(scenario: Scenario, probe: Scenario) -> tuple[str, ...]:
    """What of a probe's record is still in a scenario: nothing, if all is well."""
    text = str(scenario.document())
    record = probe.x_sirocco.probe
    marks = [probe.id, *((record.seed, *record.lineage) if record else ())]
    return tuple(mark for mark in marks if len(mark) > 3 and mark in text)


def pull_request_body(promotion: Promotion, scenario: Scenario, distance: float) -> str:
    """What a maintainer reads before taking the scenario in, as Markdown."""
    companion = scenario.quality.companion_scenario if scenario.quality else None
    lines = [
        f"## Add {scenario.id}",
        "",
        markdown_text(scenario.intent or ""),
        "",
        f"- archetype {scenario.archetype}, {scenario.classification}, category {scenario.category}",
        f"- found as {promotion.finding} with {markdown_text(promotion.agent)}",
        f"- made by a generator of type {markdown_text(promotion.generator)}",
        f"- reviewed by {markdown_text(', '.join(promotion.reviewers))}",
        f"- evidence root of the run: {markdown_text(promotion.evidence_root)}",
        f"- distance from the nearest published scenario of its archetype: {distance:.2f}",
        f"- companion: {markdown_text(companion or f'none, because {promotion.without_companion}')}",
        "- its witnesses came to the same truth table in fresh environments under different seeds",
    ]
    if promotion.version is not None:
        lines += [
            "",
            f"Version of the profile: {promotion.version}. Changelog entry:",
            "",
            f"- Added `{scenario.id}` ({scenario.archetype}): {markdown_text(scenario.intent or scenario.name)}",
        ]
    return "\n".join(lines) + "\n"


def next_minor(version: str) -> str:
    """The version after a scenario was added: the next minor one, without a prerelease."""
    found = re.match(r"(\d+)\.(\d+)\.", version)
    return f"{found[1]}.{int(found[2]) + 1}.0" if found else version


def with_version(text: str, version: str) -> str:
    """The text of a profile with another version; everything else in it, comments too, stays as it is."""
    return _VERSION_LINE.sub(lambda found: f"{found['key']}{found['quote']}{version}{found['quote']}", text, count=1)
