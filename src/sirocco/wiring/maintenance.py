"""A maintainer's work on reserved scenarios: seal, rotate, publish, revoke (AV-19, AV-20)."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sirocco.errors import ConfigError, Finding, InvalidInput, ReservedError, Severity
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import digest
from sirocco.oasis.profile import Profile, ReservedPolicy
from sirocco.profiles.load import load_scenario, load_scenario_file
from sirocco.profiles.read import yaml_files
from sirocco.profiles.yaml_text import read_yaml, write_yaml
from sirocco.reserved.age import encrypt_bytes
from sirocco.reserved.history import Event, History, fingerprint, require_no_shrinking
from sirocco.reserved.manifest import (
    Counts,
    Edition,
    Manifest,
    ProfileReference,
    ReservedBundle,
    SignedManifest,
    counts,
)
from sirocco.reserved.phase import file_bytes
from sirocco.reserved.publication import (
    OPENINGS,
    Opening,
    Publication,
    openings_text,
    require_policy,
    salts_in,
    verified_openings,
)
from sirocco.reserved.seal import seal
from sirocco.reserved.tracers import Trace, distinct_tracers, tracer_shares, traces
from sirocco.reserved.vault import OpenedBundle, inspect, open_scenarios
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import published_text, witnesses
from sirocco.wiring.clock import today, utc_now
from sirocco.wiring.config import Seed
from sirocco.wiring.reserved_keys import Maintainer, identities_in, signing_file

_WHERE = "reserved scenarios"
_FINGERPRINT = 8
"""Digits of an evaluator's fingerprint in the name of a bundle."""


@dataclass(frozen=True, slots=True)
class SealedEdition:
    """The files of an edition: one bundle for all evaluators or one for each, and the public manifest."""

    bundles: tuple[Path, ...]
    manifest: Path
    total: int

    @classmethod
    def write(cls, bundles: Sequence[ReservedBundle], recipients: Sequence[str], out: Path) -> "SealedEdition":
        """Write them, the manifest next to the bundle; if there are several, each has its evaluator's fingerprint."""
        manifest, first = out.with_name(f"{out.stem}.manifest.yaml"), bundles[0]
        signed = SignedManifest(manifest=first.manifest, signature=first.signature)
        named = [fingerprint(one).removeprefix("sha256:")[:_FINGERPRINT] for one in recipients]
        several = tuple(out.with_name(f"{out.stem}.{name}{out.suffix}") for name in named)
        files = several if len(bundles) > 1 else (out,)
        if taken := [path for path in (*files, manifest) if path.exists()]:
            problem = (
                "already exists, and an edition is never overwritten: retired scenarios are published from its bundle"
            )
            raise ConfigError(taken[0], problem, "choose another file")
        try:
            for file, bundle in zip(files, bundles, strict=True):
                file.write_text(bundle.text(), encoding="utf-8", newline="\n")
            manifest.write_text(write_yaml(signed.document()), encoding="utf-8", newline="\n")
        except OSError as error:
            raise ConfigError(
                "--out", f"the bundle cannot be written: {error.strerror}", "choose another path"
            ) from error
        return cls(files, manifest, first.manifest.counts.total)


