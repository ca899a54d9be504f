"""`sirocco init`: the files for evaluating an agent: adapter, run file, a custom scenario, CI workflow.

The files come from `scaffold/`; each adapter there is an example that is tested with its framework.
"""

import importlib.resources
import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, one_line, print_json
from sirocco.errors import ConfigError
from sirocco.installation import installed_source, portable_requirement
from sirocco.models.endpoints import has_known_address

LINES = "cmd+lines:python3 agent.py"
_START = "python3 agent.py & sleep 2"
"""Starts an agent that is a server; it must listen before the first request."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to connect an agent: the adapter that is written, how `--agent` names it, and what it needs."""

    about: str
    agent: str = LINES
    adapter: str = ""
    """The file of `scaffold/agents` that becomes `agent.py` or `agent.sh`."""
    variables: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    is_server: bool = False
    extras: tuple[str, ...] = field(default=())
    """Extras of Sirocco that the kind needs."""


KINDS: Mapping[str, Kind] = {
    "http": Kind("a server of yours, spoken to over HTTP", "http://127.0.0.1:8000", "http.py", is_server=True),
    "command": Kind("a program that is started for each turn", "cmd:./agent.sh", "command.sh"),
    "python": Kind("a Python function", "python:agent:agent", "python.py"),
    "mcp": Kind("an MCP server", "mcp:cmd:python3 agent.py", "mcp.py", packages=("mcp>=2.3",), extras=("mcp",)),
    "model": Kind("a bare model in Sirocco's tool loop", "model:openai:gpt-5-mini", variables=("OPENAI_API_KEY",)),
    "langgraph": Kind("LangGraph", LINES, "langgraph.py", ("OPENAI_API_KEY",), ("langchain>=1", "langchain-openai>=1")),
    "openai-agents": Kind("OpenAI Agents SDK", LINES, "openai-agents.py", ("OPENAI_API_KEY",), ("openai-agents",)),
    "pydantic-ai": Kind("pydantic-ai", LINES, "pydantic-ai.py", ("OPENAI_API_KEY",), ("pydantic-ai-slim[openai]",)),
    "crewai": Kind("CrewAI", LINES, "crewai.py", ("OPENAI_API_KEY",), ("crewai",)),
    "claude-agent-sdk": Kind(
        "Claude Agent SDK", LINES, "claude-agent-sdk.py", ("ANTHROPIC_API_KEY",), ("claude-agent-sdk",)
    ),
    "inspect": Kind("Inspect", LINES, "inspect-ai.py", ("OPENAI_API_KEY",), ("inspect-ai", "openai")),
    "a2a": Kind("an agent that speaks A2A", "http://127.0.0.1:8000", "a2a.py", ("AGENT_URL",), is_server=True),
}
WORKFLOWS = {
    "github": ("github.yml", ".github/workflows/sirocco.yml"),
    "gitlab": ("gitlab.yml", ".gitlab-ci.yml"),
    "jenkins": ("Jenkinsfile", "Jenkinsfile"),
}
NONE = "none"


@click.command("init", epilog="Example: sirocco init my-agent --kind langgraph --ci github")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), default=".")
@click.option("--kind", type=click.Choice(list(KINDS)), help="How Sirocco connects to the agent.  [default: asks]")
@click.option(
    "--ci", type=click.Choice([*WORKFLOWS, NONE]), help="The CI system to write a workflow for.  [default: asks]"
)
@click.option("--agent", help="The SPEC of an existing agent; no adapter is written.")
@click.option("--source", help="What CI passes to pip to install Sirocco.  [default: where this one came from]")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    directory: Path, kind: str | None, ci: str | None, agent: str | None, source: str | None, output: str
) -> int:
    """Write an adapter, a run file, a scenario of your own and a CI workflow into DIRECTORY (default: this one).

    Existing files are never overwritten. On a terminal, it asks for anything you do not pass as an option.
    """
    chosen = KINDS["command"] if agent and kind is None else KINDS[kind or _ask_kind()]
    workflow = ci or _ask_workflow()
    wanted = source or portable_requirement(*chosen.extras)
    if not wanted:
        wanted = installed_source().requirement(*chosen.extras)
        if workflow != NONE:
            text = f"CI will install Sirocco from {wanted}, which only this machine has"
            text += f": give --source, or change SIROCCO in {WORKFLOWS[workflow][1]}"
            console(stderr=True).print(Text(one_line(f"warning: {text}"), style="yellow"))
    files = dict(_files(chosen, workflow, agent, wanted))
    written = {name: _write(directory / name, text) for name, text in files.items()}
    steps = list(_next_steps(directory, chosen, agent))
    if output == "json":
        kept = [name for name, is_new in written.items() if not is_new]
        print_json({"written": [name for name in written if name not in kept], "kept": kept, "next": steps})
        return int(ExitCode.OK)
    out = console()
    for name, is_new in written.items():
        note = ("wrote  ", "green") if is_new else ("kept   ", "yellow")
        out.print(Text.assemble(note, one_line(str(directory / name)), "" if is_new else "  (already exists)"))
    out.print("\nNext:")
    for step in steps:
        out.print(one_line(f"  {step}"))
    return int(ExitCode.OK)


