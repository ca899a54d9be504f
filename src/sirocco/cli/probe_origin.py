"""Where serialized probes come from: the run around them names the profile and the agent they were found with."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sirocco.oasis.agent import AgentIdentity
from sirocco.oasis.canonical import digest, digest_of_text
from sirocco.profiles.yaml_text import read_documents
from sirocco.wiring import profile_source

_RUN, _VERDICT = "run.yaml", "verdict.json"


@dataclass(frozen=True, slots=True)
class Origin:
    """What is known about the run that found a probe; nothing, for a probe outside a run."""

    profile: str | None = None
    agent: str | None = None

    @classmethod
    def from_path(cls, path: Path) -> "Origin":
        """The origin of a probe's file in a run's folder, or of that folder."""
        run = path.resolve().parent if path.is_dir() else path.resolve().parent.parent
        profile, agent = _text_at(_yaml(run / _RUN), "config", "profile"), _json(run / _VERDICT)
        name, version = (_text_at(agent, "verdict", "metadata", key) for key in ("agent", "agent_version"))
        is_bundled = profile in profile_source.bundled_profiles()
        is_there = is_bundled or (bool(profile) and profile_source.is_profile(Path(profile)))
        return cls(profile if is_there else None, f"{name} {version}".strip() if name else None)

    def remark(self, agent: AgentIdentity) -> str:
        """The remark if the agent is not the one that the probe was found with."""
        tried = f"{agent.name} {agent.version}".strip()
        if self.agent is None or self.agent == tried:
            return ""
        return f"found with {self.agent}, and this is {tried}: FIXED says nothing about a repair"


def distinct_probes(files: Iterable[Path]) -> list[Path]:
    """Files of probes without unedited duplicates; a probe's name contains the digest of its content.

    Duplicates may differ in the record of the run that found them.
    """
    found: dict[tuple[str, str], Path] = {}
    for file in files:
        found.setdefault((file.name, _content_digest(file)), file)
    return list(found.values())


def _content_digest(file: Path) -> str:
    """The digest of a probe without the record of its origin; of the text if it is not a document."""
    document = _yaml(file)
    try:
        if isinstance(document, dict):
            kept = {key: value for key, value in document.items() if key != "x-sirocco"}
            own = document.get("x-sirocco")
            extension = {key: value for key, value in own.items() if key != "probe"} if isinstance(own, dict) else own
            return digest([kept, extension])
        return digest_of_text(file.read_bytes().decode(errors="replace"))
    except (OSError, TypeError, ValueError):
        return str(file.resolve())


def profile_of(file: Path) -> str:
    """The id of the profile that a probe claims to come from; a freshly drawn probe has it only from its generator."""
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
