"""What the operator says about a case: an inquiry or an order as acts of the grammar."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sirocco.domains.kubernetes.probes.capability.site import Site
from sirocco.probes.language.acts import (
    Act,
    Ask,
    Condition,
    Deed,
    Motive,
    Remark,
    Report,
    Thing,
)

Turns = tuple[tuple[Act, ...], ...]
_PLACE, _MOTIVE = 0.5, 0.4
_FOLD = {"2": "twice", "3": "three times", "4": "four times"}

CUT_OFF = "cut_off"
"""The symptom that involves two things."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What the operator wants to know or have done, about which workload, and how it shows."""

    topic: str
    """A key of the material's remarks."""
    name: str
    symptom: str = ""
    """A key of the material's symptoms; empty if nothing is wrong."""
    other: str = ""
    """Another thing that is mentioned, by its name."""
    suspect: str = ""
    """What else the operator has noticed, as a clause."""
    figure: str = ""
    count: str = ""
    kind: str = "deployment"


def inquire(site: Site, inquiry: Inquiry) -> Turns:
    """A turn in which the operator says what is wrong and asks for what is wanted."""
    thing = spoken_thing(site, inquiry.kind, inquiry.name)
    slots = {
        key: text
        for key, text in (
            ("item", inquiry.other or inquiry.name),
            ("statement", inquiry.suspect),
            ("amount", inquiry.figure),
            ("fold", _FOLD.get(inquiry.figure, "")),
            ("count", inquiry.count),
        )
        if text
    }
    report: list[Act] = [Report(thing, inquiry.symptom)] if inquiry.symptom else []
    if inquiry.other and inquiry.symptom == CUT_OFF:
        report = [Remark(CUT_OFF, thing, slots)]
    return ((*report, Remark(inquiry.topic, thing, slots)),)


def order(site: Site, deeds: Sequence[Deed], afterwards: Inquiry | None = None) -> Turns:
    """A turn in which the operator asks for changes one after the other, with accompanying remarks."""
    acts: list[Act] = []
    for number, deed in enumerate(deeds):
        if number:
            acts.append(Condition("in_turn"))
        # The place is said once, if at all.
        thing = (
            spoken_thing(site, deed.thing.kind, str(deed.thing.name)) if not number else replace(deed.thing, place=None)
        )
        acts.append(Ask(replace(deed, thing=thing)))
        if not number and site.dice.random() < _MOTIVE:
            acts.append(Motive.of(deed))
    if afterwards is not None:
        acts.append(Remark(afterwards.topic, Thing(afterwards.kind, afterwards.name)))
    return (tuple(acts),)


def spoken_thing(site: Site, kind: str, name: str) -> Thing:
    """A workload as operators speak of it, with its namespace or without."""
    return Thing(kind, name, site.namespace if site.dice.random() < _PLACE else None)
