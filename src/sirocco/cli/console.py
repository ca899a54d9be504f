"""`sirocco console`: runs, findings, reviews and the profile as browser pages."""

import importlib
from importlib.util import find_spec
from pathlib import Path

import click

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, one_line
from sirocco.errors import ConfigError
from sirocco.installation import install_command
from sirocco.wiring.evaluator_key import signing_key
from sirocco.wiring.profile_source import BUNDLED, profile_folder
from sirocco.wiring.review import review_rules

_FILE = click.Path(path_type=Path, dir_okay=False)
_PORT = 8737


@click.command("console", epilog="Example: sirocco console runs --log review.jsonl --rules review.yaml")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path("runs"))
@click.option("--log", "log_file", type=_FILE, help="The review log.  [default: review.jsonl in FOLDER]")
@click.option("--rules", type=click.Path(exists=True, path_type=Path, dir_okay=False), help="Rules for sign-offs.")
@click.option(
    "--signer",
    "signers",
    multiple=True,
    metavar="NAME=KEY",
    help="A signer and their Ed25519 key in PEM (repeatable).  [default: your evaluator key]",
)
@click.option("--profile", default=BUNDLED, show_default=True, help="Bundled profile, or a folder.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=_PORT, show_default=True, help="Port (0: a free one).")
@click.option("--read-only", is_flag=True, help="Show everything, but change and start nothing.")
def command(
    folder: Path, log_file: Path | None, rules: Path | None, signers: tuple[str, ...], profile: str, host: str,
    port: int, *, read_only: bool,
) -> int:  # fmt: skip
    """Browse the runs below FOLDER, review and promote their findings, compare runs and start new ones, in a browser.

    Prints an address with a token; anyone who has it can do what your account can. Needs the extra `console`.
    """
    if find_spec("starlette") is None:
        raise ConfigError(
            "sirocco console",
            "some of the packages it needs are not installed",
            f"install them: {install_command('console')}",
        )
    profile_folder(profile)
    if not folder.is_dir():
        raise ConfigError(folder, "there is no such folder", "name the folder that contains your runs")
    serving = importlib.import_module("sirocco.console.serving")
    desk = serving.Desk(
        serving.Library(folder), profile, log_file or folder / "review.jsonl", review_rules(rules), _signers(signers)
    )
    serving.serve(desk, host, port, is_read_only=read_only, tell=lambda text: console().print(one_line(text)))
    return int(ExitCode.OK)


def _signers(given: tuple[str, ...]) -> dict[str, Path | None]:
    """Names with their key files, each of which must be valid."""
    found: dict[str, Path | None] = {}
    for one in given:
        name, equals, file = one.partition("=")
        if not equals or not name.strip() or not Path(file).is_file():
            raise ConfigError("--signer", f"{name!r} has no key file", "write NAME=FILE, with a key in PEM")
        signing_key(Path(file))
        found[name.strip()] = Path(file)
    return found