@dataclass(frozen=True, slots=True)
class Workshop:
    """A profile and the maintainer who works on its reserved scenarios."""

    name: str
    profile: Profile
    policy: ReservedPolicy
    maintainer: Maintainer
    history: History

    @classmethod
    def open(cls, name: str, key: Path, history: Path | None) -> "Workshop":
        """The workshop of a profile; ReservedError if the profile does not name this maintainer."""
        profile, _ = profile_source.required_profile(name)
        folder = profile_source.profile_folder(name)
        policy, maintainer = require_policy(folder, profile.document), Maintainer.read(key)
        if maintainer.signer.public not in policy.maintainers:
            problem = "the profile does not name this key among its maintainers"
            raise ReservedError(signing_file(key), problem, "add its public half to reserved.maintainers")
        if history is None and policy.history is None:
            remedy = "add reserved.history to it, or give --history FILE"
            raise ReservedError(folder, "the profile does not name a history", remedy)
        where = history or folder / str(policy.history)
        return cls(name, profile, policy, maintainer, History.read(where, policy.maintainers))

    def seal(
        self,
        documents: Sequence[dict[str, Any]],
        recipients: Sequence[str],
        out: Path,
        tracers: Sequence[dict[str, Any]] = (),
        holders: int = 1,
    ) -> SealedEdition:
        """Seal the first edition and start its history."""
        if self.history.entries:
            problem = "there is an edition already"
            raise ReservedError(self.history.path, problem, "replace it with `sirocco reserved rotate`")
        shares = _tracer_shares(tracers, recipients, holders)
        bundles = self._sealed_edition(documents, recipients, number=1, since=(), tracers=shares, holders=holders)
        return self._released(bundles, recipients, out, Event(action="seal", on=today(), manifest=bundles[0].manifest))

    def planned_rotation(
        self,
        bundles: Sequence[Path],
        retire: Sequence[str],
        added: Sequence[dict[str, Any]],
        tracers: Sequence[dict[str, Any]] = (),
        recipients: Sequence[str] = (),
        holders: int = 1,
    ) -> "Rotation":
        """The result of rotating all bundles of an edition; nothing is written."""
        opened = [self.open_bundle(bundle) for bundle in bundles]
        for bundle, one in zip(bundles, opened, strict=True):
            if self.history.current != one.manifest:
                problem = "it is not the last edition in the history"
                raise ReservedError(bundle, problem, "rotate the bundle of the last edition")
        before = EarlierEdition.from_bundles(opened)
        if retire != ("*",) and (unknown := sum(one not in before.ids for one in retire)):
            raise ReservedError(bundles[0], f"{unknown} of the scenarios to retire are not in it", "check --retire")
        retired = before.ids if retire == ("*",) else frozenset(retire) | before.tracers
        rotation = Rotation(before, retired, tuple(added), _tracer_shares(tracers, recipients, holders), holders)
        if not (rotation.documents or rotation.tracers):
            raise ReservedError("rotation", "it would leave no reserved scenario", "add new ones with --add")
        return rotation

    def rotate(self, rotation: "Rotation", recipients: Sequence[str], out: Path) -> SealedEdition:
        """Seal the next edition; one in which a category shrinks is refused before anything is sealed (AV-20)."""
        rotation.require_growth()
        number = rotation.before.manifest.edition.number + 1
        since = (*(one for _, one in rotation.kept_scenarios), *(number for _ in rotation.added))
        bundles = self._sealed_edition(
            rotation.documents, recipients, number=number, since=since, tracers=rotation.tracers,
            holders=rotation.holders,
        )  # fmt: skip
        retired = rotation.retired_commitments
        event = Event(action="rotate", on=today(), manifest=bundles[0].manifest, retired=retired)
        return self._released(bundles, recipients, out, event)

    def _released(
        self, bundles: Sequence[ReservedBundle], recipients: Sequence[str], out: Path, event: Event
    ) -> SealedEdition:
        """The files of an edition, written once its event may be appended to the history, which then records it."""
        self.history.require_possible(event, self.history.path)
        sealed = SealedEdition.write(bundles, recipients, out)
        self.history.append(event, self.maintainer.signer)
        return sealed

    def publish(self, bundle: Path, out: Path) -> list[Path]:
        """Write the retired scenarios of an earlier bundle with their salts, and record that in the history."""
        opened = self.open_bundle(bundle)
        wanted = self.history.retired_commitments - self.history.published_commitments
        openings = [
            Opening(out / f"{digest(document).removeprefix('sha256:')[:12]}.yaml", dict(document), salt)
            for document, salt in zip(opened.documents, opened.salts, strict=True)
        ]
        openings = [one for one in openings if one.commitment in wanted]
        if not openings:
            raise ReservedError(bundle, "none of its scenarios is retired and unpublished", "retire some in a rotation")
        earlier = published_openings(out)
        out.mkdir(parents=True, exist_ok=True)
        canary = f"# canary {self.profile.document.canary}\n" if self.profile.document.canary else ""
        for one in openings:
            one.file.write_text(canary + write_yaml(one.document), encoding="utf-8", newline="\n")
        (out / OPENINGS).write_text(openings_text([*earlier, *openings]), encoding="utf-8", newline="\n")
        if not {one.commitment for one in openings} <= {one.commitment for one in published_openings(out)}:
            raise ReservedError(out, "a scenario does not read back as it was committed to", "publish it by hand")
        event = Event(action="publish", on=today(), published=tuple(sorted(one.commitment for one in openings)))
        self.history.append(event, self.maintainer.signer)
        return [one.file for one in openings]

    def revoke(self, recipient: str) -> None:
        """Record in the history that nothing is sealed to an evaluator any longer."""
        encrypt_bytes(b"", [recipient], armored=False)  # refuses what is not a recipient
        event = Event(action="revoke", on=today(), evaluator=fingerprint(recipient))
        self.history.append(event, self.maintainer.signer)

    def open_bundle(self, bundle: Path) -> OpenedBundle:
        """A bundle of any edition that this maintainer can open."""
        data = file_bytes(bundle, "BUNDLE")
        sealed_for = inspect(data, bundle).manifest.profile
        if sealed_for.id != self.profile.document.id:
            raise ReservedError(bundle, "it belongs to another profile", "name that profile with --profile")
        return open_scenarios(
            data,
            self.maintainer.identities,
            profile=sealed_for,
            maintainers=self.policy.maintainers,
            where=bundle,
        )

    def _sealed_edition(
        self,
        documents: Sequence[dict[str, Any]],
        recipients: Sequence[str],
        *,
        number: int,
        since: Sequence[int],
        tracers: Sequence[Sequence[dict[str, Any]]],
        holders: int,
    ) -> tuple[ReservedBundle, ...]:
        policy = self.policy
        if not policy.contact:
            problem = "the profile does not say where evaluators ask for the bundle"
            raise ReservedError(self.name, problem, "add reserved.contact to it")
        self.history.require_recipients(recipients)
        require_sound([*documents, *map(dict, distinct_tracers(tracers))], self.profile)
        edition = Edition(
            number=number, sealed_on=today(), cadence=policy.cadence, contact=policy.contact,
            audit_recipient=self.maintainer.recipient,
        )  # fmt: skip
        return seal(
            documents, profile=ProfileReference.from_profile(self.profile), edition=edition, recipients=recipients,
            signer=self.maintainer.signer, salt=lambda: secrets.token_bytes(32), since=since,
            tracers=tracers, tracer_holders=holders,
        )  # fmt: skip


