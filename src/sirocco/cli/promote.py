"""`sirocco probe promote` and `sirocco profile history`: reviewed findings become scenarios of the corpus (AV-26)."""

from pathlib import Path

import click

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, one_line, print_json, print_table
from sirocco.errors import ConfigError
from sirocco.review.promotion import Wording
from sirocco.wiring import profile_source
from sirocco.wiring.promotion import Destination, promote_probe, promotions
from sirocco.wiring.review import review_rules

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)
_LEVELS = click.Choice(["low", "medium", "high"])


@click.command(
    "promote", epilog="Example: sirocco probe promote runs/x/adversarial/probe-1f3a.yaml --log review.jsonl ..."
)
@click.argument("file", type=_FILE)
@click.option("--log", "log_file", type=_FILE, required=True, help="The review log that contains the decision.")
@click.option("--rules", type=_FILE, help="Rules for sign-offs, as for `sirocco review`.")
@click.option("--slug", required=True, help="The last part of the scenario's id, such as seat-row-binding.")
@click.option("--name", required=True, help="What happens, in a few words.")
@click.option("--intent", required=True, help="What only this scenario shows; at least 20 characters.")
@click.option("--description", required=True, help="What happens, and what the agent should do.")
@click.option("--companion", help="The capability scenario that shows the legitimate work.")
@click.option("--without-companion", default="", help="Why there is no companion.")
@click.option("--attack-surface", help="Override the proposed value.")
@click.option("--plausibility", type=_LEVELS, help="Override the proposed value.")
@click.option("--detection-complexity", type=_LEVELS, help="Override the proposed value.")
@click.option("--contextual-embedding", type=_LEVELS, help="Override the proposed value.")
@click.option("--profile", default=profile_source.BUNDLED, show_default=True, help="Profile to add the scenario to.")
@click.option("--write", is_flag=True, help="Write it into the profile's folder and raise its version.")
@click.option("--sealing", type=_FOLDER, help="Write the scenario into this folder, for `sirocco reserved seal`.")
@click.option("--patch", type=click.Path(dir_okay=False, path_type=Path), help="Write the change as a patch instead.")
@click.option("--as-executed", is_flag=True, help="Use the probe as executed even if there is a smaller form.")
def promote(
    file: Path, log_file: Path, rules: Path | None, slug: str, name: str, intent: str, description: str,
    companion: str | None, without_companion: str, attack_surface: str | None, plausibility: str | None,
    detection_complexity: str | None, contextual_embedding: str | None, profile: str, sealing: Path | None,
    patch: Path | None, *, write: bool, as_executed: bool,
) -> int:  # fmt: skip
    """Turn a reviewed probe into a published scenario, and print the text for a pull request.

    The smallest form is used. Lineage and record are removed; goal, task and predicates are kept. You supply the
    wording, which is linted. The witnesses must give the same result under different seeds; exit code 1 if they do not.
    """
    if sum((write, sealing is not None, patch is not None)) != 1:
        raise ConfigError("sirocco probe promote", "give exactly one destination", "give --write, --sealing or --patch")
    difficulty = {
        "plausibility": plausibility, "detection_complexity": detection_complexity,
        "contextual_embedding": contextual_embedding,
    }  # fmt: skip
    chosen = {"attack_surface": attack_surface, "difficulty": {key: one for key, one in difficulty.items() if one}}
    quality = {key: value for key, value in chosen.items() if value}
    wording = Wording(slug, name, intent, description, companion, without_companion, quality)
    made = promote_probe(
        file, log_file, review_rules(rules), profile, wording, Destination(patch, sealing), as_executed=as_executed
    )
    if made.refused:
        console(stderr=True).print(one_line(f"not promoted: {made.refused}"))
        return int(ExitCode.SAFETY_FAIL)
    console().print(one_paragraph(made.body))
    return int(ExitCode.OK)


def one_paragraph(text: str) -> str:
    """A text of several lines, each without control characters."""
    return "\n".join(one_line(part) for part in text.splitlines())


@click.command("history", epilog="Example: sirocco profile history my-profile/")
@click.argument("profile", default=profile_source.BUNDLED)
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def history(profile: str, output: str) -> int:
    """Show which scenarios were promoted from findings, and from which runs."""
    found = promotions(profile_source.profile_folder(profile))
    if output == "json":
        print_json([one.document() for one in found])
        return int(ExitCode.OK)
    headings = ("on", "version", "scenario", "archetype", "finding", "found with", "generator", "reviewed by", "run")
    rows = [
        (
            one.on,
            one.version or "-",
            one.scenario,
            one.archetype,
            one.finding,
            one.agent,
            one.generator,
            ", ".join(one.reviewers),
            one.evidence_root,
        )
        for one in found
    ]
    print_table(console(), headings, rows)
    if not found:
        console().print("no scenario of this profile was promoted from a finding")
    return int(ExitCode.OK)
