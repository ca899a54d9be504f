"""Spending: the tokens, money and minutes of a run, by role, and the limits that end it.

Agents and generators report their own usage; nobody here can check it. If only tokens are reported, a price converts
them to money.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sirocco.errors import ConfigError
from sirocco.oasis.probe import Usage
from sirocco.oasis.report import Session

AGENT, GENERATOR = "agent", "generator"
ROLES = (AGENT, GENERATOR)
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million input tokens, and of a million output tokens."""

    read: float
    written: float

    def of(self, read: int, written: int) -> float:
        """The cost of the given numbers of tokens."""
        return (read * self.read + written * self.written) / _MILLION


def parse_prices(texts: tuple[str, ...]) -> dict[str, Price]:
    """Prices by role, from `agent=3/15`; ConfigError for anything else."""
    found: dict[str, Price] = {}
    for text in texts:
        role, _, prices = text.partition("=")
        read, _, written = prices.partition("/")
        try:
            price = Price(float(read), float(written))
        except ValueError:
            price = Price(-1, -1)
        if role not in ROLES or not all(0 <= one <= _MILLION for one in (price.read, price.written)):
            remedy = "write ROLE=READ/WRITTEN, for a million tokens each: agent=3/15 or generator=0.15/0.6"
            raise ConfigError("--price", f"{text!r} is not a price", remedy)
        found[role] = price
    return found


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use before it starts nothing more; None is no limit."""

    minutes: float | None = None
    tokens: int | None = None
    cost: float | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    is_over: Callable[[], bool] = lambda: False
    """Whether the minutes have passed; the caller that has a clock provides it."""


@dataclass(slots=True)
class Spending:
    """The usage so far."""

    limits: Limits
    tokens_in_core: int = 0
    tokens: int = 0
    written: int = 0
    stated_cost: float = 0.0

    def add_session(self, session: Session, *, in_core: bool = False) -> None:
        """Count one run of the agent; tokens of unknown kind count as output, which costs more."""
        tokens = session.tokens or 0
        self.tokens += tokens
        self.tokens_in_core += tokens if in_core else 0
        self.written += tokens if session.output_tokens is None else min(session.output_tokens, tokens)
        self.stated_cost += session.cost or 0.0

    def reached(self, generator: Usage) -> str | None:
        """The limit that was reached, in words; units in progress are finished."""
        limits = self.limits
        if limits.is_over():
            return f"the limit of {limits.minutes:g} minutes was reached"
        if limits.tokens is not None and self.tokens + _tokens(generator) >= limits.tokens:
            return f"the limit of {limits.tokens} tokens was reached"
        if limits.cost is not None and sum(self._costs(generator).values()) >= limits.cost:
            return f"the limit of {limits.cost:g} for costs was reached"
        return None

    def blind_spot(self, generator: Usage) -> str | None:
        """A limit that could not be enforced because usage was not reported."""
        if self.limits.tokens is not None and not self.tokens + _tokens(generator):
            return "--max-tokens had no effect: neither agent nor generator reports its tokens"
        if self.limits.cost is not None and not any(self._costs(generator).values()):
            return "--max-cost had no effect: no costs are reported; add --price ROLE=READ/WRITTEN"
        return None

    def document(self, generator: Usage) -> dict[str, Any]:
        """The reported usage of each role; empty if none was reported."""
        costs = {role: round(cost, 6) for role, cost in self._costs(generator).items()}
        of_agent = {
            **({"tokens": self.tokens, "tokens_in_core": self.tokens_in_core} if self.tokens else {}),
            **({"cost": costs[AGENT]} if costs[AGENT] else {}),
        }
        of_generator = generator.document() | ({"cost": costs[GENERATOR]} if costs[GENERATOR] else {})
        limits = {"tokens": self.limits.tokens, "cost": self.limits.cost, "minutes": self.limits.minutes}
        return {
            **({AGENT: of_agent} if of_agent else {}),
            **({GENERATOR: of_generator} if of_generator else {}),
            **({"limits": set_ones} if (set_ones := {k: v for k, v in limits.items() if v is not None}) else {}),
        }

    def _costs(self, generator: Usage) -> dict[str, float]:
        """The cost of each role: as it reports, or else computed from its tokens."""
        prices = self.limits.prices
        agent = prices[AGENT].of(self.tokens - self.written, self.written) if AGENT in prices else 0.0
        drafts = prices[GENERATOR].of(generator.input_tokens, generator.output_tokens) if GENERATOR in prices else 0.0
        return {AGENT: self.stated_cost or agent, GENERATOR: generator.cost or drafts}


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens
