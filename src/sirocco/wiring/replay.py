"""Replay: rebuilds the verdict document and every file derived from it from evidence, account and `run.yaml` (SI-07).

Only the run directory is needed. Whatever does not follow is named, file by file and field by field; whatever only
sealed evidence can show is listed as undecidable. No environment is started and no agent is called.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from sirocco.campaign.account import KINDS, PhaseAccount, Recount
from sirocco.campaign.block import adversarial_block
from sirocco.errors import EvidenceError, SiroccoError
from sirocco.evaluation.core_tally import CoreTally
from sirocco.evidence.account import ACCOUNT, RunAccount
from sirocco.evidence.artifacts import artifact_name, artifact_text, has_artifact
from sirocco.evidence.attestation import ATTESTATION, Attestation, refuse_odd_files
from sirocco.evidence.event_log import EVENTS
from sirocco.evidence.files import stored_document
from sirocco.evidence.merkle import merkle_root
from sirocco.evidence.recorded import FOLDER, INDEX, EvidenceIndex, RecordedUnit, line_digest, recorded_unit
from sirocco.evidence.replay import Difference, ledger_differences, recompute_unit, unit_differences
from sirocco.evidence.run_directory import RUN
from sirocco.evidence.segments import segment_numbers, segment_path, whole_records
from sirocco.oasis.archetype import Classification
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.report import UnitResult
from sirocco.reports.document import core_document
from sirocco.reserved.phase import recount_evidence
from sirocco.wiring.config import recomputed_config_hash
from sirocco.wiring.document_difference import field_differences, first_different_line, pointer_steps, short_repr
from sirocco.wiring.domains import domain_for
from sirocco.wiring.reserved_keys import identities_in
from sirocco.wiring.resume import StoredRun
from sirocco.wiring.run_report import JUNIT, RunReport, is_page, merged_block

_WHOLE_RUN = "*"
_FOLDER = "adversarial"
_RESERVED = "verdict.yaml#/verdict/adversarial_verification/reserved_scenarios"


@dataclass(frozen=True, slots=True)
class Replayed:
    """The units that count in the run, the verdicts that could be recomputed, and every difference found."""

    units: tuple[str, ...]
    verdicts: Mapping[str, str | None]
    differences: tuple[Difference, ...]
    undecidable: Mapping[str, str]
    """What replay can neither confirm nor deny, with the reason."""
    is_stored: bool
    signed_by: str | None

    @property
    def differing_units(self) -> tuple[str, ...]:
        """Units that show a difference, or whose evidence is lost."""
        named = {difference.unit for difference in self.differences}
        return tuple(unit for unit in self.units if unit in named)


def replay(path: Path, identity: Path | None = None) -> Replayed:
    """Recompute everything that follows from recorded evidence, and compare it with what the run wrote.

    `identity` is the key to sealed evidence; without it, the counts that depend on it are undecidable.
    """
    stored = StoredRun.read(path)
    refuse_odd_files(path)
    index = EvidenceIndex.of_run(path)
    account = RunAccount.of_run(path, stored.document)
    units = _Units(path, index, account, stored.config_hash)
    differences = [*units.differences, *_chain_differences(path, stored, index, units)]
    attestation = Attestation.of_run(path)
    is_stored = (path / "verdict.yaml").exists()
    dispensable: tuple[str, ...] = ()
    if units.is_whole:
        report, files = _recomputed_files(path, units, stored.document)
        differences += _file_differences(path, files, units, is_stored=is_stored)
        differences += _event_differences(path, units)
        predicate = report.predicate(stored.document, len(index.units) + len(index.uncounted))
        differences += _predicate_differences(attestation, predicate)
        dispensable = () if is_stored else tuple(files)
    differences += _signature_differences(path, attestation, dispensable)
    undecidable = {}
    if account.reserved is not None and identity is None:
        undecidable[_RESERVED] = "the counts rest on sealed evidence: give its key with --identity"
    elif account.reserved is not None and identity is not None:
        counts = recount_evidence(index.folder, identities_in(identity, "--identity"), domain_for).document()
        for pointer, said, gives in field_differences(account.reserved["reserved_scenarios"], counts):
            differences.append(_in_file(ACCOUNT, f"/reserved/reserved_scenarios{pointer}", said, gives))
    return Replayed(
        units=index.order,
        verdicts=units.verdicts,
        # Differences that concern the whole run come first: the others often follow from them.
        differences=tuple(sorted(dict.fromkeys(differences), key=lambda one: one.unit != _WHOLE_RUN)),
        undecidable=undecidable,
        is_stored=is_stored,
        signed_by=attestation.key_id if attestation and attestation.is_signed else None,
    )


def _recomputed_files(path: Path, units: "_Units", run: Mapping[str, Any]) -> tuple[RunReport, dict[str, str]]:
    """The report and every derived file; an account that cannot be processed is an error, whatever goes wrong."""
    try:
        probes = units.settled_files()
        report = units.report(run)
        return report, {**report.files(path, refuse_altered=False), **probes}
    except SiroccoError:
        raise
    except Exception as error:
        problem = f"no report can be made of the account of the run ({type(error).__name__}: {error})"
        raise EvidenceError(path / ACCOUNT, problem, "restore it from a copy") from error


class _Units:
    """All units of a run, judged again one at a time, with their totals."""

    def __init__(self, path: Path, index: EvidenceIndex, account: RunAccount, config_hash: str) -> None:
        self.account = account
        self.index = index
        self.verdicts: dict[str, str | None] = {}
        self.finished: dict[str, tuple[str, str]] = {}
        """Kind and verdict of each unit according to the events."""
        self._config_hash = config_hash
        self.digests = dict(index.uncounted)
        self.differences: list[Difference] = []
        self._core = CoreTally()
        self._campaign = None if account.campaign is None else _recount(account.campaign, account.identity.profile)
        run = line_digest((path / RUN).read_bytes())
        for unit in index.order:
            self._read(unit, run)
        self.is_whole = len(self.verdicts) == len(index.units)

    def settled_files(self) -> dict[str, str]:
        """The probe files that are kept for review."""
        return self._campaign.settle() if self._campaign else {}

    def _read(self, unit: str, run: str) -> None:
        try:
            recorded = self.index.unit(unit)
        except EvidenceError as error:
            self.differences.append(Difference(unit, f"its evidence cannot be read: {error.problem}"))
            return
        result = recompute_unit(recorded, domain_for)
        self.verdicts[unit] = result.status
        self.finished[unit] = (recorded.kind, result.verdict.status)
        self.digests[unit] = recorded.digest
        entry = self.index.units[unit]
        self.differences += unit_differences(recorded, result, entry, run)
        self.differences += self._artifact_differences(recorded)
        if entry.content != recorded.content(self._config_hash):
            self.differences.append(Difference(unit, "the index has a different digest of what it was run with", INDEX))
        self._count(recorded.kind, result)

    def _artifact_differences(self, recorded: RecordedUnit) -> Iterator[Difference]:
        """Where the separate evidence file of a scenario differs from what was recorded."""
        name = artifact_name(recorded.unit)
        file = self.index.folder.parent / name
        if has_artifact(recorded.kind) and file.is_file() and file.read_bytes() != artifact_text(recorded).encode():
            yield Difference(recorded.unit, "the artifact is not what was recorded", name)

    def _count(self, kind: str, result: UnitResult) -> None:
        if kind not in KINDS:
            self._core.add(result)
        elif self._campaign is None:
            self.differences.append(Difference(result.unit, "it belongs to a campaign that the account does not list"))
        elif problem := self._campaign.add(kind, result):
            self.differences.append(Difference(result.unit, problem))

    def report(self, run: Mapping[str, Any]) -> RunReport:
        """The report that follows from the units."""
        account = self.account
        core = self._core.core_result(account.identity, account.plan)
        block = None
        if self._campaign is not None:
            campaign, tally = self._campaign.account, self._campaign.tally
            own = adversarial_block(campaign, core, tally, self._campaign.is_safety)
            block = merged_block((own, account.reserved or {}), is_interrupted=account.is_interrupted)
        return RunReport.from_core(
            run, account, core, core_document(core), block,
            evidence_root=merkle_root(self.digests), uncounted=sorted(self.index.uncounted),
        )  # fmt: skip

    @property
    def is_broken_off(self) -> bool:
        """Whether the run was interrupted, so that unfinished units do not count."""
        campaign = self._campaign.account.incomplete if self._campaign else None
        return self.account.is_interrupted or self._core.is_over or campaign is not None


def _recount(campaign: Mapping[str, Any], profile: ProfileDocument) -> Recount:
    try:
        account = PhaseAccount.from_document(campaign)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EvidenceError(ACCOUNT, "the account of the campaign cannot be read", "restore it from a copy") from error
    categories = {one.id: one.classification for one in profile.categories}
    classes = {one.id: categories[one.category] for one in profile.archetypes}
    return Recount(account, lambda archetype: classes.get(archetype) is Classification.SAFETY, profile.canary)


def _chain_differences(path: Path, stored: StoredRun, index: EvidenceIndex, units: _Units) -> Iterator[Difference]:
    """Inconsistencies between `run.yaml`, index, segments, ledger and account (SI-10)."""
    if (found := recomputed_config_hash(stored.document)) != stored.config_hash:
        yield _in_file(RUN, "/config_hash", stored.config_hash, found)
    if line_digest((path / ACCOUNT).read_bytes()) != index.account:
        yield Difference(_WHOLE_RUN, "the account of the run was altered after it was written", ACCOUNT)
    if merkle_root(units.digests) != index.merkle_root:
        yield Difference(_WHOLE_RUN, "the Merkle root over the evidence is not the recorded one", INDEX)
    known = {unit: entry.digest for unit, entry in index.units.items()} | dict(index.uncounted)
    ends: dict[int, int] = {}
    for span, line in whole_records(index.folder):
        ends[span.segment] = span.end
        try:
            unit = recorded_unit(line, index.folder).unit
        except EvidenceError as error:
            yield Difference(_WHOLE_RUN, f"a record at {span.offset} of segment {span.segment}: {error.problem}", INDEX)
            continue
        if unit not in known:
            yield Difference(unit, "it is recorded, but the index does not name it and no verdict counts it")
        elif line_digest(line) != known[unit]:
            yield Difference(unit, "a record of it is not the one that the index names")
    for number in segment_numbers(index.folder):
        file = segment_path(index.folder, number)
        if ends.get(number, 0) != file.stat().st_size:
            yield Difference(_WHOLE_RUN, "contains something other than a record", f"{FOLDER}/{file.name}")
    for unit in () if units.is_broken_off else sorted(index.uncounted):
        yield Difference(unit, "it is recorded, but no verdict counts it although the run finished")
    yield from ledger_differences(path, index)


def _file_differences(path: Path, files: Mapping[str, str], units: _Units, *, is_stored: bool) -> Iterator[Difference]:
    """Derived files that differ from those present; units that do not count yet may have left theirs."""
    left = units.index.uncounted if units.is_broken_off else {}
    for name, text in files.items():
        file = path / name
        if not file.exists():
            # Without a verdict there is nothing to compare: whoever deleted it wants it recomputed.
            if is_stored:
                yield Difference(_WHOLE_RUN, "the file is missing", name)
        elif file.read_bytes() != text.encode():
            yield from _text_differences(name, file, text)
    for file in sorted((path / _FOLDER).glob("*")):
        probe = file.name.removesuffix(".yaml").removesuffix(".min")
        if (name := file.relative_to(path).as_posix()) not in files and probe not in left:
            yield Difference(_WHOLE_RUN, "no probe of this run gives such a file", name)


def _text_differences(name: str, file: Path, text: str) -> Iterator[Difference]:
    """Where a file differs from the replayed one: by field in a document, by line in a page."""
    if name == JUNIT or is_page(name):
        line = first_different_line(file.read_text(errors="replace"), text)
        yield Difference(_WHOLE_RUN, "the file is not what the verdict gives", f"{name}:{line}")
        return
    try:
        found = stored_document(file)
    except (yaml.YAMLError, ValueError) as error:
        raise EvidenceError(file, "not a document of a run", "restore it, or delete it and replay") from error
    wanted = json.loads(text) if name.endswith(".json") else yaml.load(text, Loader=yaml.CSafeLoader)
    if not isinstance(found, dict):
        raise EvidenceError(file, "not a document of a run", "restore it, or delete it and replay")
    is_named = False
    for pointer, said, gives in field_differences(found, wanted):
        is_named = True
        yield replace(_in_file(name, pointer, said, gives), unit=_unit_at(wanted, pointer))
    if not is_named:
        line = first_different_line(file.read_text(errors="replace"), text)
        yield Difference(_WHOLE_RUN, "the file was written in another format", f"{name}:{line}")


def _in_file(name: str, pointer: str, said: object, gives: object) -> Difference:
    return Difference(
        _WHOLE_RUN, f"{name} says {short_repr(said)}, replay gives {short_repr(gives)}", f"{name}#{pointer}"
    )


def _unit_at(document: Any, pointer: str) -> str:
    """The scenario or probe that a field of the verdict document is about."""
    at = document
    for part in pointer_steps(pointer):
        if isinstance(at, Mapping) and isinstance(named := at.get("scenario_id") or at.get("probe"), str):
            return named
        at = _member(at, part)
    return _WHOLE_RUN


def _member(value: Any, part: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    if isinstance(value, list) and part.isdigit() and int(part) < len(value):
        return value[int(part)]
    return None


def _event_differences(path: Path, units: _Units) -> Iterator[Difference]:
    """Claims of `events.jsonl` about units that the evidence does not support."""
    told: list[tuple[str, tuple[str, str]]] = []
    try:
        for line in (path / EVENTS).read_bytes().splitlines():
            event = json.loads(line)
            if event["event"] == "unit_finished":
                told.append((str(event["unit"]), (event["kind"], event["status"])))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        yield Difference(_WHOLE_RUN, "the events cannot be read", EVENTS)
        return
    # A run that was resumed and interrupted again has not counted everything it had recorded.
    left = units.index.uncounted if units.is_broken_off else {}
    finished = dict(told)
    for unit in sorted(finished.keys() - units.finished.keys() - left.keys()):
        yield Difference(unit, "the events say that it was finished, but no evidence of it counts", EVENTS)
    for unit, found in units.finished.items():
        if unit not in finished:
            yield Difference(unit, "the events do not say that it was finished", EVENTS)
        elif finished[unit] != found:
            said, gives = (" ".join(map(str, one)) for one in (finished[unit], found))
            yield Difference(unit, f"{EVENTS} says {said}, replay gives {gives}", EVENTS)
    if len(told) > len(finished):
        yield Difference(_WHOLE_RUN, "the events say more than once that a unit was finished", EVENTS)


def _signature_differences(
    path: Path, attestation: Attestation | None, dispensable: Collection[str]
) -> Iterator[Difference]:
    """Where the run differs from what its evaluator signed; only `sirocco verify` can tell whose key that is.

    `dispensable` derived files may be missing if someone deleted the verdict to have it recomputed.
    """
    if attestation is None:
        yield Difference(_WHOLE_RUN, "the run is not signed, or its attestation was removed", ATTESTATION)
        return
    if not attestation.is_signed:
        yield Difference(_WHOLE_RUN, "the signature is not one over this statement", ATTESTATION)
    for name, what in attestation.changed_files(path):
        if name in dispensable and not (path / name).exists():
            continue
        yield Difference(_WHOLE_RUN, f"the file {what}", name)


def _predicate_differences(attestation: Attestation | None, predicate: Mapping[str, Any]) -> Iterator[Difference]:
    """What the evaluator signed and does not follow from the run."""
    if attestation is None:
        return
    said = {key: value for key, value in attestation.predicate.items() if key != "evaluator_key"}
    for pointer, found, wanted in field_differences(said, dict(predicate)):
        yield _in_file(ATTESTATION, f"/predicate{pointer}", found, wanted)
