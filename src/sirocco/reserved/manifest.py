"""The public manifest of reserved scenarios: counts, commitments and terms, and how they are computed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, NonNegativeInt, PositiveInt, StringConstraints, ValidationError, model_validator

from sirocco.errors import Finding, InvalidInput, Place, ReservedError
from sirocco.evidence.merkle import merkle_root
from sirocco.oasis.archetype import Classification
from sirocco.oasis.canonical import canonical_json, digest
from sirocco.oasis.noun import Noun
from sirocco.oasis.profile import Profile
from sirocco.profiles.parse import parse
from sirocco.profiles.read import read_file
from sirocco.profiles.rules import RULES
from sirocco.profiles.yaml_text import read_yaml
from sirocco.reserved.bundle import FORMAT, Bundle, Digest, Format, PublicPart
from sirocco.reserved.signing import Signature

SALT_BYTES = 16  # the minimum that keeps a commitment from being guessed; use more
Salt = Annotated[str, StringConstraints(pattern=rf"^(?:[0-9a-f]{{2}}){{{SALT_BYTES},}}$")]


class ProfileReference(Noun):
    """The profile that reserved scenarios belong to, in the version published when they were sealed."""

    id: str
    version: str
    content_digest: Digest = Field(alias="digest")

    @classmethod
    def from_profile(cls, profile: Profile) -> Self:
        """The reference to a loaded profile."""
        return cls(id=profile.document.id, version=profile.document.version, content_digest=profile.digest())

    def __str__(self) -> str:
        return f"{self.id} {self.version}"


class Counts(Noun):
    """How many scenarios there are and what they cover; only this much is public (AV-19, AV-21)."""

    total: PositiveInt
    classifications: Mapping[Classification, PositiveInt]
    categories: Mapping[str, PositiveInt]
    archetypes: Mapping[str, PositiveInt]

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        for group in (self.classifications, self.categories, self.archetypes):
            if sum(group.values()) != self.total:
                raise ValueError("the counts do not add up to the total")
        return self


class Edition(Noun):
    """The terms under which a set of reserved scenarios is distributed."""

    number: PositiveInt = 1
    sealed_on: date
    cadence: str
    """How often the maintainer promises to rotate, in words: `90 days`, or `each minor version`."""
    contact: str
    """Where evaluators request the bundle."""
    audit_recipient: str
    """The maintainer's own age recipient, to which evidence of runs is sealed too."""


class Manifest(PublicPart):
    """What anyone may know about reserved scenarios: counts, and an opaque commitment to each (SI-06)."""

    format: Format = FORMAT
    profile: ProfileReference
    edition: Edition
    counts: Counts
    """Counts of each bundle; they are the same in all."""
    tracers: NonNegativeInt
    """How many scenarios of each bundle are not in all bundles: they identify the source of a leak."""
    tracer_holders: PositiveInt = 1
    """How many bundles contain each of them. From two on, evaluators who compare bundles do not find them all."""
    commitments: tuple[Digest, ...]
    """The commitment to every scenario of every bundle."""
    merkle_root: Digest

    @model_validator(mode="after")
    def _commits_to_each_scenario_once(self) -> Self:
        if self.tracers > self.counts.total or list(self.sealed_digests) != sorted(set(self.sealed_digests)):
            raise ValueError("there are more tracers than scenarios, or the digests are not sorted")
        common, copies = self.counts.total - self.tracers, len(self.sealed_digests) * self.tracers
        if (len(self.commitments) - common) * self.tracer_holders != copies:
            raise ValueError("there are not as many commitments as scenarios")
        if list(self.commitments) != sorted(set(self.commitments)):
            raise ValueError("the commitments are not sorted, or one occurs twice")
        if self.merkle_root != commitments_root(self.commitments):
            raise ValueError("the Merkle root is not the one over the commitments")
        return self


class ReservedBundle(Bundle):
    """A bundle of reserved scenarios."""

    kind: Literal["reserved"] = "reserved"
    manifest: Manifest


class SignedManifest(Noun):
    """The manifest in its published form, next to the profile."""

    manifest: Manifest
    signature: Signature


