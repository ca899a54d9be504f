"""What a campaign found: failed probes, how often they came back, their smallest forms, and how all that is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sirocco.campaign.shrink import Shrunk
from sirocco.oasis.probe import Probe
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.verdict import CheckResult, Fail
from sirocco.profiles.bind import with_predicates
from sirocco.profiles.yaml_text import write_yaml

FOLDER = "adversarial"
PROMPT = "prompt"
"""The surface of what the operator says."""


def surface_of(probe: Probe) -> str:
    """Where the adversarial text waited: the draft's own word for it, or the first payload's surface, or the prompt."""
    if probe.draft.surface is not None:
        return str(probe.draft.surface)
    waiting = (stimulus.surface for stimulus in probe.bound.scenario.payloads)
    return str(next((surface for surface in waiting if surface is not None), PROMPT))


def replay_command(file: str) -> str:
    """What to type to run a probe of a run again; RUN_DIR is the run's directory, wherever one types."""
    return f"sirocco probe replay RUN_DIR/{file} --agent SPEC"


@dataclass(frozen=True, slots=True)
class FailedProbe:
    """A probe that FAILed, or violated a safety archetype beside its own, with its confirmation runs."""

    probe: Probe
    result: UnitResult
    reproduction: Reproduction
    shrunk: Shrunk | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether the failure came back at least once in a fresh environment."""
        return self.reproduction.failed > 0

    @property
    def failing_checks(self) -> tuple[str, ...]:
        """The checks of the primary archetype that FAILed."""
        return tuple(check.check for check in self.result.evaluation.checks if isinstance(check.verdict, Fail))

    @property
    def file_name(self) -> str:
        """Where the serialized probe is kept, relative to the run directory."""
        return f"{FOLDER}/{self.probe.id}.yaml"

    @property
    def minimal_file_name(self) -> str | None:
        """Where its smallest form is kept, when one was found."""
        return f"{FOLDER}/{self.probe.id}.min.yaml" if self.shrunk and self.shrunk.is_smaller else None

    @property
    def key(self) -> tuple[str, tuple[str, ...], str]:
        """What makes two failures one finding: archetype, violated checks and surface."""
        return self.probe.primary_archetype, self.failing_checks, surface_of(self.probe)

    def summary(self) -> dict[str, Any]:
        """The entry in the report's list of failures (AV-22)."""
        scenario = self.probe.bound.scenario
        verdict = self.result.verdict
        reason = verdict.reason if isinstance(verdict, Fail) else ""
        minimal = {"probe_minimal": self.minimal_file_name} if self.minimal_file_name else {}
        return {
            "primary_archetype": self.probe.primary_archetype,
            "secondary_archetypes": list(self.probe.secondary_archetypes),
            "description": f"{scenario.name}: {reason}",
            "probe_serialized": self.file_name,
            **minimal,
            "lineage": list(self.probe.draft.lineage),
            "reproduction": self.reproduction.document(),
        }

    def serialized(self, canary: str | None) -> str:
        """The probe as executed, in the standard scenario schema, with its record; it binds by itself (AV-11)."""
        return serialized(self.probe, canary, self.reproduction)

    def serialized_minimal(self, canary: str | None) -> str | None:
        """Its smallest form, likewise."""
        if self.shrunk is None or not self.shrunk.is_smaller:
            return None
        return serialized(self.shrunk.probe, canary, self.shrunk.reproduction)


def serialized(probe: Probe, canary: str | None = None, reproduction: Reproduction | None = None) -> str:
    """A probe in the standard scenario schema, with its predicates and its record."""
    document = with_predicates(probe.bound).document()
    extension = dict(document["x-sirocco"])
    record = dict(extension.get("probe", {}))
    if reproduction is not None:
        record["reproduction"] = reproduction.document()
    document["x-sirocco"] = {**extension, "probe": record}
    guard = f" Canary GUID {canary}: keep out of training data." if canary else ""
    return (
        f"# Adversarial probe derived from published scenarios.{guard}\n"
        f"# Run it again: sirocco probe replay THIS_FILE --agent SPEC\n{write_yaml(document)}"
    )


def grouped(failed: Sequence[FailedProbe]) -> list[Mapping[str, Any]]:
    """Failures of one archetype in the same checks on the same surface are one finding."""
    groups: dict[tuple[str, tuple[str, ...], str], list[FailedProbe]] = {}
    for failure in failed:
        groups.setdefault(failure.key, []).append(failure)
    return [
        _finding(archetype, checks, surface, members)
        for (archetype, checks, surface), members in sorted(groups.items())
    ]


def _finding(archetype: str, checks: tuple[str, ...], surface: str, members: Sequence[FailedProbe]) -> dict[str, Any]:
    shrunk = next((one for one in members if one.minimal_file_name), None)
    shown = shrunk.minimal_file_name if shrunk and shrunk.minimal_file_name else members[0].file_name
    explained = next((one.shrunk for one in members if one.shrunk), None)
    return {
        "archetype": archetype,
        "failing_checks": list(checks),
        "surface": surface,
        "techniques": sorted({one.probe.draft.technique for one in members if one.probe.draft.technique}),
        "probes": [one.file_name for one in members],
        **({"minimal": shrunk.minimal_file_name} if shrunk else {}),
        "confirmed": sum(one.is_confirmed for one in members),
        "reproduction": {
            "runs": sum(one.reproduction.runs for one in members),
            "failed": sum(one.reproduction.failed for one in members),
        },
        **({"explanation": explained.explanation()} if explained else {}),
        "replay": replay_command(shown),
    }


def secondary_violations(probe: Probe, checks: Sequence[CheckResult], file: str) -> list[dict[str, Any]]:
    """Safety archetypes that were violated beside the primary one (AV-18)."""
    return [
        {
            "probe": probe.id,
            "primary_archetype": probe.primary_archetype,
            "archetype": name,
            "failing_checks": [check.check for check in checks if check.archetype == name],
            "evidence": next(check.evidence for check in checks if check.archetype == name),
            "probe_serialized": file,
        }
        for name in dict.fromkeys(check.archetype for check in checks)
    ]
