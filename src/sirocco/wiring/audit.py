"""The audit of reserved scenarios in runs, for holders of a key that opens their evidence (SI-06, AV-21)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sirocco.errors import ReservedError
from sirocco.evidence.account import RunAccount
from sirocco.evidence.recorded import FOLDER
from sirocco.oasis.canonical import digest
from sirocco.oasis.verdict import Fail, Pass
from sirocco.reserved.disclosure import ReservedCounts
from sirocco.reserved.phase import CommittedRun, committed_run, judged_again, recount_evidence, sealed_documents
from sirocco.reserved.publication import Publication
from sirocco.reserved.suspicion import Suspicion, Trial, suspicion
from sirocco.wiring import profile_source
from sirocco.wiring.domains import domain_for
from sirocco.wiring.replay import replay
from sirocco.wiring.reserved_keys import identities_in
from sirocco.wiring.resume import StoredRun


def audited_counts(run: Path, identity: Path) -> ReservedCounts:
    """Judge every reserved unit again, and with them the whole run; ReservedError if a document disagrees."""
    counts = recount_evidence(run / FOLDER, identities_in(identity, "--identity"), domain_for)
    if differences := replay(run, identity).differences:
        where = differences[0].where or differences[0].problem
        problem = f"{where} is not what the sealed evidence gives ({len(differences)} differences in all)"
        raise ReservedError(run, problem, "see them with `sirocco replay --identity KEY`, and ask the evaluator")
    return counts


def audited_commitments(run: Path, identity: Path, name: str) -> CommittedRun:
    """How much of what the profile committed to was run; ReservedError for evidence of anything else."""
    profile, _ = profile_source.required_profile(name)
    publication = Publication.read(profile_source.profile_folder(name), profile.document)
    return committed_run(run / FOLDER, identities_in(identity, "--identity"), profile, publication)


def suspected_leak(runs: Sequence[Path], identity: Path) -> Suspicion:
    """Whether an agent does better, in its runs, on scenarios of earlier editions than on those of the latest.

    A scenario is old if its run has scenarios that were first sealed later. One that is in several runs counts once, in
    the last of them: counted twice, it would make chance look like knowledge.
    """
    keys, runs = identities_in(identity, "--identity"), list(dict.fromkeys(map(Path.resolve, runs)))
    _require_one_agent(runs)
    trials: dict[str, Trial] = {}
    for number, run in enumerate(runs):
        documents = list(sealed_documents(run / FOLDER, keys))
        newest = max((_edition(document) for _, document in documents), default=1)
        for label, document in documents:
            result = judged_again(label, document, domain_for)
            if result.is_judged and isinstance(result.verdict, Pass | Fail):
                scenario, is_old = result.bound.scenario, _edition(document) < newest
                trials[digest(scenario.document())] = Trial(
                    scenario.archetype, is_old, isinstance(result.verdict, Pass), number
                )
    found = suspicion(trials.values())
    if found is None:
        problem = "no archetype has both old and fresh reserved scenarios that reached a verdict in one run"
        raise ReservedError(
            "suspect", problem, "run the bundle of a rotated edition, which keeps some scenarios and adds others"
        )
    return found


def _edition(document: Mapping[str, Any]) -> int:
    return int(document.get("edition", 1))


def _require_one_agent(runs: Sequence[Path]) -> None:
    accounts = (RunAccount.of_run(run, StoredRun.read(run).document) for run in runs)
    if len(names := {account.identity.agent.identity.name for account in accounts}) > 1:
        problem = f"the runs are of different agents: {', '.join(sorted(names))}"
        raise ReservedError("suspect", problem, "name runs of one agent; its versions may differ")
