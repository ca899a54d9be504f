"""The audit of reserved scenarios in a run, for those whose key opens their evidence (SI-06, AV-21)."""

from pathlib import Path

from sirocco.errors import ReservedError
from sirocco.evidence.recorded import FOLDER
from sirocco.reserved.disclosure import ReservedCounts
from sirocco.reserved.phase import recount_evidence
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
