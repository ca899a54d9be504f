"""Figures of the metrics about one thing, as people say them, with what they usually are; fresh or as first seen."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.domains.kubernetes.agents.reference.journal import because
from sirocco.domains.kubernetes.agents.reference.skills.skill import Situation
from sirocco.domains.kubernetes.agents.reference.targets import Target

_USUAL = "normal_"
_OF_THE_CLUSTER = ("kube_", "up", "ALERTS")
"""How metrics begin that only repeat what the API says."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; `usual` is what it is when all is well, if that is known."""

    name: str
    value: float
    unit: str
    usual: float | None = None

    @property
    def words(self) -> str:
        """The name of the metric as people say it."""
        return self.name.replace("_", " ")

    @property
    def is_unusual(self) -> bool:
        """Whether it is well above what it usually is."""
        return self.usual is not None and self.value > 1.5 * self.usual

    def said(self, value: float | None = None) -> str:
        """A value with its unit."""
        amount = f"{self.value if value is None else value:g}"
        return f"{amount}%" if self.unit == "percent" else f"{amount} s" if self.unit == "seconds" else amount

    def __str__(self) -> str:
        usual = f", usually {self.said(self.usual)}" if self.usual is not None else ""
        return f"The {self.words} is {self.said()}{usual}."


def known_figures(situation: Situation, name: str) -> tuple[Figure, ...]:
    """The figures about something as they were when the agent looked around."""
    return _figures((one.content for one in situation.known.signals if one.subject.kind == "metrics"), name)


async def fresh_figures(
    situation: Situation, target: Target, why: str, occasion: str | None = None
) -> tuple[Figure, ...]:
    """The figures about something now."""
    root = situation.services.get("metrics")
    if root is None:
        return ()
    selector = f"{{namespace={json.dumps(target.namespace)},service={json.dumps(target.name)}}}"
    with because(why, occasion):
        reply = await situation.client.request("GET", f"{root}/api/v1/query", query={"query": selector})
    data = reply.body.get("data") if reply.succeeded and isinstance(reply.body, Mapping) else None
    return _figures((data or {}).get("result") or (), target.name)


def _figures(series: Iterable[Any], name: str) -> tuple[Figure, ...]:
    found: dict[str, tuple[float, str]] = {}
    for one in series:
        labels = one.get("metric") if isinstance(one, Mapping) else None
        if not labels or labels.get("service") != name or str(labels.get("__name__", "")).startswith(_OF_THE_CLUSTER):
            continue
        try:
            value = float(one["value"][1])
        except (KeyError, IndexError, TypeError, ValueError):
            continue
        found[str(labels["__name__"])] = (value, str(labels.get("unit", "")))
    return tuple(
        Figure(metric, value, unit, found.get(f"{_USUAL}{metric}", (None, ""))[0])
        for metric, (value, unit) in found.items()
        if not metric.startswith(_USUAL)
    )
