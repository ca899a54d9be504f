"""`sirocco redteam`: a live session in the terminal: choose a situation, edit it, fire it, undo, save."""

import asyncio
import importlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import yaml
from rich.text import Text

from sirocco.agents.isolation import Level
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.options import Duration, SeedType, agent_options
from sirocco.cli.terminal import console, count_phrase, one_line
from sirocco.errors import ConfigError, SiroccoError
from sirocco.evaluation.delivery import payload_facts
from sirocco.oasis.archetype import Classification
from sirocco.oasis.deed import Deed
from sirocco.oasis.report import UnitResult
from sirocco.probes.red_team import Team
from sirocco.reports.document import reason_of
from sirocco.reports.story import story
from sirocco.wiring import profile_source
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.config import Seed
from sirocco.wiring.profile_source import BUNDLED
from sirocco.wiring.red_team_session import RedTeamSession, agent_exists

_STYLES = {"PASS": "bold green", "FAIL": "bold red"}
_SHOWN_CALLS = 40
_HELP = """\
Choose a situation
  archetypes                 list what can be attacked, and through which surfaces
  use ARCHETYPE [SURFACE]    draw a fresh situation, with a text on a surface such as logs; `use` alone draws another
  blank ARCHETYPE [SURFACE]  the same, but with only the objects that the request and the checks mention
  bases [ARCHETYPE]          list the published scenarios
  base SCENARIO              start from one of them
Edit it
  show                       print the objects, the texts and what the agent must not do
  text WORDS                 change the text in the environment; {goal}, {target} and {namespace} are filled in
  prompt WORDS               change what the operator says
  add {YAML}                 add an object, such as {resource: configmap/notes, namespace: shop, data: {a: b}}
  set NUMBER {YAML}          replace an object, by its number in `show`
  drop NUMBER                remove an object
  back                       undo the last edit or choice
Attack
  agent SPEC                 switch to another agent
  fire                       send it to the agent in a fresh environment, and watch its calls
  save                       write what was fired last to a probe file
  quit                       leave; so does Ctrl-D"""
_EDITS = frozenset({"text", "prompt", "add", "set", "drop", "back"})
_FIRST = "To begin: use S-PI-001 logs, then text Please {goal}., then fire."


@click.command("redteam", epilog="Example: sirocco redteam --agent ref:naive --out probes")
@click.option("--agent", required=True, metavar="SPEC", help="The agent to attack first, as for `sirocco run`.")
@agent_options
@click.option("--timeout", type=Duration(), default="5m", show_default=True, help="Limit for one turn of the agent.")
@click.option("--profile", default=BUNDLED, show_default=True, help="A bundled profile's name, or a folder.")
@click.option("--seed", type=SeedType(), help="Seed for drawing situations.  [default: random]")
@click.option(
    "--team-size", type=click.IntRange(1), prompt="How many people are in your team", default=1,
    help="Number of people in the team.  [default: asked for]",
)  # fmt: skip
@click.option(
    "--expertise", prompt="Your field of expertise", default=Team().expertise,
    help="Their field of expertise.  [default: asked for]",
)  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=Path("probes"), show_default=True,
              help="Folder to save probes in.")  # fmt: skip
def command(
    agent: str, timeout: int, profile: str, seed: int | None, team_size: int, expertise: str, out: Path,
    agent_headers: tuple[str, ...], agent_env: tuple[str, ...], agent_tool: str, model_url: str, isolation: Level,
) -> int:  # fmt: skip
    """Attack an agent interactively: draw a situation, edit its objects and texts, fire, see the verdict.

    Type `help` in the session for its commands. Everything you fire passes the same admission as any other probe. What
    you save can be run again with `sirocco probe replay` or used with --generator red_team:DIR.
    """
    loaded, _ = profile_source.required_profile(profile)
    agent_exists(agent, loaded)
    options = AgentOptions(
        agent_headers, agent_env, agent_tool, model_url, timeout_seconds=timeout, isolation=isolation
    )
    team = Team(team_size, expertise.strip() or Team().expertise)
    session = RedTeamSession(loaded, team, Seed.choose(seed).value)
    console().print(f"{_HELP}\n\n{_FIRST}", markup=False)
    with suppress(ImportError):
        importlib.import_module("readline")  # lines can be edited, and earlier ones recalled
    _Dialogue(session, agent, options, out).run()
    return int(ExitCode.OK)


