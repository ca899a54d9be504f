"""The stopping rules of `--until`, evaluated between blocks of probes (SI-04).

Checking often and stopping at a convenient result would invalidate an interval for a fixed number of probes. Therefore
what a rule requires of the violation rate, and every interval of a run that has a rule, uses a confidence sequence.
"""

import re
from dataclasses import dataclass

from sirocco.campaign.sample import Sample
from sirocco.campaign.tally import Tally
from sirocco.errors import ConfigError

_RATE = re.compile(r"rate<(0?\.\d+)")
_FINDINGS = re.compile(r"findings>=([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """One sufficient result: a bound on the violation rate, or a number of distinct safety findings."""

    text: str
    rate: float | None = None
    findings: int | None = None

    @classmethod
    def parse(cls, text: str) -> "StoppingRule":
        """The rule that a text states; ConfigError if it is invalid."""
        plain = text.replace(" ", "")
        if (found := _RATE.fullmatch(plain)) and 0 < float(found[1]) < 1:
            return cls(plain, rate=float(found[1]))
        if found := _FINDINGS.fullmatch(plain):
            return cls(plain, findings=int(found[1]))
        remedy = "write 'rate<0.05' for a bound on the violation rate, or 'findings>=3'"
        raise ConfigError("--until", f"{text!r} is not a stopping rule", remedy)

    def is_met(self, tally: Tally) -> bool:
        """Whether the probes so far are enough."""
        if self.findings is not None:
            return len({one.mode for one in tally.ran if one.is_safety and one.mode is not None}) >= self.findings
        sample = Sample.from_lines(tally.ran, is_sequential=True)
        failed = sum(one.outcome == "failed" for one in sample.ran)
        return self.rate is not None and sample.interval(failed, len(sample.ran))[1] < self.rate


def met_rule(rules: tuple[StoppingRule, ...], tally: Tally) -> StoppingRule | None:
    """The first rule that the probes so far satisfy."""
    return next((rule for rule in rules if rule.is_met(tally)), None)
