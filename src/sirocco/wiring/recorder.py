"""Listens to a run and keeps it: evidence as it comes, the core before anything follows it, the report at the end."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sirocco.errors import ConfigError, EvidenceError
from sirocco.evaluation.aggregation import ScoringRules
from sirocco.evidence.run_directory import CORE, VERDICT, RunDirectory
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.event import (
    ClaimOverruled,
    CoreFrozen,
    DraftRejected,
    Event,
    PhaseStarted,
    ProbeSerialized,
    ReservedFinished,
    RunInterrupted,
    RunStarted,
    UnitFinished,
    Warned,
)
from sirocco.oasis.phase import Phase
from sirocco.oasis.report import INTERRUPTED, CoreResult, RunIdentity
from sirocco.profiles.yaml_text import write_yaml
from sirocco.reports.document import core_document, verdict_document
from sirocco.reports.html import html_page
from sirocco.reports.junit import junit_xml
from sirocco.reports.page import units_to_show
from sirocco.wiring.clock import utc_now
from sirocco.wiring.stories import stories

EVALUATOR = "sirocco"
_IDENTITY = "identity"


class Recorder:
    """Writes one run directory from events; the directory is open while they come."""

    def __init__(self, directory: RunDirectory, run: Mapping[str, Any]) -> None:
        self.directory = directory
        self.run = run
        self.core: CoreResult | None = None
        self.frozen = ""
        self.extended = False
        self.interrupted = False

    def resumed(self) -> None:
        """Say that a run goes on which was broken off."""
        self._happened({"event": "run_resumed", "recorded_units": self.directory.units}, always=True)

    def handle(self, event: Event) -> None:
        """Keep what the event says; what a unit's verdict rests on is on disk before the event comes."""
        match event:
            case RunStarted(identity):
                self._keep_identity(identity)
            case UnitFinished(kind, result):
                self.directory.count(kind, result)
            case CoreFrozen(core):
                self._freeze(core)
            case RunInterrupted(core):
                self.interrupted = True
                self.core = replace(core, interrupted=True)
                self.frozen = self.frozen or json.dumps(core_document(core))
            case ProbeSerialized(name, document):
                self.directory.write(name, document)
            case PhaseStarted("adversarial" | "reserved"):
                self.extended = True
            case _:
                pass
        self._happened(_summary(event), always=isinstance(event, RunInterrupted))

    def finish(self, extensions: Sequence[Phase]) -> dict[str, Any]:
        """Write the verdict and the report, as far as the run came; give back the verdict document."""
        if self.core is None:
            raise AssertionError("a run ends with a core, complete or not, or with an error")
        block = self._block(extensions)
        self._keep_core()
        metadata = {
            "evaluator": EVALUATOR,
            "timestamp": self.run["started"],
            "finished": utc_now(),
            "config_hash": self.run["config_hash"],
            "evidence_root": self.directory.write_index(),
        }
        document = verdict_document(self.core, json.loads(self.frozen), metadata, block)
        if block is not None:
            self.directory.write("adversarial/findings.yaml", write_yaml({"findings": block["findings"]}))
        self.directory.write("verdict.yaml", write_yaml(document))
        self.directory.write(VERDICT, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
        told = stories(self.directory.path, units_to_show(document["verdict"]))
        self.directory.write("report.html", html_page(document["verdict"], told))
        self.directory.write("junit.xml", junit_xml(document["verdict"]))
        if not self.interrupted:
            self._happened({"event": "run_finished"})
            self.directory.finish(utc_now())
        return document

    def _block(self, extensions: Sequence[Phase]) -> dict[str, Any] | None:
        if not self.extended:
            return None
        block: dict[str, Any] = {}
        for phase in extensions:
            block |= phase.block()
        if self.interrupted and block["complete"]:
            block |= {"complete": False, "incomplete_reason": INTERRUPTED}
        return block

    def _keep_identity(self, identity: RunIdentity) -> None:
        """Hold on to who is evaluated in what; a resumed run that finds somebody else there goes no further."""
        self.directory.rules = ScoringRules.of(identity.profile)
        found = {
            "agent": identity.agent.document(),
            "agent_isolation": identity.agent_isolation,
            "provider": f"{identity.conformance.provider} {identity.conformance.provider_version}",
        }
        kept = self.directory.noted(_IDENTITY)
        if kept is None:
            self.directory.note(_IDENTITY, canonical_json(found))
            return
        then = json.loads(kept)
        differences = [
            f"{name.replace('_', ' ')} was {canonical_json(then.get(name))}, now {canonical_json(value)}"
            for name, value in found.items()
            if canonical_json(then.get(name)) != canonical_json(value)
        ]
        if differences:
            problem = "the run was begun with another agent or provider: " + "; ".join(differences)
            raise ConfigError(self.directory.path, problem, "resume it with the same, or start another run with --out")

    def _freeze(self, core: CoreResult) -> None:
        """Write the core, once: what an earlier session froze stays as it is (AV-12)."""
        document = core_document(core)
        self.core, self.frozen = core, json.dumps(document)
        file = self.directory.path / CORE
        text = write_yaml(document)
        if not file.exists():
            self.directory.write(CORE, text)
        elif file.read_bytes() != text.encode():
            problem = "it is not what the recorded evidence gives"
            raise EvidenceError(file, problem, "use the version that began the run, or restore the file")

    def _keep_core(self) -> None:
        """Put the core back where somebody changed the file while extensions ran, and say so (AV-12)."""
        file = self.directory.path / CORE
        text = write_yaml(json.loads(self.frozen)).encode()
        if self.extended and (not file.exists() or file.read_bytes() != text):
            self.directory.write(CORE, text.decode())
            self._happened(
                {"event": "warned", "text": f"{CORE} was changed during the run; it is restored"}, always=True
            )

    def _happened(self, event: Mapping[str, Any], *, always: bool = False) -> None:
        self.directory.append_event(utc_now(), event, always=always)


def _summary(event: Event) -> dict[str, Any]:
    """One line about an event; nothing of a reserved scenario but its label and outcome."""
    match event:
        case RunStarted(identity):
            agent, profile = identity.agent.identity, identity.profile
            names = {"agent": f"{agent.name} {agent.version}", "profile": f"{profile.id} {profile.version}"}
            return {"event": "run_started", **names, "seed": f"{identity.seed:#x}"}
        case PhaseStarted(phase, units, note):
            return {"event": "phase_started", "phase": phase, "units": units, "note": note}
        case UnitFinished(kind, result):
            return {"event": "unit_finished", "kind": kind, "unit": result.unit, "status": result.verdict.status}
        case CoreFrozen(core):
            return {"event": "core_frozen", "safety": core.safety.status if core.safety else None}
        case DraftRejected(index, archetype, reason, detail):
            return {
                "event": "draft_rejected",
                "index": index,
                "archetype": archetype,
                "reason": reason,
                "detail": detail,
            }
        case ClaimOverruled(text):
            return {"event": "claim_overruled", "text": text}
        case ProbeSerialized(name, _):
            return {"event": "probe_serialized", "file": name}
        case ReservedFinished(label, outcome):
            return {"event": "reserved_finished", "unit": label, "outcome": outcome}
        case RunInterrupted():
            return {"event": "run_interrupted"}
        case Warned(text):
            return {"event": "warned", "text": text}
