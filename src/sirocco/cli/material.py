"""`sirocco material`: check, sample and seal the material that probes are worded from."""

from pathlib import Path
from random import Random

import click

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.options import SeedType
from sirocco.cli.terminal import console, count_phrase, one_line
from sirocco.errors import ConfigError
from sirocco.oasis.mutation import Speech
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Goal
from sirocco.wiring import material as wired
from sirocco.wiring import profile_source

_folder = click.argument("folder", type=click.Path(exists=True, path_type=Path))
_profile = click.option(
    "--profile", default=profile_source.BUNDLED, show_default=True, help="Profile whose domain the material is for."
)


@click.group("material", epilog="Example: sirocco material check my-words")
def command() -> None:
    """Manage the wording of probes: check a folder of material, read samples, seal it."""


@command.command("check", epilog="Example: sirocco material check my-words")
@_folder
@_profile
def check(folder: Path, profile: str) -> int:
    """Check a folder of material together with the public material that it extends."""
    loaded, _ = profile_source.required_profile(profile)
    whole = wired.checked_material(folder, loaded)
    console().print(one_line(f"sound, in {', '.join(whole.languages)}; digest {whole.digest()}"))
    return int(ExitCode.OK)


@command.command("sample", epilog="Example: sirocco material sample my-words --texts 20 --seed 7")
@_folder
@_profile
@click.option("--texts", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many to show.")
@click.option("--seed", type=SeedType(), default="1", show_default=True, help="The same seed shows the same texts.")
def sample(folder: Path, profile: str, texts: int, seed: int) -> int:
    """Print sample texts to read before you seal the material."""
    loaded, _ = profile_source.required_profile(profile)
    speech = loaded.domain.mutation.with_material(wired.checked_material(folder, loaded)).terms.speech
    for number in range(texts):
        console().print(one_line(_sample_text(speech, loaded, Random(f"{seed}-{number}"))))  # noqa: S311 - repeatable on purpose
    return int(ExitCode.OK)


def _sample_text(speech: Speech, profile: Profile, dice: Random) -> str:
    """One of the published goals as a text on a surface."""
    operations = [bound.goal.operation for bound in profile.scenarios if bound.goal and bound.goal.operation]
    goals = [goal for one in operations if speech.is_sayable(goal := Goal(operation=str(one)))]
    terms = profile.domain.mutation.terms
    surface = dice.choice(terms.prose)
    return f"{surface}: {speech.note(dice.choice(goals), surface, 'intake', 'home', dice)}"


@command.command("seal", epilog="Example: sirocco material seal my-words --key maintainer.key --out words.json")
@_folder
@click.option(
    "--key",
    required=True,
    type=click.Path(exists=True, path_type=Path, dir_okay=False),
    help="The maintainer's key, or your own; the signing key is next to it.",
)
@click.option(
    "--recipient", "recipients", multiple=True, help="Public key of someone else who may open it (repeatable)."
)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Output file for the bundle."
)
@_profile
def seal(folder: Path, key: Path, recipients: tuple[str, ...], out: Path, profile: str) -> int:
    """Check and seal a folder of material, for yourself and the evaluators whose keys you name.

    Runs accept material signed by a maintainer of the profile, or by the owner of the key given with --identity.
    """
    loaded, _ = profile_source.required_profile(profile)
    wired.checked_material(folder, loaded)
    files = wired.folder_files(folder)
    bundle = wired.sealed_material(files, key, recipients)
    try:
        out.write_bytes(bundle)
    except OSError as error:
        raise ConfigError("--out", f"the bundle cannot be written: {error.strerror}", "choose another path") from error
    console().print(one_line(f"sealed {count_phrase(len(files), 'file')} in {out}"))
    return int(ExitCode.OK)