def commitments_root(commitments: Iterable[str]) -> str:
    """One digest for all commitments, by which a report names the scenarios of a run (SI-06)."""
    return merkle_root({one: one for one in commitments})


class Contents(Noun):
    """What is encrypted: the scenarios in the order of their commitments, a salt for each, and their profile."""

    model_config = ConfigDict(hide_input_in_errors=True)

    format: Format = FORMAT
    profile: ProfileReference
    salts: tuple[Salt, ...] = Field(repr=False)
    scenarios: tuple[dict[str, Any], ...] = Field(repr=False)
    since: tuple[PositiveInt, ...] = Field(repr=False)
    """The edition in which each scenario was first sealed, which distinguishes old ones from fresh ones."""

    @model_validator(mode="after")
    def _has_a_salt_for_each_scenario(self) -> Self:
        if not len(self.salts) == len(self.since) == len(self.scenarios):
            raise ValueError("there are not as many salts and editions as scenarios")
        return self

    def text(self) -> str:
        """The only form in which the contents may be sealed."""
        return canonical_json(self.document())

    def commitments(self) -> tuple[str, ...]:
        """The commitment to each scenario."""
        return tuple(map(commitment, self.scenarios, self.salts))


def commitment(scenario: Mapping[str, Any], salt: str) -> str:
    """SHA-256 over the salt and the verbatim document: whoever has both can check it, and no one can guess it.

    The document is not normalized first, so that a later version of the schema cannot change an old commitment.
    """
    return digest({"format": FORMAT, "salt": salt, "scenario": digest(scenario)})


class _Placement(Noun):
    """The part of a scenario that determines how it is counted."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    id: str
    classification: Classification
    category: str
    archetype: str


def counts(scenarios: Sequence[Mapping[str, Any]], where: object) -> Counts:
    """The public counts over scenarios; raise ReservedError, by number only, for one that cannot be counted."""
    placements = [_placement(scenario, number, where) for number, scenario in enumerate(scenarios, start=1)]
    _require_distinct([placement.id for placement in placements], where)
    return Counts(
        total=len(placements),
        classifications=Counter(placement.classification for placement in placements),
        categories=Counter(placement.category for placement in placements),
        archetypes=Counter(placement.archetype for placement in placements),
    )


def _placement(scenario: Mapping[str, Any], number: int, where: object) -> _Placement:
    try:
        return _Placement.model_validate(scenario)
    except ValidationError as error:
        fields = ", ".join(sorted({str(detail["loc"][0]) for detail in error.errors() if detail["loc"]}))
        raise ReservedError(
            where,
            f"scenario {number} has no valid {fields}",
            "check it with `sirocco validate` and seal again",
        ) from None


def _require_distinct(ids: Sequence[str], where: object) -> None:
    numbers: dict[str, int] = {}
    for number, identifier in enumerate(ids, start=1):
        first = numbers.setdefault(identifier, number)
        if first != number:
            raise ReservedError(
                where, f"scenarios {first} and {number} have the same id", "seal each scenario once, under its own id"
            )


def read_manifest(path: Path, profile_id: str) -> SignedManifest:
    """The manifest that `sirocco reserved seal` wrote for this profile; InvalidInput with every finding."""
    file = read_file(path)
    if isinstance(file, Finding):
        raise InvalidInput(path, [file])
    text = read_yaml(file.text, file.name)
    if len(text.documents) != 1:
        problem = f"the file holds {len(text.documents)} documents"
        empty = RULES["document-missing"].finding(Place(file.name), "", problem, "write exactly one manifest")
        raise InvalidInput(path, text.findings or [empty])
    parsed = parse(SignedManifest, text.documents[0])
    if parsed.noun is None:
        raise InvalidInput(path, parsed.findings)
    named = parsed.noun.manifest.profile.id
    if named != profile_id:
        problem = f"it was sealed for profile {named!r}, not for {profile_id!r}"
        raise ReservedError(path, problem, "name the manifest of this profile's own bundle")
    return parsed.noun
