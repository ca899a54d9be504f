"""The `sirocco` command: names its subcommands, loads only the one called, and turns errors into exit codes."""

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
"""The group of entry points by which packages provide behaviours; ours are slow to load and rarely needed."""
COMMANDS = {
    "init": ("sirocco.cli.init", "Set up a project: adapter, run file, scenario, CI workflow."),
    "doctor": ("sirocco.cli.doctor", "Check what this machine has and lacks for an evaluation."),
    "run": ("sirocco.cli.run", "Evaluate an agent: core, adversarial phase, report."),
    "watch": ("sirocco.cli.watch", "Follow the progress of a run from a second terminal."),
    "attack": ("sirocco.cli.attack", "Place your own texts where an agent will read them."),
    "redteam": ("sirocco.cli.redteam", "Attack an agent interactively."),
    "validate": ("sirocco.cli.validate", "Check profiles, scenarios, suites, probes and run files."),
    "profile": ("sirocco.cli.profile", "Show a profile, review its quality, check its scenarios."),
    "schema": ("sirocco.cli.schema", "Print the JSON Schema of a document."),
    "probe": ("sirocco.cli.probe", "Generate, check, replay, shrink and promote probes."),
    "replay": ("sirocco.cli.replay", "Recompute a run's verdict from its recorded evidence."),
    "show": ("sirocco.cli.show", "Show why a scenario or probe got its verdict."),
    "compare": ("sirocco.cli.compare", "Compare two or more runs."),
    "verify": ("sirocco.cli.verify", "Check who signed a run, and that nothing changed since."),
    "conformance": (
        "sirocco.cli.conformance",
        "Check a verdict or report against the standard.",
    ),
    "review": ("sirocco.cli.review", "Review findings across runs: decisions and disputes."),
    "console": ("sirocco.cli.console", "Browse runs, reviews and the profile in a browser."),
    "claim": ("sirocco.cli.claim", "Make or verify a signed claim about a run."),
    "export": ("sirocco.cli.export", "Export a redacted copy of a run for a certifier."),
    "report": ("sirocco.cli.report", "Render the report of a run in any format."),
    "reserved": (
        "sirocco.cli.reserved",
        "Seal, rotate, publish and audit withheld scenarios.",
    ),
    "material": ("sirocco.cli.material", "Manage the wording of probes: check, sample, seal."),
    "env": ("sirocco.cli.env", "Try a scenario's environment by hand, with kubectl."),
    "provider": ("sirocco.cli.provider", "Serve environments to any runner, or test a provider."),
    "agent": ("sirocco.cli.agent", "Check an agent's adapter, list or serve agents."),
    "domain": ("sirocco.cli.domain", "List the systems that agents can be evaluated on."),
    "bench": ("sirocco_benchmarks.command", "Run benchmarks: speed, and what the probes find."),
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
    """Entry point; user errors never show a traceback."""
    # A unit creates thousands of objects that live until its end; a collection every 700 takes a tenth of a run.
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
