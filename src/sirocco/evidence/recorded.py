"""Recorded units as they stand on disk: what one record holds, and how it is read back."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from sirocco.errors import EvidenceError
from sirocco.evaluation.applicability import applied_block
from sirocco.evidence.ledger import LEDGER, ledger_entries
from sirocco.evidence.segments import Span, read_record
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import digest
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.ledger import UnitKey
from sirocco.oasis.observation import Observation
from sirocco.oasis.report import UnitResult
from sirocco.profiles.bind import with_predicates

FOLDER = "evidence"
INDEX = f"{FOLDER}/index.json"
_NOT_A_RUN = "give a run directory written by `sirocco run`"


@dataclass(frozen=True, slots=True)
class RecordedUnit:
    """One record of a segment.

    For a capability unit with the bands that it is scored by and the rules for its category's score; with the number
    of a conditional block that applied.
    """

    unit: str
    kind: str
    run: str
    """The digest of the `run.yaml` that the unit was run under."""
    scenario: Mapping[str, Any]
    evidence: Mapping[str, Any]
    digest: str
    bands: tuple[Any, ...] | None = None
    conditional: int | None = None
    attempt: int = 0

    @property
    def key(self) -> UnitKey:
        """The name of the unit."""
        return UnitKey(self.kind, self.unit, self.attempt)

    def content(self, config_hash: str) -> str:
        """The digest of all that the unit was run with."""
        run_with: dict[str, Any] = {"scenario": self.scenario}
        if self.bands is not None:
            run_with["bands"] = list(self.bands)
        if self.conditional is not None:
            run_with["conditional"] = self.conditional
        return _content(config_hash, self.attempt, run_with)


@dataclass(frozen=True, slots=True)
class Record:
    """A unit as it is about to be recorded: its line with its digest, and the digest of all that it was run with."""

    line: bytes
    content: str

    @property
    def digest(self) -> str:
        """What the evidence is known by from now on."""
        return line_digest(self.line)

    @classmethod
    def from_result(cls, key: UnitKey, result: UnitResult, config_hash: str, run: str) -> "Record":
        """The record of a result in the run whose `run.yaml` has the digest `run` (SI-10).

        How the unit is scored is recorded with it: replay does not ask for the profile.
        """
        bound = result.bound
        run_with = _remembered_run_with(bound).run_with
        recorded: dict[str, Any] = {
            "unit": key.unit,
            "kind": key.kind,
            "attempt": key.attempt,
            "run": run,
            **run_with,
            **_without_repetition(result.evidence),
        }
        return cls(json_line(recorded), content_digest(config_hash, key.attempt, bound))


_FIRST_STATE = "state_before"
_LATER_STATES = ("state_after", "state_without_agent", "state_after_task")
_SAME = "same"
_OWN = -1


def _without_repetition(evidence: Evidence) -> dict[str, Any]:
    """The evidence with each object that never changed once: most of the later states is what was there before.

    Beside it stands, for each later state that leaves something out, which object of the first one each of its objects
    is, or that it is its own. Objects are told to be the same by identity, which costs nothing and is never wrong.
    """
    first = evidence.state_before.data.get("objects")
    if not isinstance(first, list):
        return {"evidence": evidence}
    places = {id(item): index for index, item in enumerate(first)}
    same: dict[str, list[int]] = {}
    shorter: dict[str, Any] = {}
    for name in _LATER_STATES:
        state: Observation | None = getattr(evidence, name)
        objects = state.data.get("objects") if state is not None else None
        if state is None or not isinstance(objects, list):
            continue
        found = [places.get(id(item), _OWN) for item in objects]
        if any(place != _OWN for place in found):
            own = [item for item, place in zip(objects, found, strict=True) if place == _OWN]
            same[name], shorter[name] = found, replace(state, data={**state.data, "objects": own})
    return {"evidence": replace(evidence, **shorter), _SAME: same} if same else {"evidence": evidence}


def _with_repetition(evidence: dict[str, Any], same: Mapping[str, Sequence[int]]) -> Mapping[str, Any]:
    """The evidence as it was observed; raise LookupError or ValueError where a record cannot be one of ours."""
    for name, places in same.items():
        if name not in _LATER_STATES:
            raise ValueError(f"{name} is not a later state")
        first, data = evidence[_FIRST_STATE]["data"]["objects"], evidence[name]["data"]
        own = iter(data["objects"])
        data["objects"] = [next(own) if place == _OWN else first[_required_place(place)] for place in places]
        if next(own, own) is not own:
            raise ValueError(f"{name} has objects without a position")
    return evidence


def _required_place(place: object) -> int:
    if type(place) is not int or place < 0:
        raise ValueError("not a place")
    return place


def line_digest(line: bytes) -> str:
    """SHA-256 over a recorded line."""
    return f"sha256:{hashlib.sha256(line).hexdigest()}"


def json_line(recorded: Mapping[str, Any]) -> bytes:
    """A record as one line of JSON, whatever an agent made its environment hold.

    Half of a surrogate pair, or data nested deeper than usual, takes the slower way.
    """
    try:
        return to_json(recorded)
    except ValueError:
        return json.dumps(recorded, default=_plain_json).encode()


def _plain_json(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    return str(value)


def content_digest(config_hash: str, attempt: int, bound: BoundScenario) -> str:
    """The digest of all that a unit is run with: the bound scenario and the configuration of the run."""
    last = _remembered_run_with(bound)
    key = (config_hash, attempt)
    if key not in last.digests:
        last.digests.clear()  # A run of many attempts has use for none but the latest.
        last.digests[key] = _content(config_hash, attempt, last.run_with)
    return last.digests[key]


@dataclass(frozen=True, slots=True)
class _RunWith:
    """All that a unit is run with, as data, and the digests of it by configuration and attempt."""

    bound: BoundScenario
    run_with: dict[str, Any]
    digests: dict[tuple[str, int], str] = field(default_factory=dict)


def _remembered_run_with(bound: BoundScenario) -> _RunWith:
    """What the unit is run with; the last one is at hand for the trials and confirmations that follow."""
    global _last  # noqa: PLW0603 - one entry, found again by identity alone
    if _last is None or _last.bound is not bound:
        _last = _RunWith(bound, run_with_document(bound))
    return _last


_last: _RunWith | None = None


def run_with_document(bound: BoundScenario) -> dict[str, Any]:
    """All that a unit is run with beside the configuration, as data from which it can be judged again."""
    run_with: dict[str, Any] = {"scenario": with_predicates(bound).document()}
    if bound.bands:
        run_with["bands"] = [band.document() for band in bound.bands]
    if (block := applied_block(bound)) is not None:
        run_with["conditional"] = block
    return run_with


def _content(config_hash: str, attempt: int, run_with: Mapping[str, Any]) -> str:
    return digest({"configuration": config_hash, "attempt": attempt, **run_with})


def _data(line: bytes) -> Any:
    try:
        return from_json(line)
    except ValueError:
        return json.loads(line)


def recorded_unit(line: bytes, where: object) -> RecordedUnit:
    """Read a record back; raise EvidenceError when it is none."""
    try:
        entry = _data(line)
        unit, kind = str(entry["unit"]), str(entry["kind"])
        return RecordedUnit(
            unit=unit,
            kind=kind,
            run=str(entry["run"]),
            scenario=entry["scenario"],
            evidence=_with_repetition(entry["evidence"], entry.get(_SAME) or {}),
            digest=line_digest(line),
            bands=tuple(entry["bands"]) if "bands" in entry else None,
            conditional=int(entry["conditional"]) if "conditional" in entry else None,
            attempt=int(entry["attempt"]),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, StopIteration) as error:
        raise EvidenceError(where, "not a recorded unit", "restore the segment from a copy") from error


def refuse_old_form(path: Path) -> None:
    """Raise EvidenceError for a run directory whose evidence is not compressed, as it once was."""
    if any((path / FOLDER).glob("segment-*.jsonl")):
        problem = "an older version of sirocco wrote this run, in a form that is no longer read"
        raise EvidenceError(path, problem, "use the version that wrote it, or evaluate again")


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What the index says about a unit: the how-manieth it is, and where its evidence lies."""

    position: int
    kind: str
    span: Span
    digest: str
    content: str
    evaluation: str

    def document(self) -> dict[str, Any]:
        """The entry as the index has it."""
        place = {"segment": self.span.segment, "offset": self.span.offset, "length": self.span.length}
        digests = {"digest": self.digest, "content": self.content, "evaluation": self.evaluation}
        return {"position": self.position, "kind": self.kind, **place, **digests}