def _tracer_shares(
    tracers: Sequence[dict[str, Any]], recipients: Sequence[str], holders: int
) -> tuple[tuple[dict[str, Any], ...], ...]:
    return tracer_shares(tracers, len(recipients), secrets.SystemRandom().shuffle, holders)


@dataclass(frozen=True, slots=True)
class EarlierEdition:
    """The scenarios of an edition, from all of its bundles."""

    manifest: Manifest
    rows: Mapping[str, tuple[Mapping[str, Any], int]] = field(repr=False)
    """Each scenario and the edition in which it was first sealed, by its commitment."""
    tracers: frozenset[str] = field(repr=False)
    """The ids of those that are not in every bundle."""

    @classmethod
    def from_bundles(cls, opened: Sequence[OpenedBundle]) -> "EarlierEdition":
        """The edition; ReservedError if one of its bundles is missing, since tracers could not be recognized."""
        manifest = opened[0].manifest
        rows = {
            found: (document, since)
            for one in opened
            for found, document, since in zip(one.commitments, one.documents, one.since, strict=True)
        }
        if rows.keys() != set(manifest.commitments):
            problem = f"the edition has {len(manifest.sealed_digests)} bundles, one for each evaluator"
            raise ReservedError("rotation", problem, "name them all")
        common = frozenset(rows).intersection(*(one.commitments for one in opened))
        tracers = frozenset(str(document["id"]) for found, (document, _) in rows.items() if found not in common)
        return cls(manifest, rows, tracers)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all scenarios."""
        return frozenset(str(document["id"]) for document, _ in self.rows.values())


@dataclass(frozen=True, slots=True)
class Rotation:
    """A planned rotation: what is retired, what is kept, what is added; tracers are used for one edition."""

    before: EarlierEdition
    retired: frozenset[str] = field(repr=False)
    added: tuple[dict[str, Any], ...] = field(repr=False)
    tracers: tuple[tuple[dict[str, Any], ...], ...] = field(repr=False)
    """What some evaluators get but not all."""
    holders: int

    @property
    def kept_scenarios(self) -> list[tuple[dict[str, Any], int]]:
        """The scenarios that stay, each with the edition in which it was first sealed."""
        rows = self.before.rows.values()
        return [(dict(document), since) for document, since in rows if document["id"] not in self.retired]

    @property
    def documents(self) -> list[dict[str, Any]]:
        """The scenarios that every evaluator gets in the next edition."""
        return [*(document for document, _ in self.kept_scenarios), *self.added]

    @property
    def retired_commitments(self) -> tuple[str, ...]:
        """What the previous edition committed to and the next one leaves out."""
        rows = self.before.rows.items()
        return tuple(sorted(found for found, (document, _) in rows if document["id"] in self.retired))

    @property
    def counts(self) -> Counts:
        """The counts of each bundle of the next edition."""
        return counts([*self.documents, *(self.tracers[0] if self.tracers else ())], _WHERE)

    def require_growth(self) -> None:
        """Raise ReservedError if nothing changes or a category shrinks (AV-20)."""
        if not self.retired and not self.added and not self.tracers:
            raise ReservedError(
                "rotation", "nothing is retired and nothing is added", "name scenarios: --retire, --add"
            )
        require_no_shrinking(self.before.manifest.counts, self.counts, "rotation")


def scenario_documents(paths: Sequence[Path], profile: Profile) -> list[dict[str, Any]]:
    """The scenarios in files, verbatim, once all are valid: a later schema must not change commitments (SI-06)."""
    findings: list[Finding] = []
    documents: list[dict[str, Any]] = []
    for path in paths:
        for file in yaml_files(path):
            found = load_scenario_file(file, profile)
            findings += [finding for finding in found.findings if finding.severity is Severity.ERROR]
            documents += [dict(document) for document in found.documents]
    if findings:
        raise InvalidInput(_WHERE, findings)
    return documents


def require_sound(documents: Sequence[dict[str, Any]], profile: Profile) -> None:
    """Raise ReservedError, by number, for a scenario that is public or that its witnesses show to be unsound."""
    published = {bound.scenario.id for bound in profile.scenarios}
    for number, document in enumerate(documents, start=1):
        if document.get("id") in published:
            problem = f"scenario {number} has the id of a published one"
            raise ReservedError(_WHERE, problem, "reserve scenarios that are not public")
    bound = [load_scenario(document, profile, f"scenario {n}") for n, document in enumerate(documents, start=1)]
    asyncio.run(_require_witnesses(bound, profile))


async def _require_witnesses(scenarios: Sequence[BoundScenario], profile: Profile) -> None:
    settings = RunSettings(Seed.choose(None).value, utc_now)
    judges = witnesses(plugins.own_provider(profile), settings, profile.domain)
    for number, bound in enumerate(scenarios, start=1):
        if problems := (await judges.report(bound)).problems:
            kinds = ", ".join(sorted({problem.reason for problem in problems}))
            problem = f"the witnesses of scenario {number} show that it is not sound: {kinds}"
            raise ReservedError(_WHERE, problem, "see why with `sirocco validate` and `sirocco profile check`")


def published_openings(folder: Path) -> list[Opening]:
    """The published scenarios of a folder with their salts; none if it has no list of salts."""
    if not (folder / OPENINGS).is_file():
        return []
    return [Opening(folder / name, _document(folder / name), salt) for name, salt in salts_in(folder).items()]


def _document(file: Path) -> dict[str, Any]:
    try:
        nodes = read_yaml(file.read_text(encoding="utf-8"), file.name).documents
    except (OSError, UnicodeDecodeError):
        nodes = ()
    if len(nodes) != 1 or not isinstance(nodes[0].value, dict):
        raise ReservedError(file, "this is not a published scenario", "restore it from the profile")
    return dict(nodes[0].value)


def inspected_documents(bundle: Path, identity: Path, name: str) -> tuple[Mapping[str, Any], ...]:
    """The scenarios of a bundle for someone entitled to read them, in memory only."""
    profile, _ = profile_source.required_profile(name)
    policy = require_policy(profile_source.profile_folder(name), profile.document)
    data, keys = file_bytes(bundle, "BUNDLE"), identities_in(identity, "--identity")
    sealed_for = inspect(data, bundle).manifest.profile
    return open_scenarios(data, keys, profile=sealed_for, maintainers=policy.maintainers, where=bundle).documents


def found_traces(files: Sequence[Path], bundles: Sequence[Path], identity: Path, name: str) -> list[Trace]:
    """Which texts found elsewhere contain words from bundles that no public text contains: each is a canary."""
    profile, _ = profile_source.required_profile(name)
    texts = {str(file): file_bytes(file, "--found").decode("utf-8", "ignore") for file in files}
    public = published_text(profile, profile_source.profile_folder(name))
    return traces(texts, {str(one): inspected_documents(one, identity, name) for one in bundles}, public)


@dataclass(frozen=True, slots=True)
class VerifiedRecord:
    """The public record of a profile's reserved scenarios, signed and consistent."""

    publication: Publication
    history: History
    published: int
    """How many published scenarios match their commitments."""

    def document(self) -> dict[str, Any]:
        """The record as plain data."""
        return {
            "editions": len(self.history.manifests),
            "retired": len(self.history.retired_commitments),
            "published": self.published,
            "revoked": len(self.history.revoked_recipients),
            "head": self.history.head,
            "warning": self.publication.warning(today()),
        }


def verified_record(name: str, heads: Sequence[str] = ()) -> VerifiedRecord:
    """What a profile publishes, if all of it is signed and consistent; ReservedError otherwise (SI-06)."""
    folder = profile_source.profile_folder(name)
    profile, _ = profile_source.required_profile(name)
    publication = Publication.read(folder, profile.document)
    if publication.history is None:
        raise ReservedError(folder, "the profile does not name a history", "add reserved.history to it")
    for head in heads:
        publication.history.require_head(head, "--head")
    folders = sorted(file.parent for file in folder.rglob(OPENINGS))
    openings = [opening for one in folders for opening in published_openings(one)]
    return VerifiedRecord(publication, publication.history, verified_openings(openings, publication.history))
