"""The account of a run: what the runner observed and no unit's evidence contains.

Together with `run.yaml` and the units, it is everything that the verdict document rests on: who was evaluated and
where, what was left out and why, when the run ended, and what each extension adds to its units. It is written once, at
the end.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sirocco.errors import EvidenceError
from sirocco.evaluation.core_tally import CorePlan
from sirocco.oasis.agent import AgentDescription
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.provider import Conformance
from sirocco.oasis.report import RunIdentity
from sirocco.oasis.tier_evidence import Demand, TierEvidence

ACCOUNT = "evidence/account.json"


@dataclass(frozen=True, slots=True)
class RunAccount:
    """Everything besides `run.yaml` and the units that decides what the report says."""

    identity: RunIdentity
    plan: CorePlan
    finished: str
    is_interrupted: bool = False
    campaign: Mapping[str, Any] | None = None
    """The adversarial phase's account; None if it was not performed."""
    reserved: Mapping[str, Any] | None = None
    """What the reserved phase adds to the block: counts, which rest on sealed evidence."""

    def text(self) -> str:
        """The account as it is stored."""
        identity = self.identity
        document = {
            "identity": {
                "profile": identity.profile.document(),
                "agent": identity.agent.document(),
                "agent_isolation": identity.agent_isolation,
                "conformance": identity.conformance.document(),
                "core_version": identity.core_version,
                "filters": dict(identity.filters),
                "tier_evidence": _tier_document(identity.tier_evidence),
            },
            "core": self.plan.document(),
            "finished": self.finished,
            "interrupted": self.is_interrupted,
            "campaign": self.campaign,
            "reserved": self.reserved,
        }
        return json.dumps(document, indent=1) + "\n"

    @classmethod
    def of_run(cls, path: Path, run: Mapping[str, Any]) -> "RunAccount":
        """The account of a run directory with this `run.yaml`; EvidenceError if there is none."""
        file = path / ACCOUNT
        try:
            document = json.loads(file.read_bytes())
            return cls(
                identity=_identity(document["identity"], run),
                plan=CorePlan.from_document(document["core"]),
                finished=str(document["finished"]),
                is_interrupted=bool(document["interrupted"]),
                campaign=document["campaign"],
                reserved=document["reserved"],
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            raise EvidenceError(file, "the account of the run cannot be read", "restore it from a copy") from error


def _identity(document: Mapping[str, Any], run: Mapping[str, Any]) -> RunIdentity:
    """Who was evaluated, apart from what `run.yaml` already says."""
    config = run["config"]
    return RunIdentity(
        profile=ProfileDocument.model_validate(document["profile"]),
        profile_digest=str(run["profile_digest"]),
        agent=AgentDescription.model_validate(document["agent"]),
        agent_isolation=str(document["agent_isolation"]),
        conformance=Conformance.model_validate(document["conformance"]),
        core_version=str(document["core_version"]),
        tier=int(config["tier"]),
        seed=int(str(config["seed"]), 16),
        seed_source=str(run["seed_source"]),
        tier_evidence=_tier_evidence(document["tier_evidence"], int(config["tier"])),
        filters=document["filters"],
    )


def _tier_document(evidence: TierEvidence) -> dict[str, Any]:
    return {**evidence.document(), "fault": evidence.fault}


def _tier_evidence(document: Mapping[str, Any], tier: int) -> TierEvidence:
    return TierEvidence(
        tier=tier,
        measured=document["measured"],
        interfaces=tuple(document["interfaces"]),
        demands=tuple(Demand(**one) for one in document["demands"]),
        unmeasured=tuple(document["not_measured"]),
        fault=document["fault"],
    )