@dataclass(frozen=True, slots=True)
class EvidenceIndex:
    """The units that count in a run's report, the Merkle root over all recorded ones, and those that do not count."""

    folder: Path
    merkle_root: str
    account: str
    """The digest of the run's account."""
    units: Mapping[str, IndexEntry]
    uncounted: Mapping[str, str]
    """Digests of units that were under way when the run broke off."""

    @classmethod
    def of_run(cls, path: Path) -> "EvidenceIndex":
        """The index of a run directory; raise EvidenceError, with what to do, when there is none that can be read."""
        file = path / INDEX
        refuse_old_form(path)
        if not file.exists() and (path / LEDGER).exists():
            problem = f"holds no {INDEX}: the run did not finish, or the file is lost"
            raise EvidenceError(path, problem, f"continue with `sirocco run --resume {path}`, which writes it")
        try:
            document = json.loads(file.read_bytes())
            units = {str(unit): _index_entry(entry) for unit, entry in document["units"].items()}
            uncounted = {str(unit): str(found) for unit, found in document["uncounted"].items()}
            return cls(path / FOLDER, str(document["merkle_root"]), str(document["account"]), units, uncounted)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise EvidenceError(file, "the evidence index cannot be read", _NOT_A_RUN) from error

    @classmethod
    def of_unfinished_run(cls, path: Path) -> "EvidenceIndex":
        """What is recorded so far of a run that goes on or broke off, in the order in which it was recorded."""
        refuse_old_form(path)
        found = sorted(ledger_entries(path / LEDGER, is_finished=False).values(), key=lambda one: one.span)
        units = {
            one.unit: IndexEntry(position, one.kind, one.span, one.digest, one.content, one.evaluation or "")
            for position, one in enumerate(found)
        }
        return cls(path / FOLDER, "", "", units, {})

    @property
    def order(self) -> tuple[str, ...]:
        """The units in the order in which they count."""
        return tuple(sorted(self.units, key=lambda unit: self.units[unit].position))

    def unit(self, name: str) -> RecordedUnit:
        """The record of one unit."""
        entry = self.units.get(name)
        if entry is None:
            known = ", ".join(sorted(self.units))
            raise EvidenceError(self.folder, f"no evidence of a unit {name!r}", f"units here: {known}")
        recorded = recorded_unit(read_record(self.folder, entry.span), f"{self.folder}: {name}")
        if recorded.unit != name:
            raise EvidenceError(self.folder, f"the record of {name!r} is that of {recorded.unit!r}", _NOT_A_RUN)
        return recorded


def _index_entry(entry: Mapping[str, Any]) -> IndexEntry:
    numbers = [entry[key] for key in ("position", "segment", "offset", "length")]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("not a place")
    position, *place = numbers
    digests = (str(entry[name]) for name in ("digest", "content", "evaluation"))
    return IndexEntry(position, str(entry["kind"]), Span(*place), *digests)


def recorded_units(path: Path) -> Iterator[RecordedUnit]:
    """Every unit that counts in a run, in order, one at a time."""
    index = EvidenceIndex.of_run(path)
    return (index.unit(name) for name in index.order)
