"""Every derived file of a run: written when the run ends, and made again by replay (SI-07).

Everything in a report is decided here from `run.yaml`, the account and the units, so that replay can check for each
field whether it follows.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sirocco.evidence.account import RunAccount
from sirocco.evidence.artifacts import artifact_name
from sirocco.evidence.run_directory import CORE, VERDICT
from sirocco.oasis.report import INTERRUPTED, CoreResult
from sirocco.profiles.yaml_text import write_yaml
from sirocco.reports.document import verdict_document
from sirocco.reports.findings import Rerun
from sirocco.reports.html import html_pages
from sirocco.reports.junit import junit_xml
from sirocco.reports.page import units_to_show
from sirocco.wiring.config import EVALUATOR
from sirocco.wiring.stories import stories

FINDINGS = "adversarial/findings.yaml"
VERDICT_YAML = "verdict.yaml"
PAGE = "report.html"
JUNIT = "junit.xml"


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run to be reported: the frozen core, the verdict document around it, and its evaluator."""

    frozen: Mapping[str, Any]
    document: dict[str, Any]
    is_frozen: bool = True
    """Whether the core was completed."""
    has_artifacts: bool = False
    """Whether each scenario's evidence is also in a separate file."""
    rerun: Rerun = field(default_factory=Rerun)
    """What the commands on the page need to run a probe again."""

    @classmethod
    def from_core(
        cls,
        run: Mapping[str, Any],
        account: RunAccount,
        core: CoreResult,
        frozen: Mapping[str, Any],
        block: Mapping[str, Any] | None,
        *,
        evidence_root: str,
        uncounted: Iterable[str],
    ) -> "RunReport":
        """The report of a run around the `frozen` core; of an interrupted run, as far as it got."""
        metadata = {
            "evaluator": run.get("config", {}).get("evaluator", EVALUATOR),
            "evaluation_implementation": {"name": "sirocco", "version": run["sirocco"]},
            "timestamp": run["started"],
            "finished": account.finished,
            "duration": seconds_between(run["started"], account.finished),
            "config_hash": run["config_hash"],
            "evidence_root": evidence_root,
        }
        if left := list(uncounted):
            metadata["uncounted_units"] = left
        whole = replace(core, interrupted=core.interrupted or account.is_interrupted)
        document = verdict_document(whole, frozen, metadata, None if block is None else _with_commands(block, run))
        has_artifacts = bool(run.get("config", {}).get("artifacts", False))
        for result, detail in zip(core.results, document["verdict"]["scenario_details"], strict=True):
            moments = result.session.moments
            detail["non_scoring_metadata"]["duration"] = seconds_between(moments[0], moments[-1]) if moments else None
            if has_artifacts:
                detail["evidence_artifact"] = artifact_name(detail["scenario_id"])
        rerun = Rerun.from_run(run, str(run.get("directory", "")))
        return cls(frozen, document, core.interrupted_in is None, has_artifacts, rerun)

    @property
    def verdict(self) -> dict[str, Any]:
        """The value under the top key."""
        found: dict[str, Any] = self.document["verdict"]
        return found

    def files(self, path: Path, *, refuse_altered: bool = True) -> dict[str, str]:
        """The report's files by name; the page shows what the evidence in `path` says about single units."""
        files = {CORE: write_yaml(self.frozen)} if self.is_frozen else {}
        if (block := self.verdict.get("adversarial_verification")) is not None:
            files[FINDINGS] = write_yaml({"findings": block["findings"]})
        files[VERDICT_YAML] = write_yaml(self.document)
        files[VERDICT] = json.dumps(self.document, indent=1, ensure_ascii=False) + "\n"
        told = stories(path, units_to_show(self.verdict), refuse_altered=refuse_altered)
        files |= html_pages(self.verdict, told, self.rerun)
        files[JUNIT] = junit_xml(self.verdict)
        return files

    def predicate(self, run: Mapping[str, Any], units: int) -> dict[str, Any]:
        """What the evaluator signs in addition to the digests of all files (SI-10)."""
        verdict, metadata = self.verdict, self.verdict["metadata"]
        block = verdict.get("adversarial_verification") or {}
        return {
            "agent": {
                "name": metadata["agent"],
                "version": metadata["agent_version"],
                "configuration": metadata["agent_configuration"],
                "isolation": metadata["agent_isolation"],
            },
            "profile": {
                "id": metadata["domain_profile"],
                "version": metadata["domain_profile_version"],
                "digest": metadata["domain_profile_digest"],
            },
            "seed": metadata["seed"],
            "configuration": run["config"],
            "started": metadata["timestamp"],
            "finished": metadata["finished"],
            "evaluator": metadata["evaluator"],
            "sirocco": run["sirocco"],
            "safety": verdict["safety"],
            "complete": metadata["evaluation_mode"]["complete"] and block.get("complete", True),
            "core_digest": metadata["core_digest"],
            "evidence_root": metadata["evidence_root"],
            "units": units,
        }


def is_page(name: str) -> bool:
    """Whether a file of a run is one of the pages of its report; a large report has several."""
    return name == PAGE or (name.startswith(f"{PAGE.removesuffix('.html')}-") and name.endswith(".html"))


def _with_commands(block: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """The block with, for each finding, a command that runs its smallest probe again, typed in the run's directory."""
    rerun = Rerun.from_run(run)
    findings = [
        {**one, "replay": rerun.command(str(one.get("minimal") or one["probes"][0]))} for one in block["findings"]
    ]
    return {**block, "findings": findings}


def seconds_between(started: str, ended: str) -> float | None:
    """How long something took; None if a time cannot be parsed."""
    try:
        begun, over = (datetime.fromisoformat(moment) for moment in (started, ended))
    except ValueError:
        return None
    return max(round((over - begun).total_seconds(), 3), 0.0)


def merged_block(blocks: Iterable[Mapping[str, Any]], *, is_interrupted: bool) -> dict[str, Any]:
    """The adversarial block of all extensions together; an interrupted phase is not complete."""
    block: dict[str, Any] = {}
    for part in blocks:
        reasons = [one["incomplete_reason"] for one in (block, part) if one.get("incomplete_reason")]
        block |= part
        if reasons:
            block["incomplete_reason"] = "; ".join(dict.fromkeys(reasons))
    if is_interrupted and block["complete"]:
        block |= {"complete": False, "incomplete_reason": INTERRUPTED}
    return block
