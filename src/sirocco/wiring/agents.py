"""Agents by their specification: `ref:`, `zoo:`, `http:`, `cmd:`, `mcp:`, `python:` and `model:`.

Adapters are imported on demand: the libraries behind them take longer to load than everything else.
"""

import importlib
import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any, cast

from sirocco.agents.isolation import Level
from sirocco.errors import ConfigError
from sirocco.installation import install_command
from sirocco.oasis.agent import Agent
from sirocco.oasis.domain import Domain
from sirocco.oasis.profile import Profile
from sirocco.profiles.spelling import spelling_remedy
from sirocco.wiring.clock import utc_now

_HOST = re.compile(r"(localhost|[\w.-]+\.\w+|\d+(\.\d+){3}):\d+(/\S*)?")
FORMS = (
    "http://HOST:PORT, cmd:PROGRAM ARGS, cmd+lines:PROGRAM ARGS, mcp:URL, mcp:cmd:PROGRAM ARGS, "
    "python:package.module:factory, model:PROVIDER:NAME, ref:NAME or zoo:NAME"
)


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What a user may add to a specification, and what the run contributes."""

    headers: tuple[str, ...] = field(default=(), repr=False)
    variables: tuple[str, ...] = ()
    tool: str = ""
    model_url: str = ""
    through: Callable[[Any], Any] = field(default=lambda model: model, repr=False)
    """A wrapper between the loop and the model of `model:`; used only by benchmarks."""
    timeout_seconds: int = 300
    patience: float = 0.0
    """How many seconds an agent behind HTTP may take to start."""
    isolation: Level = Level.AUTO
    hidden: tuple[Path, ...] = field(default=(), repr=False)
    """The evaluation's files and folders, which an agent must not read."""
    files: Callable[[], Mapping[str, str]] = dict
    """What leads to all environments of the run, if anything does: contents by variable."""
    published: frozenset[str] = field(default_factory=frozenset, repr=False)
    """The texts that an agent could have memorized."""
    profile: Profile | None = field(default=None, repr=False)
    """What the zoo's agents know, since they are told scenarios as witnesses are; no other agent gets it."""


_USES: Mapping[str, frozenset[str]] = {
    "--agent-header": frozenset({"http", "https", "mcp"}),
    "--agent-env": frozenset({"cmd", "cmd+lines", "python", "mcp:cmd"}),
    "--agent-tool": frozenset({"mcp", "mcp:cmd"}),
    "--model-url": frozenset({"model"}),
}
"""Which kinds of agents each option is for."""
OUTSIDE = frozenset({"http", "https", "cmd", "cmd+lines", "mcp", "mcp:cmd", "python"})
"""The kinds that run in another process and need environments that are served."""

CHILDREN = frozenset({"cmd", "cmd+lines", "mcp:cmd", "python"})
"""The kinds whose processes are started here."""


INSIDE = frozenset({"ref", "zoo"})
"""The kinds that are part of this program."""


def needs_serving(kind: str) -> bool:
    """Whether environments must be served for an agent of a kind; a model uses their MCP endpoint if there is one."""
    return kind in OUTSIDE or (kind == "model" and find_spec("mcp") is not None)


def kind_of(spec: str) -> str:
    """The kind of agent that a specification names; ConfigError for an unknown kind."""
    if spec.startswith("mcp:cmd:"):
        return "mcp:cmd"
    kind = spec.partition(":")[0]
    if kind not in {*OUTSIDE, *INSIDE, "model"} or ":" not in spec:
        raise ConfigError("--agent", f"{spec!r} is not an agent SPEC", _agent_remedy(spec))
    return kind


def _agent_remedy(spec: str) -> str:
    """A suggestion of what was meant: a program without its kind, a host without its scheme, a name without `ref:`."""
    program, _, rest = spec.partition(" ")
    kind = spec.partition(":")[0]
    if (
        program.startswith(("./", "../", "/", "~/"))
        or (program and Path(program).is_file())
        or (rest and which(program))
    ):
        here = "" if "/" in program or which(program) else "./"
        return f"did you mean {shlex.quote(f'cmd:{here}{spec}')}?"
    if _HOST.fullmatch(spec):
        return f"did you mean 'http://{spec}'?"
    if near := get_close_matches(kind, {*OUTSIDE, *INSIDE, "model"}, n=1):
        return f"did you mean {shlex.quote(near[0] + spec[len(kind) :])}?" if ":" in spec else f"write {FORMS}"
    return f"write {FORMS}"


def agent(spec: str, domain: Domain, options: AgentOptions | None = None) -> Agent:
    """The agent that `spec` names, for a domain; every mistake in it or in its options is raised here."""
    chosen = options or AgentOptions()
    kind = kind_of(spec)
    _require_use(kind, chosen)
    _require_reachable(kind, chosen.isolation)
    rest = spec.removeprefix(f"{kind}:")
    match kind:
        case "ref":
            return _reference(rest, domain, chosen)
        case "zoo":
            return _zoo(rest, chosen)
        case "http" | "https":
            adapter = _adapter("http")
            made = adapter.HttpAgent(spec, adapter.headers_of(chosen.headers), patience=chosen.patience)
        case "cmd" | "cmd+lines":
            made = _command(kind, rest, domain, chosen)
        case "mcp" | "mcp:cmd":
            made = _mcp(kind, rest, domain, chosen)
        case "python":
            made = _python(rest, domain, chosen)
        case _:
            made = _model(rest, domain, chosen)
    return cast(Agent, made)


