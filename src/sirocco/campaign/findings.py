"""What a campaign found: failed probes, how often they recurred, their smallest forms, and their files."""

import pickle
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sirocco.campaign.shrink import Shrunk
from sirocco.evaluation.silence import violations
from sirocco.oasis.archetype import Classification
from sirocco.oasis.declarations import surface_of as surface_on
from sirocco.oasis.probe import Probe, with_record_facts
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.verdict import CheckResult, Evaluation, Fail
from sirocco.profiles.bind import with_predicates
from sirocco.profiles.yaml_text import write_yaml

FOLDER = "adversarial"
NEVER_REPEATED = Reproduction(runs=0, failed=0)
PROMPT = "prompt"
"""The surface of what the operator says."""


def surface_of(probe: Probe) -> str:
    """Where the adversarial text was placed: the draft's own statement, the first payload's surface, or the prompt."""
    if probe.draft.surface is not None:
        return str(probe.draft.surface)
    waiting = (surface_on(stimulus, probe.bound.domain.declarations) for stimulus in probe.bound.scenario.payloads)
    return str(next((surface for surface in waiting if surface is not None), PROMPT))


def file_name(probe: str) -> str:
    """The path of a probe's serialized form, relative to the run directory."""
    return f"{FOLDER}/{probe}.yaml"


@dataclass(frozen=True, slots=True)
class FailedProbe:
    """A probe that FAILed, with its confirmation runs; the probe itself is kept in compact form.

    A campaign may have thousands of them, and each waits for its confirmation until all probes have run.
    """

    id: str
    primary_archetype: str
    secondary_archetypes: tuple[str, ...]
    name: str
    technique: str | None
    lineage: tuple[str, ...]
    surface: str
    failing_checks: tuple[str, ...]
    """The checks of the primary archetype that FAILed."""
    reason: str
    packed: bytes
    reproduction: Reproduction = NEVER_REPEATED
    shrunk: Shrunk | None = None

    @classmethod
    def from_evaluation(cls, probe: Probe, evaluation: Evaluation) -> "FailedProbe":
        """A probe and its judgement."""
        verdict = evaluation.verdict
        return cls(
            probe.id,
            probe.primary_archetype,
            probe.secondary_archetypes,
            probe.bound.scenario.name,
            probe.draft.technique,
            probe.draft.lineage,
            surface_of(probe),
            tuple(check.check for check in evaluation.checks if isinstance(check.verdict, Fail)),
            verdict.reason if isinstance(verdict, Fail) else "",
            zlib.compress(pickle.dumps(probe)),
        )

    @property
    def probe(self) -> Probe:
        """The probe as it was admitted."""
        found: Probe = pickle.loads(zlib.decompress(self.packed))  # noqa: S301 - packed above, and never out of memory
        return found

    @property
    def is_confirmed(self) -> bool:
        """Whether the failure recurred at least once in a fresh environment."""
        return self.reproduction.failed > 0

    @property
    def file_name(self) -> str:
        """The path of the serialized probe, relative to the run directory."""
        return file_name(self.id)

    @property
    def minimal_file_name(self) -> str | None:
        """The path of its smallest form, if one was found."""
        return f"{FOLDER}/{self.id}.min.yaml" if self.shrunk and self.shrunk.is_smaller else None

    @property
    def key(self) -> tuple[str, tuple[str, ...], str]:
        """What makes two failures one finding: archetype, violated checks and surface."""
        return self.primary_archetype, self.failing_checks, self.surface

    def summary(self) -> dict[str, Any]:
        """The entry in the report's list of failures (AV-22)."""
        minimal = {"probe_minimal": self.minimal_file_name} if self.minimal_file_name else {}
        return {
            "primary_archetype": self.primary_archetype,
            "secondary_archetypes": list(self.secondary_archetypes),
            "description": f"{self.name}: {self.reason}",
            "probe_serialized": self.file_name,
            **minimal,
            "lineage": list(self.lineage),
            "reproduction": self.reproduction.document(),
        }

    def probe_text(self, canary: str | None) -> str:
        """The probe as executed, in the standard scenario schema, with its record.

        It binds without grammar or overlay (AV-11).
        """
        return probe_text(self.probe, canary, self.reproduction)

    def serialized_minimal(self, canary: str | None) -> str | None:
        """Its smallest form, in the same way."""
        if self.shrunk is None or not self.shrunk.is_smaller:
            return None
        return probe_text(self.shrunk.probe, canary, self.shrunk.reproduction)


def probe_text(probe: Probe, canary: str | None = None, reproduction: Reproduction | None = None) -> str:
    """A probe in the standard scenario schema, with its predicates and its record."""
    bound = probe.bound if reproduction is None else with_record_facts(probe.bound, reproduction=reproduction)
    document = with_predicates(bound).document()
    document.setdefault("x-sirocco", {})
    record = bound.scenario.x_sirocco.probe
    origin = "drawn afresh for its archetype" if record and record.base is None else "derived from published scenarios"
    guard = f" Canary GUID {canary}: keep out of training data." if canary else ""
    return (
        f"# Adversarial probe {origin}.{guard}\n"
        f"# Run it again: sirocco probe replay THIS_FILE --agent SPEC\n{write_yaml(document)}"
    )


def group_failures(failed: Sequence[FailedProbe]) -> list[Mapping[str, Any]]:
    """Group failures of one archetype in the same checks on the same surface into one finding."""
    groups: dict[tuple[str, tuple[str, ...], str], list[FailedProbe]] = {}
    for failure in failed:
        groups.setdefault(failure.key, []).append(failure)
    return [
        _finding(archetype, checks, surface, members)
        for (archetype, checks, surface), members in sorted(groups.items(), key=_safety_first)
    ]


def _safety_first(group: tuple[tuple[str, tuple[str, ...], str], list[FailedProbe]]) -> tuple[Any, ...]:
    key, members = group
    return members[0].probe.bound.scenario.classification is not Classification.SAFETY, key


def _finding(archetype: str, checks: tuple[str, ...], surface: str, members: Sequence[FailedProbe]) -> dict[str, Any]:
    shrunk = next((one for one in members if one.minimal_file_name), None)
    explained = next((one.shrunk for one in members if one.shrunk), None)
    return {
        "archetype": archetype,
        "failing_checks": list(checks),
        "surface": surface,
        "techniques": sorted({one.technique for one in members if one.technique}),
        "probes": [one.file_name for one in members],
        **({"minimal": shrunk.minimal_file_name} if shrunk else {}),
        "confirmed": sum(one.is_confirmed for one in members),
        "reproduction": {
            "runs": sum(one.reproduction.runs for one in members),
            "failed": sum(one.reproduction.failed for one in members),
        },
        **({"explanation": explained.explanation()} if explained else {}),
    }


def violations_beside(result: UnitResult, is_safety: Callable[[str], bool]) -> tuple[CheckResult, ...]:
    """Checks of other safety archetypes that the agent violated by its acts or words (AV-18, SI-13)."""
    safety = [check for check in result.evaluation.secondary if is_safety(check.archetype)]
    return violations(result.bound, result.evidence, safety)


def secondary_violations(probe: Probe, checks: Sequence[CheckResult], file: str) -> list[dict[str, Any]]:
    """Safety archetypes that were violated besides the primary one (AV-18)."""
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
