"""`sirocco reserved`: keys, bundles and the public record of withheld scenarios."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from math import comb
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.options import SeedType
from sirocco.cli.terminal import console, count_phrase, one_line, print_json, print_table
from sirocco.errors import ConfigError
from sirocco.profiles.yaml_text import write_yaml
from sirocco.reports.headline import reserved_count
from sirocco.reserved.age import distinct_recipients
from sirocco.reserved.age import keygen as new_identity
from sirocco.reserved.phase import file_bytes
from sirocco.reserved.signing import Signer
from sirocco.reserved.tracers import Trace
from sirocco.reserved.vault import inspect as signed_manifest
from sirocco.wiring import profile_source
from sirocco.wiring.audit import audited_commitments, audited_counts, suspected_leak
from sirocco.wiring.config import Seed
from sirocco.wiring.maintenance import (
    SealedEdition,
    Workshop,
    found_traces,
    inspected_documents,
    scenario_documents,
    verified_record,
)
from sirocco.wiring.reserved_drafts import proposals
from sirocco.wiring.reserved_keys import passphrase, signing_file, write_key_files

Command = TypeVar("Command", bound=Callable[..., Any])
_FILE = click.Path(exists=True, path_type=Path, dir_okay=False)
_NEW_FILE = click.Path(path_type=Path, dir_okay=False)
_FORMAT = click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
_PROFILE = click.option("--profile", default=profile_source.BUNDLED, show_default=True, help="Profile they belong to.")
_RECIPIENTS = click.option(
    "--recipient", "recipients", multiple=True, required=True, help="Evaluator's public key, age1... (repeatable)."
)
_TRACERS = click.option(
    "--tracers",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Scenarios to divide among evaluators, so that each gets different ones (repeatable).",
)
_HOLDERS = click.option(
    "--tracer-holders", "holders", type=click.IntRange(1, 10), default=1, show_default=True,
    help="Evaluators who get the same tracer; with 2, two who compare their bundles do not find them all.",
)  # fmt: skip
_IDENTITY = click.option("--identity", type=_FILE, help="Key that opens the bundle.")


def _maintainer_options(command: Command) -> Command:
    """The options of everything that only a maintainer can do."""
    for option in (
        click.option("--history", type=_NEW_FILE, help="The signed history.  [default: the one the profile names]"),
        click.option("--key", required=True, type=_FILE, help="The maintainer's key; the signing key is next to it."),
        _PROFILE,
    ):
        command = option(command)
    return command


@click.group("reserved", epilog="Example: sirocco reserved keygen --out evaluator.key")
def command() -> None:
    """Manage withheld scenarios: create keys, seal and rotate bundles, publish and verify, audit runs.

    A protected key is opened with the passphrase in SIROCCO_PASSPHRASE.
    """


@command.command("keygen", epilog="Example: sirocco reserved keygen --role maintainer --out maintainer.key")
@click.option("--out", required=True, type=_NEW_FILE, help="Output file for the key.")
@click.option("--role", type=click.Choice(["evaluator", "maintainer"]), default="evaluator", show_default=True)
@click.option(
    "--passphrase", "is_protected", is_flag=True, help="Protect the key with the passphrase in SIROCCO_PASSPHRASE."
)
@_FORMAT
def keygen(*, out: Path, role: str, is_protected: bool, output: str) -> int:
    """Create a key. The file is secret; the printed halves are public.

    An evaluator gets an age identity that opens bundles. A maintainer also gets an Ed25519 key that signs them, in a
    file of its own beside it.
    """
    secret = passphrase() if is_protected else ""
    if is_protected and not secret:
        raise ConfigError("--passphrase", "SIROCCO_PASSPHRASE is not set", "export it before")
    pair = new_identity()
    files = {out: (pair.protected_text(secret) if secret else pair.identity_text).encode()}
    public = {"recipient": pair.recipient}
    if role == "maintainer":
        signer = Signer.generate()
        files[signing_file(out)] = signer.pem(secret)
        public["maintainer"] = signer.public
    write_key_files(files)
    if output == "json":
        print_json(public)
    else:
        for name, key in public.items():
            console().print(one_line(f"{name}: {key}"))
    return int(ExitCode.OK)


@command.command(
    "seal",
    epilog="Example: sirocco reserved seal withheld/ --profile mine/ --key m.key --recipient age1... --out b.json",
)
@click.argument("scenarios", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@_RECIPIENTS
@_TRACERS
@_HOLDERS
@click.option("--out", required=True, type=_NEW_FILE, help="Output file for the bundle.")
@_maintainer_options
def seal(
    *, scenarios: tuple[Path, ...], recipients: tuple[str, ...], tracers: tuple[Path, ...], holders: int, out: Path,
    profile: str, key: Path, history: Path | None,
) -> int:  # fmt: skip
    """Seal scenarios into the first bundle, write its public manifest, and begin the history.

    Every scenario must be valid, and its witnesses must show that it can pass and fail. With --tracers, each evaluator
    gets a different bundle, so that a leak can be traced.
    """
    workshop = Workshop.open(profile, key, history)
    common, traced = (scenario_documents(paths, workshop.profile) for paths in (scenarios, tracers))
    sealed = workshop.seal(common, distinct_recipients(recipients), out, traced, holders)
    _print_edition("sealed", sealed, workshop)
    return int(ExitCode.OK)


@command.command(
    "rotate",
    epilog="Example: sirocco reserved rotate b1.json --retire ID --add new/ --key m.key --recipient age1... --out b2",
)
@click.argument("bundles", nargs=-1, required=True, type=_FILE)
@click.option("--retire", multiple=True, metavar="ID", help="Scenario to retire, or * for all (repeatable).")
@click.option(
    "--add", "added", multiple=True, type=click.Path(exists=True, path_type=Path), help="New scenarios (repeatable)."
)
@click.option("--recipient", "recipients", multiple=True, help="Evaluator's public key, age1... (repeatable).")
@_TRACERS
@_HOLDERS
@click.option("--out", type=_NEW_FILE, help="Output file for the next bundle.")
@click.option("--plan", is_flag=True, help="Show how each category would change; write nothing.")
@_maintainer_options
def rotate(
    *,
    bundles: tuple[Path, ...],
    retire: tuple[str, ...],
    added: tuple[Path, ...],
    recipients: tuple[str, ...],
    tracers: tuple[Path, ...],
    holders: int,
    out: Path | None,
    plan: bool,
    profile: str,
    key: Path,
    history: Path | None,
) -> int:
    """Replace retired scenarios with new ones, in a new edition with fresh commitments.

    This is refused if a category would have fewer scenarios than before (AV-20). For an edition with tracers, name all
    of its bundles; the tracers are retired.
    """
    workshop, recipients = Workshop.open(profile, key, history), distinct_recipients(recipients)
    new, traced = (scenario_documents(paths, workshop.profile) for paths in (added, tracers))
    rotation = workshop.planned_rotation(bundles, retire, new, traced, recipients, holders)
    if plan:
        before, after = rotation.before.manifest.counts.categories, rotation.counts.categories
        rows = [(name, before.get(name, 0), after.get(name, 0)) for name in sorted({*before, *after})]
        print_table(console(), ("category", "before", "after"), rows)
        rotation.require_growth()
        return int(ExitCode.OK)
    if out is None or not recipients:
        raise ConfigError(
            "rotate", "the recipients or the output file are missing", "add --recipient age1... and --out FILE"
        )
    _print_edition("rotated", workshop.rotate(rotation, recipients, out), workshop)
    return int(ExitCode.OK)


def _print_edition(done: str, sealed: SealedEdition, workshop: Workshop) -> None:
    number, history = count_phrase(sealed.total, "scenario"), workshop.history.path
    places = ", ".join(map(str, sealed.bundles))
    each = " each" if len(sealed.bundles) > 1 else ""
    console().print(one_line(f"{done}: {number}{each} in {places}; publish {sealed.manifest} and {history}"))


@command.command("publish", epilog="Example: sirocco reserved publish b1.json --key m.key --out mine/scenarios/retired")
@click.argument("bundle", type=_FILE)
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Public folder.")
@_maintainer_options
def publish(bundle: Path, out: Path, profile: str, key: Path, history: Path | None) -> int:
    """Move the retired scenarios of an earlier bundle to the public suite, with the salts of their commitments."""
    files = Workshop.open(profile, key, history).publish(bundle, out)
    console().print(one_line(f"published {count_phrase(len(files), 'scenario')} in {out}"))
    return int(ExitCode.OK)


@command.command("revoke", epilog="Example: sirocco reserved revoke age1... --key m.key --profile mine/")
@click.argument("recipient")
@_maintainer_options
def revoke(recipient: str, profile: str, key: Path, history: Path | None) -> int:
    """Exclude an evaluator from all later bundles. Earlier ones remain readable to them."""
    workshop = Workshop.open(profile, key, history)
    workshop.revoke(recipient)
    console().print(one_line(f"revoked; publish {workshop.history.path}"))
    return int(ExitCode.OK)


@command.command("verify", epilog="Example: sirocco reserved verify mine/")
@click.argument("profile", default=profile_source.BUNDLED)
@click.option("--head", "heads", multiple=True, metavar="DIGEST", help="Head of the history kept earlier (repeatable).")
@_FORMAT
def verify(profile: str, heads: tuple[str, ...], output: str) -> int:
    """Check what a profile publishes about reserved scenarios; no key is needed (SI-06).

    Checks that the history is consistent and signed by the maintainers, that the manifest matches the history, and that
    every published scenario matches its commitment from when it was reserved. With --head, also checks that the history
    continues from the one printed earlier, so that nobody has truncated or rewritten it.
    """
    document = verified_record(profile, heads).document()
    if output == "json":
        print_json(document)
        return int(ExitCode.OK)
    out, editions = console(), count_phrase(document["editions"], "edition")
    published = f"{document['published']} of {document['retired']} retired scenarios published"
    out.print(one_line(f"signed and consistent: {editions}, {published}"))
    out.print(f"history head {document['head']}")
    if document["warning"]:
        out.print(Text(one_line(f"warning: {document['warning']}"), style="yellow"))
    return int(ExitCode.OK)


@command.command("audit", epilog="Example: sirocco reserved audit runs/certified --identity maintainer.key")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--identity", type=_FILE, required=True, help="Key of the evaluator or a maintainer.")
@click.option("--profile", help="Profile whose commitments the scenarios are to be compared with.")
@_FORMAT
def audit(run: Path, identity: Path, profile: str | None, output: str) -> int:
    """Judge every reserved scenario of a run again, and compare the result with its report (SI-06).

    With --profile, also checks that the profile committed to each scenario, and counts how many of those were run.
    Evidence is sealed to the evaluator and to the maintainer; either key opens it, in memory.
    """
    counts = audited_counts(run, identity).document()
    found = audited_commitments(run, identity, profile) if profile else None
    if output == "json":
        committed = {"committed": {"scenarios": found.committed, "run": found.run}} if found else {}
        print_json({"counts": counts, **committed})
        return int(ExitCode.OK)
    console().print(one_line(f"the report matches the evidence: {reserved_count(counts)}"))
    if found:
        console().print(f"{found.run} of the {count_phrase(found.committed, 'scenario')} committed to were run")
    return int(ExitCode.OK)


@command.command("suspect", epilog="Example: sirocco reserved suspect runs/a runs/b --identity maintainer.key")
@click.argument("runs", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--identity", type=_FILE, required=True, help="Key of the evaluator or a maintainer.")
@click.option("--found", multiple=True, type=_FILE, help="Text that was found elsewhere (repeatable).")
@click.option("--bundle", "bundles", multiple=True, type=_FILE, help="Bundle whose words to look for (repeatable).")
@_PROFILE
@_FORMAT
def suspect(
    runs: tuple[Path, ...],
    identity: Path,
    found: tuple[Path, ...],
    bundles: tuple[Path, ...],
    profile: str,
    output: str,
) -> int:
    """Compare an agent's results on old reserved scenarios with those on fresh ones of the same archetypes.

    With --found, search a text, such as a model's answers or a data set, for words that are in the bundle and nowhere
    public. With the bundles of several evaluators, tracers tell whose bundle leaked. The exit code is 1 if there is
    reason to suspect a leak.
    """
    if found and bundles:
        return _show_traces(found_traces(found, bundles, identity, profile), len(found), output)
    if found or bundles or not runs:
        raise ConfigError("suspect", "there is nothing to compare", "name runs, or give --found and --bundle")
    compared = suspected_leak(runs, identity)
    if output == "json":
        print_json(compared.document())
    else:
        out = console()
        out.print(f"old scenarios    {compared.old_passed} of {compared.old} passed")
        out.print(f"fresh scenarios  {compared.fresh_passed} of {compared.fresh} passed")
        out.print(f"p = {compared.p_value:.4f} over {count_phrase(compared.archetypes, 'archetype')}")
        out.print(f"a leak that takes away half of the failures would be noticed in {compared.power:.0%} of cases")
    return int(ExitCode.SAFETY_FAIL if compared.is_suspicious else ExitCode.OK)


def _show_traces(traced: Sequence[Trace], searched: int, output: str) -> int:
    if output == "json":
        sources = {
            one.text: [{"bundles": list(names), "words": number} for names, number in one.sources.items()]
            for one in traced
            if one.sources
        }
        print_json({"searched": searched, "with_traces": [one.text for one in traced], "sources": sources})
    else:
        for one in traced:
            console().print(one_line(f"contains reserved words: {one.text}"))
            for names, number in one.sources.items():
                told = " and ".join(names)
                console().print(one_line(f"  {count_phrase(number, 'word')} found in no bundle but {told}"))
        console().print(f"{len(traced)} of {count_phrase(searched, 'text')} contain reserved words")
    return int(ExitCode.SAFETY_FAIL if traced else ExitCode.OK)


@command.command("draft", epilog="Example: sirocco reserved draft --scenarios 8 --out drafts/")
@_PROFILE
@click.option(
    "--scenarios",
    "wanted",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    help="How many scenarios to draft.",
)
@click.option(
    "--evaluators",
    type=click.IntRange(1, 100),
    default=1,
    help="Draft tracers for this many evaluators: sets of one archetype, a scenario for each of them.",
)
@_HOLDERS
@click.option("--archetype", "archetypes", multiple=True, help="Only for this archetype (repeatable).")
@click.option("--finding", "findings", multiple=True, type=_FILE, help="Reviewed probe to consider (repeatable).")
@click.option("--seed", type=SeedType(), help="Seed of the plan.  [default: random, never printed]")
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder for the drafts.")
def draft(
    *, profile: str, wanted: int, evaluators: int, holders: int, archetypes: tuple[str, ...],
    findings: tuple[Path, ...], seed: int | None, out: Path,
) -> int:  # fmt: skip
    """Propose reserved scenarios that are far from the published ones, spread over categories and archetypes.

    The drafts are witnessed. Refine them by hand before sealing: nobody can guess names and numbers that you choose.
    """
    loaded, size = profile_source.required_profile(profile)[0], comb(evaluators, min(holders, evaluators))
    made = asyncio.run(proposals(loaded, wanted, Seed.choose(seed), archetypes, findings, size))
    out.mkdir(parents=True, exist_ok=True, mode=0o700)
    for one in made:
        (out / one.file_name).write_text(write_yaml(one.document), encoding="utf-8", newline="\n")
    rows = [(one.file_name, one.archetype, f"{one.novelty:.2f}") for one in made]
    print_table(console(), ("draft", "archetype", "distance"), rows)
    return int(ExitCode.OK if len(made) == wanted * size else ExitCode.SAFETY_FAIL)


@command.command("inspect", epilog="Example: sirocco reserved inspect bundle.json --format json")
@click.argument("bundle", type=_FILE)
@_IDENTITY
@_PROFILE
@_FORMAT
def inspect(bundle: Path, identity: Path | None, profile: str, output: str) -> int:
    """Show the public part of a bundle or, with an identity and on a terminal only, its scenarios."""
    if identity is not None:
        if not sys.stdout.isatty():
            remedy = "run it in a terminal, without a pipe"
            raise ConfigError("--identity", "contents are shown on a terminal only", remedy)
        for document in inspected_documents(bundle, identity, profile):
            console().print("---\n" + write_yaml(dict(document)).rstrip())
        return int(ExitCode.OK)
    document = signed_manifest(file_bytes(bundle, "BUNDLE"), bundle).document()
    if output == "json":
        print_json(document)
    else:
        console().print(write_yaml(document).rstrip())
    return int(ExitCode.OK)
