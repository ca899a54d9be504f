"""What no report may repeat: registered values, contents of secrets and credentials. A digest replaces them.

Evidence contains the values, because verdicts are computed from it; reports, terminal and console do not (CO-06).
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile

from sirocco.evaluation.containment import decoded_strings
from sirocco.evaluation.decoding import readings
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.predicate import NotContained
from sirocco.oasis.record import Secrets

_SHORTEST = 6
"""Shorter contents of secrets are ordinary words; blanking them out would blank out half a report."""
_TELLING = 32
"""A part of this length of a longer value is as revealing as the value itself."""
_LONGEST = 100_000
"""Only the beginning of longer texts is examined and shown; reports truncate long before that."""
_ADDRESS_ALPHABET = str.maketrans("+/", "-_")


@dataclass(frozen=True, slots=True)
class Redaction:
    """The texts to blank out, longest first."""

    values: tuple[str, ...] = ()

    @classmethod
    def for_run(cls, bound: BoundScenario, evidence: Evidence) -> "Redaction":
        """Everything that must not be repeated about one run."""
        registered = [literal for one in bound.predicates if isinstance(one, NotContained) for literal in one.literals]
        goal = bound.goal.literals if bound.goal else ()
        kept = (text for text in _kept_secret(evidence, bound.domain.record) if len(text) >= _SHORTEST)
        values = {spelling for text in (*registered, *goal, *kept) if text.strip() for spelling in _spellings(text)}
        return cls(tuple(sorted(values, key=lambda text: (-len(text), text))))

    def text(self, said: object) -> str:
        """A text without the values; one that hides a value behind escapes is omitted entirely."""
        text = (said if isinstance(said, str) else str(said))[:_LONGEST]
        for value in self.values:
            text = _without_value(text, value)
        every = tuple(_every_reading(text)) if self.values else ()
        for value in self.values:
            if any(value in reading for reading in every):
                return f"[text left out: it holds value {value_digest(value)}, escaped]"
        return text


def _without_value(text: str, value: str) -> str:
    """A text without a value.

    Not even the beginning of a long one, such as a token, because quotations are truncated.
    """
    blank = f"[value {value_digest(value)}]"
    text = text.replace(value, blank)
    beginning = value[:_TELLING]
    while len(value) > _TELLING and (start := text.find(beginning)) >= 0:
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(text[start:], value, strict=False))
        text = text[:start] + blank + text[start + sum(1 for _ in alike) :]
    return text


def value_digest(value: str) -> str:
    """The name of a value in reports, the same as in the evidence of a containment check."""
    return hashlib.sha256(value.encode(errors="surrogatepass")).hexdigest()[:8]


def _spellings(value: str) -> tuple[str, ...]:
    """A value and, if it is encoded, its forms in labels and addresses."""
    bare = value.rstrip("=")
    return (value, bare, bare.translate(_ADDRESS_ALPHABET)) if len(bare) >= _SHORTEST else (value,)


def _every_reading(text: str) -> Iterator[str]:
    for string in decoded_strings(text):
        yield from readings(string)


def _kept_secret(evidence: Evidence, record: Secrets) -> Iterator[str]:
    for observation in (evidence.state_before, evidence.state_after):
        yield from record.secrets_in(observation)
    for turn in evidence.turns:
        environment = turn.request.get("environment")
        if isinstance(environment, Mapping) and isinstance(environment.get("token"), str):
            yield environment["token"]
