"""Probes from files: their own text is checked, run and shrunk, never what their lineage would make (AV-11).

A lineage says where a probe comes from. If it still produces the same document, the generator's steps can be undone one
by one; if the document was edited, they cannot, and the differences are named.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.campaign.admission import Admission, Rejection
from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.essentials import written_sentences
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.scenario import ProbeRecord
from sirocco.profiles.bind import with_predicates
from sirocco.profiles.load import load_scenario

_OURS = "x-sirocco"
_NAMED = 6
"""The maximum number of differences named in a line."""
_LEARNED = ("foreign_names", "own_names")
_JUDGED = ("assertions", "verification", f"{_OURS}/goal", f"{_OURS}/task")
_PRESERVED = "preserved."
_MISSING = object()


@dataclass(frozen=True, slots=True)
class GivenProbe:
    """A probe as it is in a file."""

    bound: BoundScenario
    document: Mapping[str, Any]
    edited: tuple[str, ...] = ()
    """Where the document differs from what its lineage makes."""
    unrepeatable: str = ""
    """Why its lineage cannot be repeated here."""
    reread: tuple[str, ...] = ()
    """Checks whose text was edited while the stored reading was not: they are read afresh."""
    written: frozenset[str] = frozenset()
    """Sentences that its lineage does not produce."""

    @property
    def is_as_made(self) -> bool:
        """Whether it has a lineage that produces exactly this document."""
        return self.bound.scenario.x_sirocco.probe is not None and not self.edited and not self.unrepeatable

    @property
    def remark(self) -> str:
        """A remark for the user; none for an unedited probe, or for one without a lineage."""
        if self.unrepeatable:
            return f"used unchanged: its lineage cannot be repeated here, {self.unrepeatable}"
        if not self.edited:
            return ""
        anew = f"; read again: {', '.join(self.reread)}" if self.reread else ""
        return f"edited: the document differs from its lineage at {_places_text(self.edited)}{anew}"


async def given_probe(
    bound: BoundScenario, document: Mapping[str, Any], generator: AtArmsLength, admission: Admission
) -> GivenProbe:
    """A document compared with what its lineage makes; InvalidInput if an edited entry can no longer be read."""
    record = bound.scenario.x_sirocco.probe
    if record is None:
        return GivenProbe(bound, document)
    draft = await generator.remake_draft(record)
    if draft is None:
        return GivenProbe(bound, document, unrepeatable="because no generator here makes it")
    made = admission.valid(draft)
    if isinstance(made, Rejection):
        return GivenProbe(bound, document, unrepeatable=f"because its result is refused: {made.reason}")
    own, others = _content(bound), _content(made[0])
    edited = tuple(differing_places(others, own))
    if edited and (other := _other_version(record, generator, admission)):
        return GivenProbe(bound, document, unrepeatable=other)
    written = written_sentences(own) - written_sentences(others)
    if stale := _stale_readings(own, others, edited):
        document = _without_readings(document, stale)
        bound = load_scenario(document, admission.profile, "the probe")
    return GivenProbe(bound, document, edited, reread=stale, written=written)


def differing_places(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """The paths at which two documents differ, as deep as their structures agree."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        pairs: Iterator[tuple[Any, Any, Any]] = (
            (key, one.get(key, _MISSING), other.get(key, _MISSING)) for key in {**one, **other}
        )
    elif isinstance(one, list) and isinstance(other, list):
        length = max(len(one), len(other))
        padded = ([*values, *[_MISSING] * (length - len(values))] for values in (one, other))
        pairs = ((number, *pair) for number, pair in enumerate(zip(*padded, strict=True)))
    else:
        if one != other:
            yield path
        return
    for key, before, after in pairs:
        yield from differing_places(before, after, f"{path}/{key}".lstrip("/"))


def _content(bound: BoundScenario) -> dict[str, Any]:
    """Everything that is said, done and judged, with the readings of prose, but without the probe's name and origin."""
    document = with_predicates(bound).document()
    extension = dict(document.get(_OURS, {}))
    record = extension.pop("probe", {})
    return {
        **{key: value for key, value in document.items() if key != "id"},
        _OURS: {**extension, "probe": {key: record.get(key, []) for key in _LEARNED}},
    }


def _other_version(record: ProbeRecord, generator: AtArmsLength, admission: Admission) -> str:
    """Which of the inputs of a lineage has another version here; empty if none."""
    if record.generator.get("config_hash") != generator.method.config_hash:
        return "because another generator, or another version of it, made it"
    # A freshly drawn probe has no base; its generator says for which profile it was drawn.
    made_from = record.base or record.generator.get("base")
    if not isinstance(made_from, Mapping) or made_from.get("digest") != admission.profile.digest():
        return "because it was made from another version of the profile"
    return ""


def _stale_readings(own: Mapping[str, Any], made: Mapping[str, Any], edited: tuple[str, ...]) -> tuple[str, ...]:
    """The checks whose text was edited but whose stored reading was not."""
    readings, former = own[_OURS].get("predicates", {}), made[_OURS].get("predicates", {})
    unchanged = [check for check, reading in readings.items() if former.get(check) == reading]
    return tuple(
        check
        for check in unchanged
        if any(_is_within(place, root) for root in _texts_behind(check) for place in edited)
    )


def _texts_behind(check: str) -> tuple[str, ...]:
    """The location of the text that a check is the reading of.

    What must survive follows from everything that is judged.
    """
    if check.startswith(_PRESERVED):
        return _JUDGED
    path = check.replace(".", "/")
    return (f"assertions/{path}", f"verification/{path}")


def _is_within(place: str, root: str) -> bool:
    return place == root or place.startswith(f"{root}/")


def _without_readings(document: Mapping[str, Any], checks: tuple[str, ...]) -> dict[str, Any]:
    extension = dict(document[_OURS])
    readings = extension.get("predicates", {})
    extension["predicates"] = {check: reading for check, reading in readings.items() if check not in checks}
    return {**document, _OURS: extension}


def _places_text(places: tuple[str, ...]) -> str:
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return ", ".join(places[:_NAMED]) + more
