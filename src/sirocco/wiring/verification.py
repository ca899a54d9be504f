"""Verifying a run: the signature under a known key, and the chain from it down to every recorded unit (SI-10)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sirocco.errors import EvidenceError
from sirocco.evidence.attestation import ATTESTATION, Attestation, key_id, refuse_odd_files
from sirocco.evidence.merkle import merkle_root
from sirocco.evidence.recorded import EvidenceIndex
from sirocco.evidence.replay import ledger_differences
from sirocco.evidence.transparency_log import logged_time
from sirocco.wiring.evaluator_key import public_key

_SAID = frozenset(
    {
        "agent", "profile", "seed", "configuration", "started", "finished", "evaluator", "safety", "complete", "units",
        "evidence_root",
    }
)  # fmt: skip
"""The fields of every statement about a run."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What was signed, and every way in which the run differs from it."""

    key: str
    problems: tuple[str, ...]
    predicate: dict[str, Any] = field(default_factory=dict)
    logged: str | None = None

    def document(self) -> dict[str, Any]:
        """The outcome as plain data."""
        return {
            "authentic": not self.problems,
            "key": self.key,
            "problems": list(self.problems),
            "logged": self.logged,
            "statement": self.predicate,
        }

    def statement_lines(self) -> Iterator[str]:
        """What the evaluator vouches for, in a few lines."""
        said = self.predicate
        agent, profile = said["agent"], said["profile"]
        yield f"agent      {agent['name']} {agent['version']} (isolation {agent['isolation']})"
        yield f"profile    {profile['id']} {profile['version']}  {profile['digest']}"
        yield f"run        {said['started']} to {said['finished']}, seed {said['seed']}"
        yield f"verdict    safety {said['safety']}{'' if said['complete'] else ', incomplete'}"
        yield f"evidence   {said['units']} units, root {said['evidence_root']}"
        yield f"evaluator  {said['evaluator']}  {self.key}"
        if self.logged:
            yield f"logged     {self.logged}"


def verification(path: Path, key_file: Path, log: Path | None = None) -> Verification:
    """Check the signature with the key in a file, then everything that depends on it."""
    key = public_key(key_file)
    refuse_odd_files(path)
    attestation = Attestation.of_run(path)
    if attestation is None:
        return Verification(key_id(key), (f"{path} holds no {ATTESTATION}: the run is not signed",))
    problems = list(_signature_problems(attestation, key_id(key)))
    problems += [f"{name} {what}" for name, what in attestation.changed_files(path)]
    problems += _chain_problems(path, attestation)
    if missing := sorted(_SAID - attestation.predicate.keys()):
        problems.append(f"the statement does not say {', '.join(missing)}")
    logged = logged_time(log, attestation) if log else None
    if log is not None and logged is None:
        problems.append(f"{log} does not have the statement of this run")
    return Verification(key_id(key), tuple(problems), dict(attestation.predicate), logged)


def _signature_problems(attestation: Attestation, wanted: str) -> Iterator[str]:
    if attestation.key_id != wanted:
        yield f"another key signed it: {attestation.key_id}, not {wanted}"
    if not attestation.is_signed:
        yield "the signature is not one over this statement: the statement was altered"


def _chain_problems(path: Path, attestation: Attestation) -> Iterator[str]:
    """Problems between the signed root and the records themselves."""
    try:
        index = EvidenceIndex.of_run(path)
    except EvidenceError as error:
        yield str(error)
        return
    digests = dict(index.uncounted)
    for unit in index.order:
        try:
            digests[unit] = index.unit(unit).digest
        except EvidenceError as error:
            yield f"{unit}: its evidence cannot be read: {error.problem}"
    for difference in ledger_differences(path, index):
        yield f"{difference.unit if difference.unit != '*' else difference.where}: {difference.problem}"
    if merkle_root(digests) != attestation.predicate.get("evidence_root"):
        yield "the Merkle root over the recorded units is not the signed one"
