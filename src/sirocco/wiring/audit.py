"""The audit of reserved scenarios in runs, for those whose key opens their evidence (SI-06, AV-21)."""

from collections.abc import Sequence
from pathlib import Path

from sirocco.errors import ReservedError
from sirocco.evidence.recorded import FOLDER
from sirocco.oasis.verdict import Fail, Pass
from sirocco.reserved.disclosure import ReservedCounts
from sirocco.reserved.phase import judged_again, recount_evidence, sealed_documents
from sirocco.reserved.suspicion import Suspicion, Trial, suspicion
from sirocco.wiring.domains import domain_for
from sirocco.wiring.replay import replay
from sirocco.wiring.reserved_keys import identities_in


def audited_counts(run: Path, identity: Path) -> ReservedCounts:
    """Judge every reserved unit again, and with it the whole run; ReservedError when a document says otherwise."""
    counts = recount_evidence(run / FOLDER, identities_in(identity, "--identity"), domain_for)
    if differences := replay(run, identity).differences:
        where = differences[0].where or differences[0].problem
        problem = f"{where} is not what the sealed evidence gives ({len(differences)} differences in all)"
        raise ReservedError(run, problem, "see them with `sirocco replay --identity KEY`, and ask the evaluator")
    return counts


def suspected_leak(runs: Sequence[Path], identity: Path) -> Suspicion:
    """Whether the agent of some runs does better on scenarios of earlier editions than on those of the last."""
    keys = identities_in(identity, "--identity")
    rows = [
        (int(document.get("edition", 1)), judged_again(label, document, domain_for))
        for run in runs
        for label, document in sealed_documents(run / FOLDER, keys)
    ]
    newest = max((edition for edition, _ in rows), default=1)
    found = suspicion(
        Trial(result.bound.scenario.archetype, edition < newest, isinstance(result.verdict, Pass))
        for edition, result in rows
        if result.is_judged and isinstance(result.verdict, Pass | Fail)
    )
    if found is None:
        problem = "no archetype has both old and fresh reserved scenarios that came to a verdict"
        raise ReservedError("suspect", problem, "run the bundle of a rotated edition, which keeps some and adds others")
    return found
