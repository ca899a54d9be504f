"""Listens to a run and records it: evidence as it arrives, the core before anything after it, the report at the end."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sirocco.errors import ConfigError, EvidenceError, ReservedError
from sirocco.evaluation.core_tally import CorePlan
from sirocco.evidence.account import RunAccount
from sirocco.evidence.artifacts import artifacts
from sirocco.evidence.attestation import ATTESTATION, attestation_text
from sirocco.evidence.run_directory import CORE, RunDirectory
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
from sirocco.oasis.report import CoreResult, RunIdentity
from sirocco.profiles.yaml_text import write_yaml
from sirocco.reports.document import core_document
from sirocco.wiring.clock import utc_now
from sirocco.wiring.run_report import FINDINGS, RunReport, is_page, merged_block

_IDENTITY = "identity"


class Recorder:
    """Writes one run directory from events; the directory must be open meanwhile."""

    def __init__(
        self,
        directory: RunDirectory,
        run: Mapping[str, Any],
        key: Ed25519PrivateKey | None = None,
        leaking_files: Callable[[Mapping[str, str]], Collection[str]] = lambda _: (),
    ) -> None:
        self.directory = directory
        self.run = run
        self.key = key
        self._leaking_files = leaking_files
        """Which of some files contain words of a reserved scenario; these are not written (AV-19)."""
        self.core: CoreResult | None = None
        self.frozen = ""
        self.extended = False
        self.interrupted = False

    def record_resumption(self) -> None:
        """Record that an interrupted run is being resumed."""
        self._record_event({"event": "run_resumed", "recorded_units": self.directory.units}, always=True)

    def handle(self, event: Event) -> None:
        """Record the event; whatever a unit's verdict rests on is on disk before the event arrives."""
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
        if summary := _summary(event):
            self._record_event(summary, always=isinstance(event, RunInterrupted))

    def finish(self, extensions: Sequence[Phase]) -> dict[str, Any]:
        """Write and sign the verdict and the report, as far as the run got; returns the verdict document."""
        if self.core is None:
            raise AssertionError("a run ends with a core, complete or not, or with an error")
        performed = extensions if self.extended else ()
        account = RunAccount(
            self.core.identity,
            CorePlan.from_core(self.core),
            utc_now(),
            self.interrupted,
            **{name: found for one in performed for name, found in one.account().items()},
        )
        block = merged_block((one.block() for one in performed), is_interrupted=self.interrupted) if performed else None
        self._keep_core()
        root = self.directory.write_index(account.text())
        report = RunReport.from_core(
            self.run, account, self.core, json.loads(self.frozen), block,
            evidence_root=root, uncounted=self.directory.uncounted_units(),
        )  # fmt: skip
        files = report.files(self.directory.path)
        self._withhold(files)
        for name, text in files.items():
            self.directory.write(name, text)
        for file in self.directory.path.glob("*.html"):
            # An earlier session may have needed more pages.
            if is_page(file.name) and file.name not in files:
                file.unlink()
        if report.has_artifacts:
            for name, text in artifacts(self.directory.path):
                self.directory.write(name, text)
        if block is None:
            # An earlier session may have come further than this one before it was interrupted.
            (self.directory.path / FINDINGS).unlink(missing_ok=True)
        if not self.interrupted:
            self._record_event({"event": "run_finished"})
        self._sign(report)
        if not self.interrupted:
            self.directory.finish(utc_now())
        return report.document

    def _withhold(self, files: Mapping[str, str]) -> None:
        """Write the permitted files and stop, if others contain words of a reserved scenario (AV-19)."""
        withheld = self._leaking_files(files)
        if withheld:
            for name in files.keys() - set(withheld):
                self.directory.write(name, files[name])
            problem = "withheld, because it contains words of a reserved scenario"
            remedy = "tell the profile's maintainer; nothing of it was written"
            raise ReservedError(", ".join(sorted(withheld)), problem, remedy)

    def _sign(self, report: RunReport) -> None:
        """Sign what is on disk now; none of it changes afterwards."""
        if self.key is not None:
            predicate = report.predicate(self.run, self.directory.units)
            self.directory.write(ATTESTATION, attestation_text(self.directory.path, predicate, self.key))

    def _keep_identity(self, identity: RunIdentity) -> None:
        """Record who is evaluated in what environment; a resumed run that finds a difference stops."""
        found = {
            "agent": identity.agent.document(),
            "agent_isolation": identity.agent_isolation,
            "provider": f"{identity.conformance.provider} {identity.conformance.provider_version}",
        }
        kept = self.directory.run_fact(_IDENTITY)
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
            problem = "the run was started with another agent or provider: " + "; ".join(differences)
            raise ConfigError(
                self.directory.path, problem, "resume it with the same configuration, or start a new run with --out"
            )

    def _freeze(self, core: CoreResult) -> None:
        """Write the core, once: what an earlier session froze is never overwritten (AV-12)."""
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
        """Restore the core, with a message, if someone changed the file while extensions ran (AV-12)."""
        file = self.directory.path / CORE
        text = write_yaml(json.loads(self.frozen)).encode()
        if self.extended and (not file.exists() or file.read_bytes() != text):
            self.directory.write(CORE, text.decode())
            self._record_event(
                {"event": "warned", "text": f"{CORE} was changed during the run; it is restored"}, always=True
            )

    def _record_event(self, event: Mapping[str, Any], *, always: bool = False) -> None:
        self.directory.append_event(utc_now(), event, always=always)


def _summary(event: Event) -> dict[str, Any] | None:
    """One line about an event; none for a reserved scenario, whose times alone would reveal durations (AV-21)."""
    match event:
        case RunStarted(identity):
            agent, profile = identity.agent.identity, identity.profile
            names = {"agent": f"{agent.name} {agent.version}", "profile": f"{profile.id} {profile.version}"}
            return {"event": "run_started", **names, "seed": f"{identity.seed:#x}"}
        case PhaseStarted(phase, units, note):
            return {"event": "phase_started", "phase": phase, "units": units, "note": note}
        case UnitFinished(kind, result):
            told = {"kind": kind, "unit": result.unit, "status": result.verdict.status}
            return {"event": "unit_finished", **told, "classification": str(result.bound.scenario.classification)}
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
        case ReservedFinished():
            return None
        case RunInterrupted():
            return {"event": "run_interrupted"}
        case Warned(text):
            return {"event": "warned", "text": text}