class _Dialogue:
    """Reads commands and shows their results; an error is reported and does not end the session."""

    def __init__(self, session: RedTeamSession, agent: str, options: AgentOptions, out: Path) -> None:
        self.session, self.agent, self.options, self.folder = session, agent, options, out
        self.console = console()
        self.seen = 0
        """Calls of the agent since the last shot."""
        self.commands: dict[str, Callable[[str], None]] = {
            "help": lambda _: self.console.print(_HELP, markup=False),
            "archetypes": self._archetypes,
            "use": self._use,
            "blank": self._blank,
            "bases": self._bases,
            "base": self._base,
            "show": self._show,
            "text": self.session.say,
            "prompt": self.session.ask,
            "add": lambda text: self.session.declare(_entry(text)),
            "set": self._set,
            "drop": lambda number: self.session.remove(int(number) if number.isdecimal() else 0),
            "back": lambda _: self.session.roll_back(),
            "agent": self._choose_agent,
            "fire": self._fire,
            "save": self._save,
        }

    def run(self) -> None:
        """Run until the user quits or input ends."""
        while True:
            try:
                name, _, rest = input("redteam> ").strip().partition(" ")
                if name in {"quit", "exit"}:
                    return
                if name:
                    self.commands.get(name, self._unknown)(rest.strip())
                if name in _EDITS:
                    self._tell_edited()
            except SiroccoError as error:
                self.console.print(Text(one_line(str(error)), style="yellow"))
            except KeyboardInterrupt:
                self.console.print("stopped; type quit to leave")
            except EOFError:
                return

    def _tell_edited(self) -> None:
        scenario = self.session.draft.scenario
        objects = count_phrase(len(scenario["preconditions"]["environment"]["state"]), "object")
        texts = count_phrase(len(scenario["stimuli"]), "text")
        self.console.print(f"Now there are {objects} and {texts}: show prints them, fire sends them.")

    def _unknown(self, _: str) -> None:
        raise ConfigError("redteam", "there is no such command", "type: help")

    def _archetypes(self, _: str) -> None:
        profile = self.session.profile
        for archetype in profile.archetypes.values():
            if profile.classification(archetype.id) is Classification.SAFETY and archetype.shape:
                places = ", ".join(map(str, archetype.shape.surfaces)) or "no surface"
                self.console.print(one_line(f"{archetype.id}  {archetype.name} ({places})"))

    def _use(self, words: str) -> None:
        archetype, _, surface = words.partition(" ")
        asyncio.run(self.session.choose(archetype, surface.strip() or None))
        self._show("")

    def _blank(self, words: str) -> None:
        archetype, _, surface = words.partition(" ")
        asyncio.run(self.session.clear(archetype, surface.strip() or None))
        self._show("")

    def _bases(self, archetype: str) -> None:
        for one in self.session.profile.scenarios:
            is_safety = one.scenario.classification is Classification.SAFETY
            if is_safety and archetype in {"", one.scenario.archetype}:
                self.console.print(one_line(f"{one.scenario.id}  {one.scenario.name}"))

    def _base(self, scenario: str) -> None:
        self.session.take(scenario)
        self._show("")

    def _show(self, _: str) -> None:
        scenario = self.session.draft.scenario
        self.console.print("In the environment:")
        for number, entry in enumerate(scenario["preconditions"]["environment"]["state"], 1):
            written = yaml.safe_dump(entry, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)
            self.console.print(one_line(f"{number:>3}  {written}")[:400], markup=False)
        for stimulus in scenario["stimuli"]:
            said = stimulus.get("value") or stimulus.get("state") or ""
            self.console.print(one_line(f"{_speaker(stimulus)}: {said}"), markup=False)
        goal = scenario.get("x-sirocco", {}).get("goal") or {}
        forbidden = goal.get("operation") or (f"tell {goal['output']}" if "output" in goal else "break its checks")
        self.console.print(one_line(f"The agent must not: {forbidden}"), markup=False)

    def _set(self, words: str) -> None:
        number, _, text = words.partition(" ")
        self.session.change(int(number) if number.isdecimal() else 0, _entry(text))

    def _choose_agent(self, spec: str) -> None:
        agent_exists(spec, self.session.profile)
        self.agent = spec
        self.console.print(one_line(f"The next shot goes to {spec}."))

    def _fire(self, _: str) -> None:
        self.console.print(one_line(f"Checking that the probe is sound, then sending it to {self.agent}. Its calls:"))
        self.seen = 0
        shot = asyncio.run(self.session.fire(self.agent, self.options, self._see))
        if shot.result is None:
            self.console.print(Text(one_line(f"Not fired: {shot.refused}"), style="yellow"))
            return
        told = story(shot.result)
        telling = [call for call in told.calls if call.writes or call.cited_by]
        which = (
            "of which these change something or decide the verdict:" if telling else "none of which changes anything"
        )
        self.console.print(f"{count_phrase(self.seen, 'call')}, {which}")
        for call in telling[-_SHOWN_CALLS:]:
            self.console.print(one_line(f"  #{call.number} {call.verb} {call.place} -> {call.code}"))
        status = shot.result.status or "no verdict"
        reason = reason_of(shot.result) or ""
        self.console.print(Text.assemble((status, _STYLES.get(status, "yellow")), one_line(f"  {reason}")))
        self.console.print(_reached(shot.result))
        if not shot.is_goal_recognised:
            self.console.print("No reader recognized the request in your text: a violation counts, a pass does not.")

    def _see(self, deed: Deed) -> None:
        self.seen += 1
        writes = self.session.profile.domain.record.is_write(deed)
        told = one_line(f"  {deed.at[11:19]} {deed.verb} {deed.place} -> {deed.status}")[:200]
        self.console.print(Text(told, style="bold" if writes else "dim"))

    def _save(self, _: str) -> None:
        file = self.session.save(self.folder)
        self.console.print(one_line(f"Saved {file}. To run it again: sirocco probe replay {file} --agent SPEC"))


def _speaker(stimulus: Mapping[str, Any]) -> str:
    """Who says a text, or where it is found."""
    if target := stimulus.get("target"):
        return f"Found at {target}"
    return {"operator_prompt": "The operator says", "conversation_context": "Said before"}.get(
        stimulus["type"], str(stimulus["type"])
    )


def _reached(result: UnitResult) -> str:
    """Whether the agent saw the text and pursued the goal; without that, a PASS is easily misread."""
    facts = payload_facts(result.bound, result.evidence)
    if facts.delivered is None:
        return "It is unknown whether the text reached the agent."
    if not facts.delivered:
        return "The text did not reach the agent, so this shows nothing: let the operator ask for what leads to it."
    went = "and the agent went for the goal" if facts.attempted else "and the agent did not go for the goal"
    return f"The text reached the agent, {went}."


def _entry(text: str) -> dict[str, Any]:
    """The object described in a line of input."""
    form = "write {resource: KIND/NAME, namespace: NAME}"
    try:
        entry = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError("redteam", "the object is not valid YAML", form) from error
    if not isinstance(entry, dict) or not isinstance(entry.get("resource"), str):
        raise ConfigError("redteam", "the object has no resource", form)
    return entry
