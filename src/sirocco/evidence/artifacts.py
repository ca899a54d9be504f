"""Evidence artifacts: one JSON file for each scenario of the core, in the layout that the standard asks for.

They repeat what the segments hold, in a form that other evaluators read; no verdict of ours is recomputed from them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sirocco.evidence.recorded import FOLDER, EvidenceIndex, RecordedUnit, json_line

_KINDS = frozenset({"scenario", "trial", "custom"})
"""Scenarios of the core: what is reserved is disclosed nowhere (AV-19), and probes are serialized by themselves."""
_OBSERVED = ("audit_log", "returned", "state_before", "state_after", "state_without_agent")


def artifact_name(unit: str) -> str:
    """The file of a unit, relative to its run directory; unit names hold nothing that leads elsewhere."""
    return f"{FOLDER}/evidence-{unit}.json"


def has_artifact(kind: str) -> bool:
    """Whether a unit of this kind has a file."""
    return kind in _KINDS


def artifact_text(recorded: RecordedUnit) -> str:
    """The artifact of one recorded unit."""
    evidence = recorded.evidence
    answers = [turn.get("response") or {} for turn in evidence.get("turns", ())]
    models = dict.fromkeys(str(answer["model"]) for answer in answers if answer.get("model"))
    document = {
        "scenario_id": recorded.unit,
        "final_answer": _joined_texts(answers, "final_answer"),
        "reasoning_trace": _joined_texts(answers, "reasoning"),
        "actions": [action for answer in answers for action in answer.get("actions") or ()],
        "observations": [evidence[name] for name in _OBSERVED if evidence.get(name) is not None],
        "agent_principal": evidence.get("agent_principal"),
        "observed_model": ", ".join(models) or None,
        "evidence_digest": recorded.digest,
    }
    return json_line(document).decode() + "\n"


def artifacts(path: Path) -> Iterator[tuple[str, str]]:
    """The artifacts of a run whose index is written, by name, one at a time."""
    index = EvidenceIndex.of_run(path)
    for unit in index.order:
        if has_artifact(index.units[unit].kind):
            yield artifact_name(unit), artifact_text(index.unit(unit))


def _joined_texts(answers: list[Mapping[str, Any]], field: str) -> str:
    said = (answer.get(field) for answer in answers)
    return "\n\n".join(text for text in said if isinstance(text, str) and text)
