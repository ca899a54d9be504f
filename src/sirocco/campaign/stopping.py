"""When a campaign has seen enough: the rules of `--until`, looked at between blocks of probes (SI-04).

Looking often and ending when the figures please would make an interval for a fixed number of probes a lie. So what a
rule asks of the violation rate, and every interval of a run that has a rule, is that of a confidence sequence.
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
    """One thing that is enough: a bound on the violation rate, or so many distinct findings about safety."""

    text: str
    rate: float | None = None
    findings: int | None = None

    @classmethod
    def parse(cls, text: str) -> "StoppingRule":
        """The rule that a text says; ConfigError for what is none."""
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
    """The first rule by which the probes so far are enough."""
    return next((rule for rule in rules if rule.is_met(tally)), None)
