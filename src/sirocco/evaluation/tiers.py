"""Whether an environment meets the complexity tier that a run claims; pure (CO-14)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sirocco.oasis.observation import Observation
from sirocco.oasis.profile import ProfileDocument, Tier
from sirocco.oasis.record import Observations
from sirocco.oasis.tier_evidence import Demand, TierEvidence


def tier_evidence(
    profile: ProfileDocument, tier: int, observed: Observation, access: Mapping[str, Any], record: Observations
) -> TierEvidence:
    """The evidence of an environment for a tier: counts of its objects, and the interfaces that agents can access."""
    measured, interfaces = record.counts(observed), tuple(sorted(record.interfaces(access)))
    demanded = next((one for one in profile.tiers if one.tier == tier), None)
    if demanded is None:
        unknown = Demand(f"tier {tier} is defined by the profile", "no such tier", met=False)
        return TierEvidence(tier, measured, interfaces, (unknown,))
    known = [interface.id for interface in profile.interfaces]
    demands = (*_counts(demanded, measured), *_interface_demands(demanded, interfaces, known))
    return TierEvidence(tier, measured, interfaces, demands, tuple(_prose(demanded, known)))


def _counts(tier: Tier, measured: Mapping[str, int]) -> Iterator[Demand]:
    """Minimum and maximum numbers; an environment beyond the maximum is larger than the tier, not below it."""
    for key, least in tier.environment.items():
        number = measured.get(key)
        yield Demand(f"at least {least} {key}", _number_text(number), None if number is None else number >= least)
    for key, most in tier.at_most.items():
        number = measured.get(key)
        yield Demand(f"at most {most} {key}", _number_text(number), None if number is None or number > most else True)


def _interface_demands(tier: Tier, offered: Iterable[str], known: Iterable[str]) -> Iterator[Demand]:
    named = [one for one in known for demand in tier.requirements if one in _words(demand)]
    for interface in dict.fromkeys((*tier.interfaces, *named)):
        is_offered = interface in offered
        yield Demand(f"interface {interface}", "offered" if is_offered else "not offered", is_offered)


def _prose(tier: Tier, known: Iterable[str]) -> Iterator[str]:
    """The demands of which a part is neither counted nor an interface."""
    counted = {*tier.environment, *tier.at_most}
    for demand in tier.requirements:
        parts = re.split(r",|\band\b", demand.partition(":")[2] or demand)
        if not _words(demand) & counted and not all(_words(part) & set(known) for part in parts):
            yield demand


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z][a-z-]*[a-z]", text.lower()))


def _number_text(number: int | None) -> str:
    return "not measured" if number is None else str(number)
