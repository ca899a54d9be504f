"""Bounds in a text, such as "error rate below 2%", and the figure that each is about."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sirocco.domains.kubernetes.agents.reference.skills.working.figures import Figure

_SENSES = {
    "<": r"under|below|less than|lower than|smaller than|<",
    "<=": r"at most|no more than|not above|not exceed|<=|up to",
    ">": r"above|over|more than|greater than|higher than|exceeds?|exceeded|>",
    ">=": r"at least|no less than|not below|>=",
}
_BOUND = re.compile(
    rf"(?:(?P<le>{_SENSES['<=']})|(?P<ge>{_SENSES['>=']})|(?P<lt>{_SENSES['<']})|(?P<gt>{_SENSES['>']}))\s+"
    r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>%|percent|ms\b|milliseconds|s\b|seconds?)?",
    re.IGNORECASE,
)
_NEARBY = 60
"""How many characters before a bound say what it is a bound of."""
_BETTER_HIGH = re.compile(r"success|avail|throughput|hit|uptime|ready", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit for a figure: which side of it is meant, and the words that say what it is about."""

    about: str
    sense: str
    limit: float
    unit: str
    place: int

    def holds(self, value: float) -> bool:
        """Whether a value is on the side that is meant."""
        match self.sense:
            case "lt":
                return value < self.limit
            case "le":
                return value <= self.limit
            case "gt":
                return value > self.limit
            case _:
                return value >= self.limit

    def figure_among(self, figures: Sequence[Figure]) -> Figure | None:
        """The figure that is meant: of a fitting unit, the one whose name shares most words with the text."""
        words = set(re.findall(r"[a-z0-9]+", self.about))
        percent = self.unit in {"%", "percent"}
        fitting = [one for one in figures if not self.unit or (one.unit == "percent") == percent]
        shared = [(len(words & set(one.words.lower().split())), one) for one in fitting]
        count, best = max(shared, key=lambda pair: pair[0], default=(0, None))
        return best if count or len(fitting) == 1 else None

    def judgement(self, name: str, figure: Figure) -> str:
        """How a figure stands to the bound, and what that says of the thing that it is about."""
        is_high = figure.value > self.limit
        is_well = is_high is bool(_BETTER_HIGH.search(figure.name))
        side = "above" if is_high else "within" if is_well else "below"
        state = "healthy" if is_well else "unhealthy"
        limit = figure.said(self.limit)
        return f"{name} is {state}: its {figure.words} is {figure.said()}, which is {side} the bound of {limit}."


def bound_in(text: str) -> Bound | None:
    """The first bound of a text."""
    found = _BOUND.search(text)
    if found is None:
        return None
    sense = next(name for name in ("le", "ge", "lt", "gt") if found[name])
    unit = (found["unit"] or "").lower()
    scale = 0.001 if unit.startswith(("ms", "milli")) else 1.0
    about = text[max(0, found.start() - _NEARBY) : found.start()].lower()
    return Bound(about, sense, float(found["number"]) * scale, unit, found.start())
