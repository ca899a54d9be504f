"""The overlay: our readings of scenarios that are worded freely or contradict themselves.

It contains what neither structure nor grammar can read, a goal and a task for every scenario so that witnesses can run,
ground truth for behaviours, the bands of archetypes, and the rulings behind them, in our own words. An entry is for one
text: it applies if id and digest agree, whatever version the text is published under.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from sirocco.errors import Finding, InvalidInput, Place, Problem
from sirocco.oasis.archetype import Archetype, Function, Shape
from sirocco.oasis.band import Band
from sirocco.oasis.canonical import digest
from sirocco.oasis.domain import Domain
from sirocco.oasis.noun import Noun
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.reaction import Reaction
from sirocco.oasis.scenario import Goal, Scenario, StateEntry
from sirocco.oasis.stimulus import Stimulus, Surface
from sirocco.profiles.parse import finding_at, findings_at, parse
from sirocco.profiles.read import read_file, yaml_files
from sirocco.profiles.rules import RULES
from sirocco.profiles.scoring_models import form_problems
from sirocco.profiles.yaml_text import Node, read_yaml

_PREFIX = "oasis-profile-"
_QUOTED = re.compile(r'"([^"]+)"')


class Ruling(Noun):
    """A decision on an ambiguous or contradictory entry: what it is about, the decision, and the reason."""

    about: str
    decision: str
    reason: str


class StimulusReading(Noun):
    """The meaning of a stimulus that is worded freely: where it happens, and what the object there becomes.

    With `quoted`, its text is what is quoted in its description.
    """

    target: str | None = None
    state: Mapping[str, Any] = Field(default_factory=dict)
    quoted: bool = False


TextDigest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]


class OverlayEntry(Noun):
    """Our additions to one text of a scenario.

    `state` is what the scenario's entries presuppose and its preconditions do not declare, `reactions` what they
    presuppose of the environment, `stimuli` the readings of stimuli by number, `slots` the ground truth for behaviours,
    and `rerun` how often the prompt is repeated.
    """

    text_digest: TextDigest
    also: tuple[TextDigest, ...] = ()
    """Later texts of the scenario to which all of this still applies."""
    goal: Goal | None = None
    task: tuple[str, ...] = ()
    predicates: Mapping[str, tuple[Mapping[str, Any], ...]] = Field(default_factory=dict)
    slots: Mapping[str, Any] = Field(default_factory=dict)
    rerun: int = Field(default=0, ge=0)
    state: tuple[StateEntry, ...] = ()
    reactions: tuple[Reaction, ...] = ()
    stimuli: Mapping[str, StimulusReading] = Field(default_factory=dict)
    rulings: tuple[Ruling, ...] = ()


class ArchetypeReading(Noun):
    """What a profile says about an archetype in words: the bands of its scoring model, and the shape of its probes.

    What must survive is our own addition, and a ruling about `preserves` gives the reason.
    """

    bands: tuple[Band, ...] = ()
    shape: Shape | None = None
    preserves: tuple[Function, ...] = ()
    exercises: tuple[str, ...] = ()
    rulings: tuple[Ruling, ...] = ()

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.bands and self.shape is None:
            raise ValueError("an archetype needs bands, a shape or both")
        if self.preserves and not any(ruling.about == "preserves" for ruling in self.rulings):
            raise ValueError("changing what another profile's archetype preserves needs a ruling with the reason")
        return self

    def complete_archetype(self, archetype: Archetype) -> Archetype:
        """The archetype, completed with what it lacks."""
        return archetype.model_copy(
            update={"bands": archetype.bands or self.bands, "shape": archetype.shape or self.shape,
                    "preserves": archetype.preserves or self.preserves,
                    "exercises": archetype.exercises or self.exercises}
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Overlaid:
    """A scenario completed by the overlay, and the problems with the overlay."""

    scenario: Scenario
    problems: tuple[Problem, ...] = ()


class Overlay(Noun):
    """The entries for the scenarios and archetypes of one version of a profile."""

    format: Literal[1]
    profile: str
    profile_version: str
    extends: str | None = None
    """An earlier version of the profile whose overlay still applies where this one has no entry."""
    archetypes: Mapping[str, ArchetypeReading] = Field(default_factory=dict)
    scenarios: Mapping[str, OverlayEntry] = Field(default_factory=dict)

    def complete_profile(self, document: ProfileDocument) -> ProfileDocument:
        """The profile with bands and shapes for those of its archetypes that have none."""
        archetypes = tuple(
            self.archetypes[archetype.id].complete_archetype(archetype)
            if archetype.id in self.archetypes
            else archetype
            for archetype in document.archetypes
        )
        return document.model_copy(update={"archetypes": archetypes})

    def with_earlier(self, earlier: "Overlay") -> "Overlay":
        """This overlay with the entries of an earlier one where it has none."""
        archetypes, scenarios = ({**earlier.archetypes, **self.archetypes}, {**earlier.scenarios, **self.scenarios})
        return self.model_copy(update={"archetypes": archetypes, "scenarios": scenarios})

    def applied_to(self, scenario: Scenario) -> Overlaid:
        """The scenario with its entry; unchanged if it has its own readings, or if its text differs."""
        entry = self.scenarios.get(scenario.id)
        own = scenario.x_sirocco
        if entry is None or own.goal is not None or own.predicates or own.slots or own.task:
            return Overlaid(scenario)
        if text_digest(scenario) not in (entry.text_digest, *entry.also):
            return Overlaid(scenario, (_STALE,))
        extension = own.model_copy(
            update={"goal": entry.goal, "task": entry.task, "predicates": entry.predicates, "slots": entry.slots,
                    "rerun": own.rerun or entry.rerun, "reactions": (*own.reactions, *entry.reactions)}
        )  # fmt: skip
        stimuli = tuple(
            _read(stimulus, entry.stimuli.get(str(number))) for number, stimulus in enumerate(scenario.stimuli)
        )
        return Overlaid(
            _with_state(scenario, entry.state).model_copy(update={"x_sirocco": extension, "stimuli": stimuli})
        )


def overlay_for(domain: Domain, profile_id: str, profile_version: str) -> Overlay | None:
    """The overlay that a domain brings for a version of a profile, or None; raise InvalidInput if it is unreadable."""
    if domain.overlays is None:
        return None
    return _overlay_in(Path(domain.overlays), profile_id, profile_version, domain.vocabulary.surfaces)


@cache
def _overlay_in(overlays: Path, profile_id: str, profile_version: str, surfaces: tuple[Surface, ...]) -> Overlay | None:
    name = f"{profile_id.removeprefix(_PREFIX)}-{profile_version}"
    folder = next((path for path in sorted(overlays.iterdir()) if path.name == name), None)
    if folder is None:
        return None
    overlay = read_overlay(folder, surfaces)
    if (overlay.profile, overlay.profile_version) != (profile_id, profile_version):
        return None
    earlier = _overlay_in(overlays, profile_id, overlay.extends, surfaces) if overlay.extends else None
    return overlay if earlier is None else overlay.with_earlier(earlier)


@cache
def read_overlay(path: Path, surfaces: tuple[Surface, ...] | None = None) -> Overlay:
    """The overlay in a file, or in all files of a folder; raise InvalidInput with every finding."""
    findings: list[Finding] = []
    parts: list[tuple[Node, Overlay]] = []
    for one in yaml_files(path):
        node, overlay, found = _read_part(one, surfaces)
        findings += found
        if node is not None and overlay is not None:
            parts.append((node, overlay))
    findings += _disagreements(parts)
    if not parts and not findings:
        findings.append(RULES["document-missing"].finding(Place(str(path)), "", "there is no overlay", "add a file"))
    if findings:
        raise InvalidInput(path, findings)
    return parts[0][1].model_copy(
        update={
            "archetypes": {key: one for _, part in parts for key, one in part.archetypes.items()},
            "scenarios": {key: one for _, part in parts for key, one in part.scenarios.items()},
        }
    )


def _read_part(path: Path, surfaces: tuple[Surface, ...] | None) -> tuple[Node | None, Overlay | None, list[Finding]]:
    """One file of an overlay."""
    file = read_file(path)
    if isinstance(file, Finding):
        return None, None, [file]
    text = read_yaml(file.text, file.name)
    findings = list(text.findings)
    if not findings and len(text.documents) != 1:
        problem = f"the file holds {len(text.documents)} documents"
        findings.append(RULES["document-missing"].finding(Place(file.name), "", problem, "write exactly one"))
    if findings:
        return None, None, findings
    node = text.documents[0]
    parsed = parse(Overlay, node, surfaces=surfaces)
    findings += parsed.findings
    read = parsed.noun.archetypes.items() if parsed.noun else ()
    for name, archetype in ((name, archetype) for name, archetype in read if archetype.bands):
        findings += findings_at(node, form_problems(name, archetype.bands, ("archetypes", name, "bands")))
    return node, parsed.noun, findings


def _disagreements(parts: Sequence[tuple[Node, Overlay]]) -> Iterator[Finding]:
    """Files that are for another profile than the first one, and entries that two files share."""
    seen: dict[tuple[str, str], Place] = {}
    for node, part in parts:
        first = parts[0][1]
        for key in ("profile", "profile_version"):
            if getattr(part, key) != getattr(first, key):
                problem = f"the overlay is for {getattr(first, key)}, this file for {getattr(part, key)}"
                yield finding_at(node, Problem("field-value", (key,), problem, f"write {getattr(first, key)}"))
        for kind, entries in (("archetypes", part.archetypes), ("scenarios", part.scenarios)):
            for entry in entries:
                other = seen.setdefault((kind, entry), node.place_of_key((kind, entry)))
                if other.file != node.place.file:
                    problem = f"{entry} has an entry in {other} as well"
                    yield finding_at(node, Problem("duplicate-id", (kind, entry), problem, "keep one of the two"))


def text_digest(scenario: Scenario) -> str:
    """The digest of the scenario as its authors wrote it, without its version and our additions."""
    return digest({key: value for key, value in scenario.document().items() if key not in {"x-sirocco", "version"}})


def _read(stimulus: Stimulus, reading: StimulusReading | None) -> Stimulus:
    if reading is None:
        return stimulus
    quoted = _QUOTED.search(stimulus.description or stimulus.value or "") if reading.quoted else None
    update: dict[str, Any] = {"value": quoted[1]} if quoted else {}
    update |= {"target": reading.target} if reading.target else {}
    # The meaning of the words is now in the state; the words stay as the description.
    update |= {"state": reading.state, "value": None, "description": stimulus.description or stimulus.value} if (
        reading.state
    ) else {}  # fmt: skip
    return stimulus.model_copy(update=update)


def _with_state(scenario: Scenario, state: tuple[StateEntry, ...]) -> Scenario:
    environment = scenario.preconditions.environment
    declared = environment.model_copy(update={"state": (*environment.state, *state)})
    preconditions = scenario.preconditions.model_copy(update={"environment": declared})
    return scenario.model_copy(update={"preconditions": preconditions}) if state else scenario


_STALE = Problem(
    "overlay-stale",
    ("id",),
    "the overlay has an entry for this scenario, but for another text of it",
    "use the text that the overlay is for, or an overlay for this one",
)
