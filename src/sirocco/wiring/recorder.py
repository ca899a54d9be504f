"""Listens to a run and keeps it: evidence as it comes, the core before anything follows it, the report at the end."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sirocco.evidence.run_directory import RunDirectory
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.event import (
    CoreFrozen,
    DraftRejected,
    Event,
    PhaseStarted,
    ProbeSerialized,
    ReservedFinished,
    RunStarted,
    UnitFinished,
    Warned,
)
from sirocco.oasis.phase import Phase
from sirocco.oasis.report import CoreResult
from sirocco.profiles.yaml_text import write_yaml
from sirocco.reports.document import core_document, verdict_document
from sirocco.reports.html import html_page
from sirocco.wiring.clock import utc_now

EVALUATOR = "sirocco"


class Recorder:
    """Writes one run directory from events."""

    def __init__(self, directory: RunDirectory, run: Mapping[str, Any]) -> None:
        self.directory = directory
        self.run = run
        self.core: CoreResult | None = None
        self.frozen = ""
        self.extended = False
        directory.write("run.yaml", write_yaml(run))

    @contextmanager
    def open(self) -> Iterator[None]:
        """While events come; however it ends, the index covers all evidence that was recorded."""
        try:
            yield
        finally:
            self.directory.write_index()

    def handle(self, event: Event) -> None:
        """Keep what the event says; returns only when it is on disk."""
        match event:
            case UnitFinished(kind, result):
                self.directory.record(kind, result)
            case CoreFrozen(core):
                self.core = core
                self.frozen = json.dumps(core_document(core))
                self.directory.write("core.yaml", write_yaml(core_document(core)))
                self.directory.write_index()
            case ProbeSerialized(name, document):
                self.directory.write(name, document)
            case ReservedFinished(label, _, sealed):
                self.directory.write(f"evidence/{label}.age", sealed)
            case PhaseStarted("adversarial" | "reserved"):
                self.extended = True
            case _:
                pass
        self.directory.append("events.jsonl", canonical_json({"time": utc_now()} | _summary(event)))

    def finish(self, extensions: Sequence[Phase]) -> dict[str, Any]:
        """Write the verdict and the report; give back the verdict document."""
        if self.core is None:
            raise AssertionError("a run ends with a frozen core or with an error")
        block: dict[str, Any] | None = None
        if self.extended:
            block = {}
            for phase in extensions:
                block |= phase.block()
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
        self.directory.write("verdict.json", json.dumps(document, indent=1, ensure_ascii=False) + "\n")
        self.directory.write("report.html", html_page(document["verdict"]))
        return document


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
        case ProbeSerialized(name, _):
            return {"event": "probe_serialized", "file": name}
        case ReservedFinished(label, outcome, _):
            return {"event": "reserved_finished", "unit": label, "outcome": outcome}
        case Warned(text):
            return {"event": "warned", "text": text}
