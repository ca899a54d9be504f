"""A maintainer and an evaluator who share only public files, and scenarios that they withhold from others."""

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from bundled import plain_documents, small_profile_folder
from commands import Finished, sirocco

CATEGORIES = ("destructive-operation-safeguarding", "data-exfiltration-prevention")
NO_PROBES = ("--probes", "0", "--twins", "0", "--reruns", "0")
"""Of the third phase, only reserved scenarios."""

_SECLUDES = "import sys; from sirocco.reserved.seclusion import seclude_process; sys.exit(not seclude_process())"


@cache
def has_private_place() -> bool:
    """Whether processes can have private files here, without which no program may see a reserved scenario."""
    return subprocess.run([sys.executable, "-c", _SECLUDES], check=False).returncode == 0


needs_private_place = pytest.mark.skipif(
    not has_private_place(), reason="neither root nor users may make mount namespaces here"
)


def reserved_document(category: str, name: str, note: str = "") -> dict[str, Any]:
    """A scenario of our own, derived from the published one of its category; its prompt contains the note."""
    document = plain_documents()[category]
    document["id"] = f"withheld.{name}"
    document["intent"] = f"Shows in a withheld form, called {name}, what the published scenario shows."
    for stimulus in document["stimuli"]:
        if stimulus["type"] == "operator_prompt":
            stimulus["value"] += note
    return document


def write_scenarios(folder: Path, *documents: dict[str, Any]) -> Path:
    """Write each document to a separate file."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, document in enumerate(documents):
        (folder / f"{number}.yaml").write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
    return folder


def made_key(out: Path, role: str = "evaluator") -> dict[str, str]:
    """The public halves of a new key."""
    done = sirocco("reserved", "keygen", "--role", role, "--out", out, "--format", "json")
    assert done.code == 0, done.stderr
    public: dict[str, str] = json.loads(done.stdout)
    return public


@dataclass(frozen=True)
class Parties:
    """Two homes, and the public profile folder."""

    profile: Path
    maintainer: Path
    evaluator: Path
    recipient: str

    @classmethod
    def in_folder(cls, folder: Path) -> "Parties":
        maintainer, evaluator = folder / "maintainer", folder / "evaluator"
        maintainer.mkdir(parents=True)
        evaluator.mkdir()
        public = made_key(maintainer / "m.key", "maintainer")
        recipient = made_key(evaluator / "e.key")["recipient"]
        profile = small_profile_folder(folder / "public")
        parties = cls(profile, maintainer, evaluator, recipient)
        parties.announce(maintainers=[public["maintainer"]], contact="held@example.org", history="history.jsonl")
        return parties

    @property
    def key(self) -> Path:
        return self.evaluator / "e.key"

    def announce(self, **policy: Any) -> None:
        """Extend the profile's section on reserved scenarios."""
        file = self.profile / "profile.yaml"
        canary, _, rest = file.read_text().partition("\n")
        document = yaml.safe_load(rest)
        document["reserved"] = document["reserved"] | policy
        file.write_text(canary + "\n" + yaml.safe_dump(document, sort_keys=False, allow_unicode=True))

    def maintain(self, command: str, *arguments: object) -> Finished:
        """Run a command that only the maintainer can run."""
        return sirocco("reserved", command, *arguments, "--profile", self.profile, "--key", self.maintainer / "m.key")

    def seal(self, *documents: dict[str, Any], name: str = "b1.json") -> Path:
        """Seal the first edition, publish its manifest, and hand the bundle to the evaluator."""
        folder = write_scenarios(self.maintainer / "withheld", *documents)
        out = self.maintainer / name
        done = self.maintain("seal", folder, "--recipient", self.recipient, "--out", out)
        assert done.code == 0, done.stderr
        return self.distribute(out)

    def distribute(self, bundle: Path) -> Path:
        """Put the manifest into the profile, and the bundle into the evaluator's home."""
        manifest = bundle.with_name(f"{bundle.stem}.manifest.yaml")
        (self.profile / "manifest.yaml").write_bytes(manifest.read_bytes())
        self.announce(manifest="manifest.yaml")
        copy = self.evaluator / bundle.name
        copy.write_bytes(bundle.read_bytes())
        return copy

    def run(self, bundle: Path, *arguments: object, agent: str = "ref:careful", out: str = "run") -> Finished:
        """The evaluator's run, with a core of one category."""
        command = ("run", "--agent", agent, *NO_PROBES, "--category", CATEGORIES[0], "--out", self.evaluator / out)
        return sirocco(*command, "--profile", self.profile, "--reserved", bundle, "--identity", self.key, *arguments)
