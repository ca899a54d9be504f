"""`sirocco reserved`: keys and bundles for withheld scenarios."""

import os
import secrets
import stat
from pathlib import Path

import click

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, print_json
from sirocco.errors import ConfigError, Finding, InvalidInput, Severity
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import load_scenario_file
from sirocco.profiles.read import yaml_files
from sirocco.profiles.yaml_text import write_yaml
from sirocco.reserved.age import keygen as new_key
from sirocco.reserved.bundle import ProfileReference
from sirocco.reserved.phase import bundle_text
from sirocco.reserved.seal import seal as sealed
from sirocco.reserved.vault import inspect as manifest_of
from sirocco.wiring import profile_source


@click.group("reserved", epilog="Example: sirocco reserved keygen --out evaluator.key")
def command() -> None:
    """Withheld scenarios: make keys, seal and inspect bundles."""


@command.command("keygen", epilog="Example: sirocco reserved keygen --out evaluator.key")
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Where the key file goes.")
def keygen(out: Path) -> int:
    """Make an age key; the file is secret, the printed recipient is public."""
    pair = new_key()
    try:
        descriptor = os.open(out, os.O_CREAT | os.O_EXCL | os.O_WRONLY, stat.S_IRUSR | stat.S_IWUSR)
    except FileExistsError:
        remedy = "choose another file: a key is never overwritten"
        raise ConfigError(out, "exists already", remedy) from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(pair.identity_text)
    console().print(pair.recipient)
    return int(ExitCode.OK)


@command.command("seal", epilog="Example: sirocco reserved seal withheld/*.yaml --recipient age1... --out bundle.json")
@click.argument("scenarios", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--recipient", "recipients", multiple=True, required=True, help="Public key that may open it (repeatable)."
)
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Where the bundle goes.")
@click.option("--profile", default=profile_source.BUNDLED, show_default=True, help="Profile that they belong to.")
def seal(scenarios: tuple[Path, ...], recipients: tuple[str, ...], out: Path, profile: str) -> int:
    """Seal scenarios into one bundle, and write its public manifest beside it."""
    loaded, _ = profile_source.required_profile(profile)
    documents = _documents(scenarios, loaded)
    bundle = sealed(
        documents,
        profile=ProfileReference.from_profile(loaded),
        recipients=recipients,
        salt=lambda: secrets.token_bytes(32),
    )
    manifest = out.with_name(f"{out.stem}.manifest.yaml")
    out.write_text(bundle.text(), encoding="utf-8", newline="\n")
    manifest.write_text(write_yaml(bundle.manifest.document()), encoding="utf-8", newline="\n")
    console().print(f"sealed {len(documents)} scenario(s) in {out}; publish {manifest}")
    return int(ExitCode.OK)


def _documents(paths: tuple[Path, ...], profile: Profile) -> list[dict[str, object]]:
    """The scenarios as written, once all are valid: a later schema must not change what was committed to (SI-06)."""
    findings: list[Finding] = []
    documents: list[dict[str, object]] = []
    for path in paths:
        for file in yaml_files(path):
            found = load_scenario_file(file, profile)
            findings += [finding for finding in found.findings if finding.severity is Severity.ERROR]
            documents += [dict(document) for document in found.documents]
    if findings:
        raise InvalidInput("reserved scenarios", findings)
    return documents


@command.command("inspect", epilog="Example: sirocco reserved inspect bundle.json --format json")
@click.argument("bundle", type=click.Path(exists=True, path_type=Path, dir_okay=False))
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def inspect(bundle: Path, output: str) -> int:
    """Show what anyone may know of a bundle: its profile, counts and commitments."""
    document = manifest_of(bundle_text(bundle, "BUNDLE"), bundle).document()
    if output == "json":
        print_json(document)
    else:
        console().print(write_yaml(document).rstrip())
    return int(ExitCode.OK)
