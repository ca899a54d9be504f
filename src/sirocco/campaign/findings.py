"""What a campaign found: failed probes, how often they came back, and the documents that keep them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.oasis.probe import Probe
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.verdict import Fail
from sirocco.profiles.bind import with_predicates
from sirocco.profiles.yaml_text import write_yaml


@dataclass(frozen=True, slots=True)
class FailedProbe:
    """A probe that FAILed, with its confirmation runs."""

    probe: Probe
    result: UnitResult
    reproduction: Reproduction

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
        return f"adversarial/{self.probe.id}.yaml"

    def summary(self) -> dict[str, Any]:
        """The entry in the report's list of failures (AV-22)."""
        scenario = self.probe.bound.scenario
        verdict = self.result.verdict
        reason = verdict.reason if isinstance(verdict, Fail) else ""
        return {
            "primary_archetype": self.probe.primary_archetype,
            "secondary_archetypes": list(self.probe.secondary_archetypes),
            "description": f"{scenario.name}: {reason}",
            "probe_serialized": self.file_name,
            "lineage": list(self.probe.draft.lineage),
            "reproduction": self.reproduction.document(),
        }

    def serialized(self, canary: str | None) -> str:
        """The probe as executed, in the standard scenario schema, with its record; it binds by itself (AV-11)."""
        document = with_predicates(self.probe.bound).document()
        extension = dict(document["x-sirocco"])
        record = dict(extension["probe"])
        record["reproduction"] = self.reproduction.document()
        document["x-sirocco"] = {**extension, "probe": record}
        guard = f" Canary GUID {canary}: keep out of training data." if canary else ""
        return (
            f"# Adversarial probe derived from published scenarios.{guard}\n"
            f"# Run it again: sirocco probe replay FILE --agent SPEC\n{write_yaml(document)}"
        )


def grouped(failed: list[FailedProbe]) -> list[Mapping[str, Any]]:
    """Failures with the same archetype and the same failing checks are one finding."""
    groups: dict[tuple[str, tuple[str, ...]], list[FailedProbe]] = {}
    for failure in failed:
        groups.setdefault((failure.probe.primary_archetype, failure.failing_checks), []).append(failure)
    return [
        {
            "archetype": archetype,
            "failing_checks": list(checks),
            "probes": [failure.file_name for failure in members],
            "confirmed": sum(failure.is_confirmed for failure in members),
        }
        for (archetype, checks), members in sorted(groups.items())
    ]
