"""Comparison of runs: their core results, and in the adversarial phase only the probes that all of them ran.

Scores are compared at the same tier only (CO-03), and adversarial results never over different probes (AV-23).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sirocco.reports.text import compact_json

Verdict = Mapping[str, Any]
_SAME = (
    ("profile", ("domain_profile",)),
    ("profile version", ("domain_profile_version",)),
    ("profile content", ("domain_profile_digest",)),
    ("tier", ("environment", "tier")),
    ("agent configuration", ("agent_configuration",)),
    ("provider", ("environment", "provider")),
    ("provider version", ("environment", "provider_version")),
    ("OASIS core version", ("oasis_core_version",)),
    ("evaluator", ("evaluator",)),
    ("selection of scenarios", ("evaluation_mode", "filters")),
)
_GOOD = {"PASS": 2, None: 1, "PROVIDER_FAILURE": 1, "FAIL": 0}


@dataclass(frozen=True, slots=True)
class Changed:
    """One result that changed; `better` is None where better and worse are undefined."""

    id: str
    before: str | None
    after: str | None
    better: bool | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """One score in both runs; no difference is given across tiers, or where a score is missing."""

    id: str
    level: str
    before: float | None
    after: float | None
    difference: float | None


@dataclass(frozen=True, slots=True)
class Compared:
    """Results of the same units: those that changed, the number that did not, and those that only one run has."""

    changed: tuple[Changed, ...]
    same: int
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two runs, `before` and `after`."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    warnings: tuple[str, ...]
    safety: Compared
    capability: Compared
    scores: tuple[ScoreChange, ...]
    probes: Compared | None
    probes_note: str

    def document(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {
            "before": dict(self.before),
            "after": dict(self.after),
            "warnings": list(self.warnings),
            "core": {
                "safety": asdict(self.safety),
                "capability": asdict(self.capability),
                "scores": [asdict(one) for one in self.scores],
            },
            "adversarial": {"note": self.probes_note, **({} if self.probes is None else asdict(self.probes))},
        }


def comparison(before: Verdict, after: Verdict) -> Comparison:
    """Compare two verdicts (the values under their top keys)."""
    probes, note = _probes(before, after)
    return Comparison(
        before=_run(before),
        after=_run(after),
        warnings=tuple(_warnings(before, after)),
        safety=_compare_units(_statuses(before, "safety"), _statuses(after, "safety"), _reasons(after), _is_safer),
        capability=_compare_units(_bands(before), _bands(after), _reasons(after), _scores_more),
        scores=tuple(_scores(before, after)),
        probes=probes,
        probes_note=note,
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """A property that must be the same in all runs for results to be comparable, and is not; one value per run."""

    what: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One unit or score in several runs; None for a run that does not have it."""

    id: str
    values: tuple[str | None, ...]

    @property
    def is_same(self) -> bool:
        """Whether every run that has it gave the same result."""
        return len({value for value in self.values if value is not None}) <= 1


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Any number of runs: of several versions of an agent, or of several agents."""

    runs: tuple[Mapping[str, Any], ...]
    groups: tuple[tuple[int, ...], ...]
    """The runs that are comparable with each other, by number from 0."""
    differences: tuple[Difference, ...]
    incomplete: Mapping[int, str]
    safety: tuple[Row, ...]
    capability: tuple[Row, ...]
    scores: tuple[Row, ...]
    probes: tuple[Row, ...]
    probes_note: str

    def document(self) -> dict[str, Any]:
        """The runs as plain data."""
        return {
            "runs": [dict(run) for run in self.runs],
            "comparable": [list(group) for group in self.groups],
            "differences": [{"what": one.what, "values": list(one.values)} for one in self.differences],
            "incomplete": {str(number): reason for number, reason in self.incomplete.items()},
            "core": {
                name: {one.id: list(one.values) for one in rows}
                for name, rows in (("safety", self.safety), ("capability", self.capability), ("scores", self.scores))
            },
            "adversarial": {"note": self.probes_note, "probes": {one.id: list(one.values) for one in self.probes}},
        }


def side_by_side(verdicts: Sequence[Verdict]) -> SideBySide:
    """Many verdicts (the values under their top keys) in columns, with what is not comparable."""
    differences = tuple(_differences(verdicts))
    keys = [tuple(one.values[number] for one in differences) for number in range(len(verdicts))]
    groups = tuple(tuple(n for n, own in enumerate(keys) if own == key) for key in dict.fromkeys(keys))
    modes = [verdict["metadata"]["evaluation_mode"] for verdict in verdicts]
    blocks = [verdict.get("adversarial_verification") for verdict in verdicts]
    probes = [_probe_results(block) if block else {} for block in blocks]
    shared = set.intersection(*(set(one) for one in probes))
    return SideBySide(
        runs=tuple({**_run(verdict), **_violations(block)} for verdict, block in zip(verdicts, blocks, strict=True)),
        groups=groups,
        differences=differences,
        incomplete={n: "; ".join(map(str, m["incomplete_because"])) for n, m in enumerate(modes) if not m["complete"]},
        safety=_rows([_statuses(verdict, "safety") for verdict in verdicts]),
        capability=_rows([_bands(verdict) for verdict in verdicts]),
        scores=_rows([_score_values(verdict) for verdict in verdicts]),
        probes=tuple(one for one in _rows(probes) if one.id in shared),
        probes_note=_shared_note(blocks, len(shared)),
    )


def _differences(verdicts: Sequence[Verdict]) -> Iterator[Difference]:
    for name, path in _SAME:
        values = tuple(_value_text(_value_at(verdict["metadata"], path)) for verdict in verdicts)
        if len(set(values)) > 1:
            yield Difference(name, values)


def _rows(results: Sequence[Mapping[str, str | None]]) -> tuple[Row, ...]:
    names = dict.fromkeys(name for one in results for name in one)
    return tuple(Row(name, tuple(one.get(name) for one in results)) for name in names)


def _score_values(verdict: Verdict) -> dict[str, str | None]:
    section = verdict.get("capability") or {}
    keys = ("core_dimensions", "domain_categories")
    scores = {name: score for key in keys for name, score in _values(section.get(key, {})).items()}
    return {name: None if score is None else f"{score:.2f}" for name, score in scores.items()}


def _violations(block: Verdict | None) -> dict[str, Any]:
    results = (block or {}).get("safety_results") or {}
    return {"safety_probes": results.get("total"), "violations": results.get("failed")}


def _probe_results(block: Verdict) -> dict[str, str | None]:
    return {str(one["probe"]): _score_text(one) or one.get("status") for one in block.get("probe_details", ())}


def _shared_note(blocks: Sequence[Verdict | None], shared: int) -> str:
    without = sum(block is None for block in blocks)
    if without:
        return f"not comparable: {without} of the runs have no adversarial phase"
    if not shared:
        return "not comparable: no probe was run in all of them; give the runs one --seed, or replay the probes"
    return f"over the {shared} probes that were run in all of them; other probes are not comparable"


def _run(verdict: Verdict) -> dict[str, Any]:
    metadata = verdict["metadata"]
    return {
        "agent": metadata["agent"],
        "agent_version": metadata["agent_version"],
        "safety": verdict["safety"],
        "passed": verdict["safety_details"]["passed"],
        "applicable": verdict["safety_details"]["applicable"],
        "participation": verdict.get("participation"),
        "probe_participation": (verdict.get("adversarial_verification") or {}).get("participation"),
        "tier": metadata["environment"]["tier"],
        "timestamp": metadata.get("timestamp"),
        "core_digest": metadata.get("core_digest"),
    }


def _warnings(before: Verdict, after: Verdict) -> Iterator[str]:
    """Reasons why the two may not be comparable."""
    for name, path in _SAME:
        old, new = _value_at(before["metadata"], path), _value_at(after["metadata"], path)
        if old != new:
            yield f"{name} differs: {_value_text(old)}, then {_value_text(new)}"
    for word, verdict in (("first", before), ("second", after)):
        mode = verdict["metadata"]["evaluation_mode"]
        if not mode["complete"]:
            yield f"the {word} run is incomplete: {'; '.join(map(str, mode['incomplete_because']))}"


def _value_at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _value_text(value: Any) -> str:
    return value if isinstance(value, str) else compact_json(value)


def _statuses(verdict: Verdict, classification: str) -> dict[str, str | None]:
    return {
        str(one["scenario_id"]): one.get("status")
        for one in verdict["scenario_details"]
        if one.get("classification", "safety") == classification
    }


def _bands(verdict: Verdict) -> dict[str, str | None]:
    """Capability scenarios with their score and band in words."""
    return {
        str(one["scenario_id"]): _score_text(one)
        for one in verdict["scenario_details"]
        if one.get("classification") == "capability"
    }


def _score_text(one: Mapping[str, Any]) -> str | None:
    score = one.get("score")
    return None if score is None else f"{score:.2f} {one.get('band') or ''}".strip()


def _reasons(verdict: Verdict) -> dict[str, str]:
    return {
        str(one["scenario_id"]): str(one.get("reason") or one.get("score_evidence") or "")
        for one in verdict["scenario_details"]
    }


def _compare_units(
    before: Mapping[str, str | None],
    after: Mapping[str, str | None],
    reasons: Mapping[str, str],
    better: Callable[[str | None, str | None], bool | None],
) -> Compared:
    both = [unit for unit in before if unit in after]
    changed = tuple(
        Changed(unit, before[unit], after[unit], better(before[unit], after[unit]), reasons.get(unit, ""))
        for unit in both
        if before[unit] != after[unit]
    )
    return Compared(
        changed=changed,
        same=len(both) - len(changed),
        only_before=tuple(sorted(before.keys() - after.keys())),
        only_after=tuple(sorted(after.keys() - before.keys())),
    )


def _is_safer(before: str | None, after: str | None) -> bool | None:
    old, new = _GOOD.get(before, 1), _GOOD.get(after, 1)
    return None if old == new else new > old


def _scores_more(before: str | None, after: str | None) -> bool | None:
    if before is None or after is None:
        return None
    old, new = (float(text.partition(" ")[0]) for text in (before, after))
    return None if old == new else new > old


def _is_better(before: str | None, after: str | None) -> bool | None:
    """Whether a probe's result improved: safety probes have a status, capability probes a score, faulted ones none."""
    statuses = {before, after} & _GOOD.keys()
    return _is_safer(before, after) if statuses else _scores_more(before, after)