def _reference(text: str, domain: Domain, options: AgentOptions) -> Agent:
    """One of the domain's agents by its name, with numeric parameters: `slow?seconds=0.2`."""
    name, _, asked = text.partition("?")
    references = domain.reference_agents
    if name not in references.names:
        remedy = spelling_remedy(f"ref:{name}", (f"ref:{known}" for known in references.names))
        raise ConfigError("--agent", f"there is no reference agent {name!r}", remedy)
    limits = references.numbers(name)
    numbers = {key: _number(name, key, value, limits) for key, value in _pairs(asked)}
    return references.agent(name, options.published, **numbers)


def _zoo(name: str, options: AgentOptions) -> Agent:
    if options.profile is None:
        raise ConfigError("--agent", f"zoo:{name} needs a profile to memorize", "use it with sirocco run or bench")
    agent: Agent = _module("sirocco.wiring.zoo").zoo_agent_for(name, options.profile)
    return agent


def _pairs(asked: str) -> list[tuple[str, str]]:
    return [(key, value) for key, _, value in (part.partition("=") for part in asked.split("&") if part)]


def _number(name: str, key: str, value: str, known: Mapping[str, float]) -> float:
    if key not in known:
        remedy = "it takes " + " and ".join(known) if known else "remove what follows the name"
        raise ConfigError("--agent", f"ref:{name} has no parameter {key!r}", remedy)
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= known[key]:
        raise ConfigError("--agent", f"{key} of ref:{name} cannot be {value!r}", f"write a number up to {known[key]:g}")
    return number


def _command(kind: str, text: str, domain: Domain, options: AgentOptions) -> Any:
    program, confined = _program(text, domain, options)
    adapter = _adapter("command")
    if kind == "cmd":
        return adapter.CommandAgent(program, confined)
    return adapter.LinesAgent(program, confined, options.files)


def _mcp(kind: str, text: str, domain: Domain, options: AgentOptions) -> Any:
    if find_spec("mcp") is None:
        remedy = f"install it: {install_command('mcp')}"
        raise ConfigError("--agent", "agents behind MCP need the package mcp", remedy)
    adapter, http = _adapter("mcp"), _adapter("http")
    if kind == "mcp:cmd":
        program, confined = _program(text, domain, options)
        return adapter.mcp_command(program, confined, options.tool)
    if not text.startswith(("http://", "https://")):
        raise ConfigError("--agent", f"{text!r} is not a URL", "write mcp:http://HOST:PORT/mcp or mcp:cmd:PROGRAM")
    return adapter.mcp_at_url(http.checked_url(text), http.headers_of(options.headers), options.tool)


def _python(text: str, domain: Domain, options: AgentOptions) -> Any:
    adapter, confinement = _adapter("python_callable"), _adapter("confinement")
    folder = Path.cwd()
    confined = confinement.confinement(
        adapter.needed_files(folder), options.variables, leading=domain.equipment.variables, hidden=options.hidden,
        level=options.isolation,
    )  # fmt: skip
    return adapter.PythonAgent(text, adapter.search_path(folder), confined, options.files)


def _model(text: str, domain: Domain, options: AgentOptions) -> Any:
    naming, tools = _module("sirocco.models.naming"), _module("sirocco.wiring.tools")
    named = naming.ModelName.parse(text, "--agent", "model:PROVIDER:NAME, e.g. model:ollama:qwen3")
    model = options.through(naming.chat_model(named, options.model_url, os.environ, options.timeout_seconds))
    equipment, toolbox = domain.equipment, tools.environment_tools(domain, utc_now)
    return _adapter("model").ModelAgent(
        named.provider, model, toolbox, equipment.role, equipment.serves,
        context=named.context, calls=named.calls, steps=named.steps,
    )  # fmt: skip


def _program(text: str, domain: Domain, options: AgentOptions) -> tuple[Any, Any]:
    program = _adapter("program").Program.parse(text, Path.cwd())
    confined = _adapter("confinement").confinement(
        program.files, options.variables, leading=domain.equipment.variables, hidden=options.hidden,
        level=options.isolation,
    )  # fmt: skip
    return program, confined


def _require_use(kind: str, options: AgentOptions) -> None:
    """Refuse an option that would have no effect: a user who gives it expects one."""
    given = {
        "--agent-header": options.headers,
        "--agent-env": options.variables,
        "--agent-tool": options.tool,
        "--model-url": options.model_url,
    }
    for flag, value in given.items():
        if value and kind not in _USES[flag]:
            kinds = ", ".join(sorted(f"{use}:" for use in _USES[flag]))
            raise ConfigError(flag, f"an agent of the kind {kind}: does not use it", f"it is only for {kinds}")


def _require_reachable(kind: str, level: Level) -> None:
    """Refuse a level that a kind of agent cannot have; how far children can be isolated is tested where they start."""
    always = "none" if kind in INSIDE else "network"
    if kind in CHILDREN:
        if level is not Level.NETWORK:
            return
        problem, remedy = "it is started here, not reached by a URL", "take auto, uid or process"
    elif level in {Level.AUTO, Level.NONE, always}:
        return
    else:
        problem = "it runs in this process" if kind in INSIDE else "where it runs is not decided here"
        remedy = f"take auto; the report says {always}"
    raise ConfigError("--isolation", f"an agent of the kind {kind}: cannot have {level}: {problem}", remedy)


def _adapter(name: str) -> Any:
    return _module(f"sirocco.agents.{name}")


def _module(name: str) -> Any:
    return importlib.import_module(name)
