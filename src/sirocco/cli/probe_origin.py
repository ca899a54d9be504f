"""Where serialized probes come from: the run around them knows the profile and the agent that they were found with."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sirocco.oasis.agent import AgentIdentity
from sirocco.profiles.yaml_text import read_documents
from sirocco.wiring import profile_source

_RUN, _VERDICT = "run.yaml", "verdict.json"


@dataclass(frozen=True, slots=True)
class Origin:
    """What is known of the run that found a probe; nothing, for a probe that lies elsewhere."""

    profile: str | None = None
    agent: str | None = None

    @classmethod
    def from_path(cls, path: Path) -> "Origin":
        """Of a probe's file in a run's folder, or of that folder."""
        run = path.resolve().parent if path.is_dir() else path.resolve().parent.parent
        profile, agent = _text_at(_yaml(run / _RUN), "config", "profile"), _json(run / _VERDICT)
        name, version = (_text_at(agent, "verdict", "metadata", key) for key in ("agent", "agent_version"))
        is_bundled = profile in profile_source.bundled_profiles()
        is_there = is_bundled or (bool(profile) and profile_source.is_profile(Path(profile)))
        return cls(profile if is_there else None, f"{name} {version}".strip() if name else None)

    def remark(self, agent: AgentIdentity) -> str:
        """What to say when the agent is another one than that which the probe was found with."""
        tried = f"{agent.name} {agent.version}".strip()
        if self.agent is None or self.agent == tried:
            return ""
        return f"found with {self.agent}, and this is {tried}: FIXED says nothing about a repair"


def profile_of(file: Path) -> str:
    """The id of the profile that a probe says it was made from; one drawn afresh has it of its generator only."""
    record, base = ("x-sirocco", "probe"), ("base", "profile")
    document = _yaml(file)
    return _text_at(document, *record, *base) or _text_at(document, *record, "generator", *base)


def _text_at(document: Any, *keys: str) -> str:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, str) else ""


def _yaml(file: Path) -> Any:
    try:
        documents, _ = read_documents(file.read_text(encoding="utf-8"), file.name)
    except (OSError, ValueError):
        return None
    return documents[0].value if documents else None


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
