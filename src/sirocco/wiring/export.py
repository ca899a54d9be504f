"""A redacted copy of a run for a certifier: without what the agent said and was given, but with the proofs.

The copy keeps the signed statement, which holds the digest of every file, and the index, which holds that of every
recorded unit. The recipient can thus tell that nothing in it was changed, and what was withheld.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from sirocco.errors import ConfigError
from sirocco.evidence.attestation import ATTESTATION, Attestation, key_id, refuse_odd_files
from sirocco.evidence.merkle import merkle_root
from sirocco.evidence.recorded import INDEX, EvidenceIndex
from sirocco.evidence.run_directory import CORE, VERDICT
from sirocco.wiring.evaluator_key import public_key

_KEPT = (VERDICT, "verdict.yaml", CORE, "junit.xml", ATTESTATION, INDEX)
_KEPT_FOLDER = "adversarial"


def export_run(run: Path, out: Path) -> tuple[list[str], list[str]]:
    """Copy what a certifier needs of a signed run; the files that were copied, and those that were withheld."""
    attestation = Attestation.of_run(run)
    if attestation is None or not attestation.is_signed:
        raise ConfigError(run, "the run is not signed", "evaluate again, or ask the run's evaluator")
    if altered := [f"{name} {what}" for name, what in attestation.changed_files(run)]:
        raise ConfigError(run, "; ".join(altered), "export the run as it was signed")
    if out.exists() and any(out.iterdir()):
        raise ConfigError(out, "is not empty", "name a folder that does not exist yet")
    names = sorted([*attestation.digests, ATTESTATION])
    kept = [name for name in names if name in _KEPT or Path(name).parent.as_posix() == _KEPT_FOLDER]
    for name in kept:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(run / name, out / name)
    return kept, [name for name in names if name not in kept]


def withheld_files(path: Path) -> list[str]:
    """The files that the statement names and a copy lacks."""
    attestation = Attestation.of_run(path)
    return [] if attestation is None else [name for name in sorted(attestation.digests) if not (path / name).is_file()]


def export_problems(path: Path, key_file: Path) -> Iterator[str]:
    """Why a copy is not what an evaluator signed; withheld files are not a problem."""
    refuse_odd_files(path)
    key, attestation = key_id(public_key(key_file)), Attestation.of_run(path)
    if attestation is None:
        yield f"{path} holds no {ATTESTATION}"
        return
    if attestation.key_id != key:
        yield f"another key signed it: {attestation.key_id}, not {key}"
    if not attestation.is_signed:
        yield "the signature is not one over this statement: the statement was altered"
    withheld = set(withheld_files(path))
    for name, what in attestation.changed_files(path):
        if name not in withheld:
            yield f"{name} {what}"
    for name in (VERDICT, INDEX):
        if name in withheld:
            yield f"{name} is missing, which every copy has"
    if INDEX in withheld:
        return
    index = EvidenceIndex.of_run(path)
    digests = {unit: entry.digest for unit, entry in index.units.items()} | dict(index.uncounted)
    if merkle_root(digests) != attestation.predicate.get("evidence_root"):
        yield "the Merkle root over the units of the index is not the signed one"