def _ask_kind() -> str:
    _require_terminal("--kind", KINDS)
    out = console(stderr=True)
    for name, one in KINDS.items():
        out.print(f"  {name:<17} {one.about}")
    return str(click.prompt("How is your agent connected", type=click.Choice(list(KINDS)), default="http", err=True))


def _ask_workflow() -> str:
    if not sys.stdin.isatty():
        return NONE
    choices = click.Choice([*WORKFLOWS, NONE])
    return str(click.prompt("Write a workflow for which CI system", type=choices, default=NONE, err=True))


def _require_terminal(option: str, choices: Mapping[str, object]) -> None:
    if not sys.stdin.isatty():
        raise ConfigError(
            "sirocco init", f"{option} is missing, and there is no terminal to ask on", f"give it: {', '.join(choices)}"
        )


def _files(kind: Kind, workflow: str, agent: str | None, source: str) -> Iterator[tuple[str, str]]:
    """The files to write, by their names in the directory."""
    scaffold = importlib.resources.files("sirocco.cli") / "scaffold"
    spec = agent or kind.agent
    own = kind if agent is None else Kind("", spec)
    if own.adapter:
        suffix = Path(own.adapter).suffix
        yield f"agent{suffix}", (scaffold / "agents" / own.adapter).read_text(encoding="utf-8")
    if own.packages:
        yield "requirements.txt", "".join(f"{one}\n" for one in own.packages)
    passed = own.variables if own.adapter and not own.is_server else ()
    options = f"agent-env: [{', '.join(passed)}]     # your variables that the agent's process gets\n" if passed else ""
    if spec.startswith("model:"):
        options = "# model-url: http://127.0.0.1:8000/v1     # for a model of your own: where it is served\n"
    run_file = (scaffold / "sirocco.yaml").read_text(encoding="utf-8")
    named = run_file.replace("@OPTIONS@", options).replace("@CHECK@", _check_arguments(kind, agent))
    yield "sirocco.yaml", named.replace("@AGENT@", json.dumps(spec))
    yield "scenarios/first.yaml", (scaffold / "scenario.yaml").read_text(encoding="utf-8")
    if workflow != NONE:
        template, name = WORKFLOWS[workflow]
        text = (scaffold / "ci" / template).read_text(encoding="utf-8")
        yield name, _with_agent(text, workflow, own).replace("@SOURCE@", _quoted(source, workflow))


def _with_agent(text: str, workflow: str, kind: Kind) -> str:
    """A workflow that passes the agent's secrets, and starts the agent if it is a server."""
    secrets = "".join(f"      {name}: ${{{{ secrets.{name} }}}}\n" for name in kind.variables)
    start = {
        "github": f"          {_START}\n",
        "gitlab": f"    - {_START}\n",
        "jenkins": f"{_START}; ",
    }[workflow]
    text = text.replace("@ENVIRONMENT@", f"    env:\n{secrets}" if secrets else "")
    return text.replace("@START@", start if kind.is_server else "")


def _quoted(text: str, workflow: str) -> str:
    """A string in the workflow's language: JSON is YAML, and Groovy has single quotes without variables."""
    if workflow == "jenkins":
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return json.dumps(text)


def _write(file: Path, text: str) -> bool:
    """Whether the file was written; an existing one is left untouched."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        return False
    if file.suffix == ".sh":
        file.chmod(0o755)
    return True


def _is_child(kind: Kind, agent: str | None) -> bool:
    """Whether Sirocco starts the adapter, which then gets only the variables passed to it."""
    return bool(kind.adapter) and not kind.is_server and agent is None


def _next_steps(directory: Path, kind: Kind, agent: str | None) -> Iterator[str]:
    """The commands to continue with, as they are typed."""
    if directory != Path():
        yield f"cd {shlex.quote(str(directory))}"
    yield "sirocco doctor"
    if agent is None:
        if kind.packages:
            yield "pip install -r requirements.txt"
        yield from (f"export {name}=..." for name in kind.variables)
        if kind.is_server:
            yield "python3 agent.py &"
    yield f"sirocco agent check {_check_arguments(kind, agent)}"
    yield "sirocco run --config sirocco.yaml --out runs/first"


def _check_arguments(kind: Kind, agent: str | None) -> str:
    """What `sirocco agent check` needs for this agent, as it is typed."""
    passed = "".join(f" --agent-env {name}" for name in kind.variables) if _is_child(kind, agent) else ""
    is_own = agent is not None and agent.startswith("model:") and not has_known_address(agent.split(":")[1])
    return shlex.quote(agent or kind.agent) + passed + (" --model-url URL" if is_own else "")
