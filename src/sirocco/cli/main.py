"""The `sirocco` command: names its subcommands, loads only the one that is called, and turns errors into exit codes."""

import difflib
import gc
import importlib
import sys
from importlib.metadata import entry_points

import click

from sirocco import __version__
from sirocco.cli.command_line import hide_command_line
from sirocco.cli.exit_codes import ExitCode, of_error
from sirocco.errors import InvalidInput, SiroccoError

BEHAVIORS = "sirocco.behaviors"
"""The group of entry points by which packages bring behaviours; loading ours takes time that most have no use for."""
COMMANDS = {
    "init": ("sirocco.cli.init", "Write an adapter, a run file, a scenario and a CI workflow for your agent."),
    "doctor": ("sirocco.cli.doctor", "What this machine has for an evaluation, what is missing, and how to get it."),
    "run": ("sirocco.cli.run", "Evaluate an agent: safety gate, capability, adversarial phase, report."),
    "watch": ("sirocco.cli.watch", "How far a run in another terminal has come, and what it has seen so far."),
    "attack": ("sirocco.cli.attack", "Put your own texts where an agent comes across them: does it follow them?"),
    "redteam": ("sirocco.cli.redteam", "Attack an agent by hand: draw a situation, edit it, fire, see what it did."),
    "validate": ("sirocco.cli.validate", "Check profiles, scenarios, suites and probes; every finding at once."),
    "profile": ("sirocco.cli.profile", "Show a profile, report its quality, prove its scenarios can pass and fail."),
    "schema": ("sirocco.cli.schema", "Print the JSON Schema of a scenario, profile, suite, probe or verdict."),
    "probe": ("sirocco.cli.probe", "Work on single probes: make, check, run again, shrink."),
    "replay": ("sirocco.cli.replay", "Recompute every verdict of a run from its recorded evidence."),
    "show": ("sirocco.cli.show", "One scenario or probe of a run on one screen: why this verdict."),
    "compare": ("sirocco.cli.compare", "Runs beside each other: what changed, and what is comparable."),
    "verify": ("sirocco.cli.verify", "Who signed a run, and whether it is still what was signed."),
    "conformance": (
        "sirocco.cli.conformance",
        "Check any OASIS verdict or report against the numbered requirements.",
    ),
    "review": ("sirocco.cli.review", "Findings of many runs: what experts decided, and what vendors dispute."),
    "console": ("sirocco.cli.console", "Runs, reviews, comparisons and the profile as pages in a browser."),
    "claim": ("sirocco.cli.claim", "Claim what a run shows, judge it by a policy, check claims of others."),
    "export": ("sirocco.cli.export", "A redacted copy of a run for a certifier, with its proofs."),
    "report": ("sirocco.cli.report", "Render a run: the page, JUnit, Markdown, YAML or JSON."),
    "reserved": (
        "sirocco.cli.reserved",
        "Withheld scenarios: seal, rotate, publish, verify, audit.",
    ),
    "material": ("sirocco.cli.material", "Words and forms that probes are made from: check, read samples, seal."),
    "env": ("sirocco.cli.env", "The environment of a scenario, to try by hand with kubectl."),
    "provider": ("sirocco.cli.provider", "Serve simulated environments to any runner, or test any provider."),
    "agent": ("sirocco.cli.agent", "List or serve the reference agents, or test any agent's adapter."),
    "domain": ("sirocco.cli.domain", "List the kinds of systems that agents can be evaluated on."),
    "bench": ("sirocco_benchmarks.command", "The benchmarks: how fast it is, and how much its probes find."),
}


class _LazyGroup(click.Group):
    """Imports a subcommand's module only when it runs, so that --help stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            if near := difflib.get_close_matches(cmd_name, COMMANDS, n=1):
                ctx.fail(f"No such command {cmd_name!r}. Did you mean {near[0]!r}?")
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Example: sirocco run --agent ref:memorizer --probes 24",
)
@click.version_option(__version__, prog_name="sirocco")
def cli() -> None:
    """Prove whether an AI agent's safe behaviour generalizes beyond the tests it has seen."""
    if entry_points(group=BEHAVIORS):
        importlib.import_module("sirocco.wiring.domains").check_behaviors()


def main() -> None:
    """Entry point: never a traceback for a user's mistake."""
    # A unit makes thousands of objects that live until its end; to look for circles every 700 takes a tenth of a run.
    gc.set_threshold(50_000, 20, 10)
    hide_command_line()
    try:
        code = cli(standalone_mode=False)
    except click.exceptions.Abort:
        sys.stderr.write("interrupted\n")
        code = ExitCode.INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = ExitCode.INVALID
    except InvalidInput as error:
        terminal = importlib.import_module("sirocco.cli.terminal")
        terminal.print_findings(error.findings)
        code = ExitCode.INVALID
    except SiroccoError as error:
        terminal = importlib.import_module("sirocco.cli.terminal")
        sys.stderr.write(f"error: {terminal.one_line(str(error))}\n")
        code = of_error(error)
    except BrokenPipeError:
        sys.stderr.close()
        code = ExitCode.OK
    except OSError as error:
        sys.stderr.write(f"error: {error.filename or 'file system'}: {error.strerror}; check the path and the disk\n")
        code = ExitCode.INVALID
    sys.exit(int(code or 0))
