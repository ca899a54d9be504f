"""Pages that begin something: a run of an agent, or a live red-team session."""

import asyncio
import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sirocco.agents.isolation import Level
from sirocco.console.addresses import address
from sirocco.console.desk import desk_of
from sirocco.console.rendering import form_of, page
from sirocco.console.sessions import LiveSession
from sirocco.errors import ConfigError, SiroccoError
from sirocco.oasis.archetype import Classification
from sirocco.probes.red_team import Team
from sirocco.profiles.yaml_text import read_documents
from sirocco.reports.document import reason_of
from sirocco.reports.story import story
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.clock import run_name
from sirocco.wiring.config import Seed
from sirocco.wiring.red_team_session import RedTeamSession, agent_exists

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NUMBER = re.compile(r"(0x[0-9a-fA-F]{1,32}|[0-9]{1,39})")
_SECONDS = 300
_OBJECT_FORM = "write {resource: KIND/NAME, namespace: NAME}"
_MOST_PROBES = 100_000


def start(request: Request) -> Response:
    """The form for a run, what was started from here, and the sessions that are open."""
    return _start_page(request)


def _start_page(request: Request, problem: SiroccoError | None = None) -> Response:
    desk = desk_of(request)
    agents = [f"ref:{name}" for name in desk.profile.domain.reference_agents.names]
    return page(
        request, "start.html.j2", 400 if problem else 200, problem=problem, given=form_of(request), agents=agents,
        profile_name=desk.profile_name, jobs=desk.jobs.latest, root=str(desk.library.root), fresh=run_name(),
        levels=[str(one) for one in Level], sessions=desk.sessions.open, archetypes=_attackable(request),
        surfaces=list(map(str, desk.profile.domain.vocabulary.surfaces)), known={
            place.path.resolve(): place.slug for place in desk.library.places()
        },
    )  # fmt: skip


def _attackable(request: Request) -> list[tuple[str, str]]:
    profile = desk_of(request).profile
    return [(one.id, one.name) for one in profile.archetypes.values()
            if profile.classification(one.id) is Classification.SAFETY and one.shape]  # fmt: skip


def start_run(request: Request) -> Response:
    """Start a run in a process of its own."""
    desk, form = desk_of(request), form_of(request)
    try:
        name, options = form.get("run_name", "").strip() or run_name(), _options(form, desk.profile_name)
        if not _NAME.fullmatch(name):
            raise ConfigError("the name", "it is no name of a folder", "use letters, digits, dots and hyphens")
        agent_exists(form.get("agent", "").strip(), desk.profile)
        if (out := desk.library.root / name).exists():
            raise ConfigError("the name", f"there is a run called {name!r} already", "choose another name")
    except SiroccoError as error:
        return _start_page(request, error)
    desk.jobs.start(out, options)
    return RedirectResponse(address("start"), 303)


def _options(form: dict[str, str], profile: str) -> list[str]:
    """Each value behind its own option, so that none of them can be another option."""
    probes, seed, level = form.get("probes", "").strip(), form.get("seed", "").strip(), form.get("isolation", "auto")
    if not probes.isdecimal() or int(probes) > _MOST_PROBES:
        raise ConfigError("probes", "it is no number of probes", f"write one from 0 to {_MOST_PROBES}")
    if seed and not _NUMBER.fullmatch(seed):
        raise ConfigError("the seed", "it is no number", "write 7 or 0x5f3a, or leave it empty")
    if level not in {str(one) for one in Level}:
        raise ConfigError("isolation", "there is no such level", "choose one from the list")
    options = [f"--agent={form.get('agent', '').strip()}", f"--profile={profile}", f"--probes={probes}"]
    return [*options, f"--isolation={level}", *([f"--seed={seed}"] if seed else [])]


def begin_session(request: Request) -> Response:
    """Open a red-team session with a situation to begin with."""
    desk, form = desk_of(request), form_of(request)
    agent, size = form.get("agent", "").strip(), form.get("team_size", "1")
    try:
        agent_exists(agent, desk.profile)
        if not size.isdecimal() or not 1 <= int(size) <= 1000:
            raise ConfigError("people in the team", "it is no number", "write how many you are")
        team = Team(int(size), form.get("expertise", "").strip()[:200] or Team().expertise)
        session = RedTeamSession(desk.profile, team, Seed.choose(None).value)
        asyncio.run(session.choose(form.get("archetype", ""), form.get("surface") or None))
    except SiroccoError as error:
        return _start_page(request, error)
    # What is for reviewers and evaluators only is not for the agent either.
    hidden = (desk.library.root, desk.log_file, *(key for key in desk.signers.values() if key is not None))
    live = desk.sessions.begin(session, agent, AgentOptions(timeout_seconds=_SECONDS, hidden=hidden))
    return RedirectResponse(address("redteam", live.id), 303)


def show_session(request: Request) -> Response:
    """The situation as it stands, and what the last shot came to."""
    return _session_page(request, desk_of(request).sessions.session(request.path_params["session"]))


def _session_page(request: Request, live: LiveSession, problem: SiroccoError | None = None) -> Response:
    scenario = live.session.draft.scenario
    return page(
        request, "redteam.html.j2", 400 if problem else 200, live=live, problem=problem,
        objects=scenario["preconditions"]["environment"]["state"], stimuli=scenario["stimuli"],
        goal=scenario.get("x-sirocco", {}).get("goal"), archetypes=_attackable(request),
        surfaces=list(map(str, live.session.profile.domain.vocabulary.surfaces)), versions=len(live.session.versions),
    )  # fmt: skip


def act(request: Request) -> Response:
    """One step of a session: an edit, a shot, or saving what was fired."""
    desk, form = desk_of(request), form_of(request)
    live = desk.sessions.session(request.path_params["session"])
    with live.lock:
        try:
            notice = _act(live, form, desk.library.root / "probes")
        except SiroccoError as error:
            return _session_page(request, live, error)
    return RedirectResponse(address("redteam", live.id, notice=notice), 303)


def _act(live: LiveSession, form: dict[str, str], folder: Path) -> str:
    session, text = live.session, form.get("text", "")
    match form.get("action"):
        case "use":
            asyncio.run(session.choose(form.get("archetype", ""), form.get("surface") or None))
        case "text":
            session.say(text)
        case "prompt":
            session.ask(text)
        case "add":
            session.declare(_entry(text))
        case "drop":
            number = form.get("number", "")
            session.remove(int(number) if number.isdecimal() and len(number) < 6 else 0)
        case "back":
            session.roll_back()
        case "fire":
            _fire(live)
        case "save":
            live.saved = str(session.save(folder))
            return "saved"
        case _:
            raise ConfigError("the form", "there is no such step", "use the buttons of the page")
    return ""


def _entry(text: str) -> dict[str, object]:
    """The object that somebody wrote, by the reader of scenarios: it refuses aliases, which can grow without end."""
    documents, findings = read_documents(text, "the object")
    if findings:
        raise ConfigError("the object", findings[0].problem, _OBJECT_FORM)
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise ConfigError("the object", "that is no object", _OBJECT_FORM)
    return documents[0].value


def _fire(live: LiveSession) -> None:
    shot = asyncio.run(live.session.fire(live.agent, live.options))
    if shot.result is None:
        live.status, live.reason, live.story = "not fired", shot.refused, None
        return
    live.status, live.reason = shot.result.status or "no verdict", reason_of(shot.result) or ""
    live.story = story(shot.result)