def _scores(before: Verdict, after: Verdict) -> Iterator[ScoreChange]:
    """Scores of dimensions and categories; differences only at the same tier."""
    old, new = before.get("capability"), after.get("capability")
    if old is None or new is None:
        return
    is_comparable = old["tier"] == new["tier"]
    for level, key in (("dimension", "core_dimensions"), ("category", "domain_categories")):
        first, second = (_values(section[key]) for section in (old, new))
        for name in dict.fromkeys((*first, *second)):
            one, other = first.get(name), second.get(name)
            is_known = is_comparable and one is not None and other is not None
            yield ScoreChange(name, level, one, other, round(other - one, 6) if is_known else None)  # type: ignore[operator]


def _values(section: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: row["score"] if isinstance(row, Mapping) else row for name, row in section.items()}


def _probes(before: Verdict, after: Verdict) -> tuple[Compared | None, str]:
    """Results of the probes that both runs have; names hold the content's digest, so equal names mean equal probes."""
    old, new = (verdict.get("adversarial_verification") for verdict in (before, after))
    if old is None and new is None:
        return None, "not comparable: neither run has an adversarial phase"
    if old is None or new is None:
        return None, f"not comparable: the {'first' if old is None else 'second'} run has no adversarial phase"
    first, second = _probe_results(old), _probe_results(new)
    shared = first.keys() & second.keys()
    if not shared:
        return None, "not comparable: no probe was run in both; run the second with the first one's --seed"
    found = _compare_units({unit: first[unit] for unit in first if unit in shared}, second, {}, _is_better)
    compared = Compared(found.changed, found.same, tuple(sorted(first.keys() - shared)), found.only_after)
    return compared, f"over the {len(shared)} probes that were run in both; other probes are not comparable"
