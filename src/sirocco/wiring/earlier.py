"""Documents of earlier runs that a run relies on: the core it extends (`--core`), and probes to learn from.

Our own are verdict documents, JSON or YAML; from another runner, oasisctl's reports. A document about another agent
build, profile or tier is refused, since it would describe a different subject.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sirocco.campaign.schedule import Observation
from sirocco.errors import ConfigError
from sirocco.evidence.files import stored_document
from sirocco.oasis.archetype import Classification
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import AttachedCore, CoreOutcome, RunIdentity
from sirocco.oasis.stimulus import Surface
from sirocco.oasis.verdict import Fail, Pass
from sirocco.reports.document import CORE_KEYS, core_digest
from sirocco.wiring.oasisctl_report import NOT_APPLICABLE, translated_core

_UNREADABLE = (KeyError, TypeError, AttributeError, ValueError, IndexError)
_REMEDY = "give the verdict.json of a run, or a report that oasisctl wrote"


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """A document about one run of an agent, and what it says about the agent and the evaluator."""

    option: str
    path: Path
    digest: str
    runner: str
    agent: tuple[str, str]
    """Name and version."""
    configuration: Mapping[str, Any]
    profile: str
    profile_version: str
    profile_digest: str | None
    tier: int
    content: Mapping[str, Any]
    """The verdict, or the report unchanged."""

    @classmethod
    def read(cls, option: str, path: Path) -> "EarlierRun":
        """The document in a file; ConfigError if it is neither a verdict of ours nor an oasisctl report."""
        try:
            document, content = stored_document(path), path.read_bytes()
            digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
            if "verdict" in document:
                return cls._of_verdict(option, path, digest, document["verdict"])
            return cls._of_report(option, path, digest, document)
        except (OSError, yaml.YAMLError, *_UNREADABLE) as error:
            raise ConfigError(f"{option} {path}", "is not an evaluation document", _REMEDY) from error

    @classmethod
    def _of_verdict(cls, option: str, path: Path, digest: str, verdict: Mapping[str, Any]) -> "EarlierRun":
        metadata = verdict["metadata"]
        made_by = metadata["evaluation_implementation"]
        return cls(
            option, path, digest,
            runner=f"{made_by['name']} {made_by['version']}",
            agent=(str(metadata["agent"]), str(metadata["agent_version"])),
            configuration=dict(metadata["agent_configuration"]),
            profile=str(metadata["domain_profile"]),
            profile_version=str(metadata["domain_profile_version"]),
            profile_digest=str(metadata["domain_profile_digest"]),
            tier=int(metadata["environment"]["tier"]),
            content=verdict,
        )  # fmt: skip

    @classmethod
    def _of_report(cls, option: str, path: Path, digest: str, report: Mapping[str, Any]) -> "EarlierRun":
        metadata = report["metadata"]
        return cls(
            option, path, digest,
            runner=str(metadata["evaluator"]),
            agent=(str(metadata["agent_name"]), str(metadata["agent_version"])),
            configuration=dict(report.get("agent_configuration") or {}),
            profile=str(metadata["profile_name"]),
            profile_version=str(metadata["profile_version"]),
            profile_digest=None,
            tier=int(report["environment"]["tier_claimed"]),
            content=report,
        )  # fmt: skip

    @property
    def is_ours(self) -> bool:
        """Whether it is a verdict document rather than oasisctl's report."""
        return self.profile_digest is not None

    def refuse_other_profile(self, profile: Profile, tier: int) -> None:
        """Raise ConfigError, naming every difference, unless the document is about this profile and tier."""
        own = profile.document
        names = {own.id} if self.is_ours else {own.id, own.name}
        differences = []
        if self.profile not in names or self.profile_version != own.version:
            theirs = f"{self.profile} {self.profile_version}"
            differences.append(f"its profile is {theirs}, here it is {own.id} {own.version}")
        elif self.profile_digest not in {None, profile.digest()}:
            differences.append(f"its {own.id} {own.version} has different contents from the one here")
        if self.tier != tier:
            differences.append(f"it was evaluated at tier {self.tier}, here it is tier {tier}")
        self._refuse(differences, "use the same --profile and --tier, or a document for this profile and tier")

    def refuse_other_agent(self, identity: RunIdentity) -> None:
        """Raise ConfigError, naming every difference, unless the document is about this build of the agent."""
        agent = identity.agent
        own = (agent.identity.name, agent.identity.version)
        differences = []
        if self.agent != own:
            differences.append(f"it is about the agent {' '.join(self.agent)}, here it is {' '.join(own)}")
        if self.configuration != dict(agent.configuration):
            differences.append(f"its agent was configured as {self.configuration}, here as {dict(agent.configuration)}")
        self._refuse(differences, "evaluate the agent that the document is about, or omit the option")

    def _refuse(self, differences: Sequence[str], remedy: str) -> None:
        if differences:
            raise ConfigError(f"{self.option} {self.path}", "; ".join(differences), remedy)

    def observations(self) -> tuple[Observation, ...]:
        """The probes of the run, each with its cell and whether the agent failed; ConfigError if it has none."""
        block = self.content.get("adversarial_verification") or {}
        details = block.get("probe_details") or ()
        if not details:
            remedy = "give the verdict of a run with an adversarial phase"
            raise ConfigError(f"{self.option} {self.path}", "contains no probes to learn from", remedy)
        try:
            judged = [one for one in details if one["status"] in {Pass.status, Fail.status}]
            return tuple((_cell(one), one["status"] == Fail.status) for one in judged)
        except _UNREADABLE as error:
            raise ConfigError(f"{self.option} {self.path}", "has probes that cannot be read", _REMEDY) from error

    def core(self, profile: Profile) -> AttachedCore:
        """The core of the run; ConfigError if it has no verdict on the agent, or was altered."""
        try:
            frozen, gaps = self._own_core() if self.is_ours else translated_core(self.content, profile.document)
            outcomes = self._outcomes(profile)
            participation = self.content.get("participation")
        except _UNREADABLE as error:
            raise ConfigError(f"{self.option} {self.path}", f"cannot be read as a core: {error!r}", _REMEDY) from error
        if frozen["safety"] not in {Pass.status, Fail.status}:
            problem = f"its core has no verdict on the agent: {frozen['safety'] or 'it did not get that far'}"
            raise ConfigError(f"{self.option} {self.path}", problem, "give a core with the verdict PASS or FAIL")
        metadata = self.content["metadata"]
        source = {
            "document": self.digest,
            "runner": self.runner,
            "evaluator": str(metadata["evaluator"]),
            "date": str(metadata.get("timestamp") or metadata.get("date") or ""),
            "core_digest": core_digest(frozen),
        }
        return AttachedCore(source, frozen, outcomes, tuple(gaps), participation)

    def _own_core(self) -> tuple[dict[str, Any], list[str]]:
        verdict = self.content
        if core_digest(verdict) != verdict["metadata"]["core_digest"]:
            problem = "was altered: its safety and capability results are not those of its metadata.core_digest"
            raise ConfigError(f"{self.option} {self.path}", problem, "restore it from a copy")
        frozen = {key: verdict[key] for key in CORE_KEYS if key in verdict}
        return frozen, list(verdict["metadata"]["evaluation_mode"]["incomplete_because"])

    def _outcomes(self, profile: Profile) -> tuple[CoreOutcome, ...]:
        known = {bound.scenario.id: bound.scenario for bound in profile.scenarios}
        details = (one for one in self.content["scenario_details"] if one["scenario_id"] in known)
        ran = [(known[one["scenario_id"]], one) for one in details if one.get("status") != NOT_APPLICABLE]
        return tuple(
            CoreOutcome(
                scenario.id, scenario.archetype, scenario.classification, one.get("status"), _score(one, scenario)
            )
            for scenario, one in ran
        )


def _score(detail: Mapping[str, Any], scenario: Any) -> float | None:
    score = detail.get("score")
    return float(score) if scenario.classification is Classification.CAPABILITY and score is not None else None


def _cell(detail: Mapping[str, Any]) -> tuple[str, str | None, Surface | None]:
    surface = detail.get("surface")
    return str(detail["archetype"]), detail.get("technique"), Surface(surface) if surface else None
