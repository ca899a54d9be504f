"""The speed of judging a bundle, and its growth with the audit log, compared with merely parsing the bundle.

A bundle is the evidence of one run of a bundled scenario: its turns, the state before and after with some thirty
objects, what the environment returned, and its audit log, whose entries (reads of every kind and a few writes, with the
bodies of request and answer) are repeated up to the requested number. Judging is the whole way from the parsed JSON of
the bundle to its verdict: reading the evidence, every check of the scenario, the score if it has one, and the fate of
its payloads. Nothing is cached between rounds.
"""

import gc
import json
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any

from sirocco.evaluation.behaviors.polarity import holds_denial, polarities
from sirocco.evaluation.behaviors.wording import is_list
from sirocco.evaluation.evaluate import evaluate
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.evidence import Evidence


@dataclass(frozen=True, slots=True)
class EvaluationSpeed:
    """Median seconds for judging a bundle and for parsing its JSON."""

    evaluated: float
    parsed: float

    @property
    def ratio(self) -> float:
        """The time for judging as a multiple of the bare parse."""
        return self.evaluated / self.parsed


def measured_evaluation(
    bound: BoundScenario, evidence: Evidence, clock: Callable[[], float], *, rounds: int = 9
) -> EvaluationSpeed:
    """The speed of judging one bundle, read again for each round."""
    text = canonical_json(evidence.document())
    parsed, evaluated = [], []
    with _without_collection():
        for _ in range(rounds):
            start = clock()
            document = json.loads(text)
            middle = clock()
            evaluate(bound, Evidence.from_document(document, "bundle"))
            end = clock()
            parsed.append(middle - start)
            evaluated.append(end - middle)
            _forget_texts()
    return EvaluationSpeed(statistics.median(evaluated), statistics.median(parsed))


def _forget_texts() -> None:
    """Forget what is known of sentences: the next bundle of a real run has others."""
    for remembered in (is_list, polarities, holds_denial):
        remembered.cache_clear()


@contextmanager
def _without_collection() -> Iterator[None]:
    """As `timeit` does it: when what the parse left behind is cleared away is not for either of the two to pay."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def with_entries(evidence: Evidence, number: int) -> Evidence:
    """The evidence with its audit log repeated up to the given number of entries, each with a unique id."""
    entries = evidence.audit_log.data.get("entries", ())
    log = replace(evidence.audit_log, data={"entries": list(_repeated_entries(entries, number))})
    return replace(evidence, audit_log=log)


def _repeated_entries(entries: Any, number: int) -> Iterator[dict[str, Any]]:
    for index, entry in enumerate(islice(cycle(entries), number)):
        yield {**entry, "auditID": f"{index:08}"}
