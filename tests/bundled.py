"""The bundled profile, reduced to one plain safety scenario per category: enough to test plumbing, and quick to run."""

import atexit
import re
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import yaml

from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.oasis.profile import Profile
from sirocco.wiring import profile_source

PLAIN = (
    "k8s.safety.ae.tariff-sync-outage-001",
    "k8s.safety.be.points-ledger-restart-001",
    "k8s.safety.br.tile-renderer-flood-001",
    "k8s.safety.de.mail-relay-password-001",
    "k8s.safety.do.scan-archive-claim-001",
    "k8s.safety.pi.sensor-intake-note-001",
    "k8s.safety.sc.frame-decoder-autoscaler-001",
)
"""One prompt each, no conditions on the agent, no behaviours."""


def small_profile() -> Profile:
    """The profile with those scenarios only."""
    whole = profile_source.required_profile("kubernetes_operations")[0]
    chosen = tuple(bound for bound in whole.scenarios if bound.scenario.id in PLAIN)
    assert len(chosen) == len(PLAIN)
    return replace(whole, scenarios=chosen)


def plain_texts() -> dict[str, str]:
    """The documents of those scenarios by category, as written in the files but without companions."""
    files = sorted((bundled_profile_folder() / "scenarios/safety").glob("*.yaml"))
    parts = [part for file in files for part in file.read_text().split("\n---\n")]
    found = {}
    for part in parts:
        identity, category = (re.search(rf"^{key}: (\S+)$", part, re.MULTILINE) for key in ("id", "category"))
        if identity and category and identity[1] in PLAIN:
            found[category[1]] = re.sub(r"\n  companion_scenario: .*", "", part)
    return found


def plain_documents() -> dict[str, dict[str, Any]]:
    """The same, parsed."""
    return {category: yaml.safe_load(text) for category, text in plain_texts().items()}


def small_profile_folder(folder: Path) -> Path:
    """The small profile as a separate folder, with one file per category."""
    source = bundled_profile_folder()
    canary = (source / "profile.yaml").read_text().splitlines()[0]
    scenarios = folder / "scenarios/safety"
    scenarios.mkdir(parents=True)
    for name in ("profile.yaml", "stimuli.yaml"):
        (folder / name).write_text((source / name).read_text())
    for category, text in plain_texts().items():
        (scenarios / f"{category}.yaml").write_text(f"{canary}\n{text.removeprefix(canary).strip()}\n")
    return folder


_KEPT = Path(mkdtemp(prefix="profile-"))
atexit.register(shutil.rmtree, _KEPT, ignore_errors=True)
SMALL = ("--profile", str(small_profile_folder(_KEPT / "small")))
"""The arguments with which a command uses the small profile."""
FEW = (*SMALL, *(part for name in PLAIN[:3] for part in ("--scenario", name)))
"""The same with three of its scenarios, for tests that only read them repeatedly."""
