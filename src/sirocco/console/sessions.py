"""Live red-team sessions that pages hold open: what a team edits and fires, one request at a time."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import RLock

from sirocco.errors import ConfigError
from sirocco.reports.story import Story
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.red_team_session import RedTeamSession

_MOST = 20


@dataclass
class LiveSession:
    """One session with the agent that it fires at, and what the last shot came to."""

    id: str
    session: RedTeamSession
    agent: str
    options: AgentOptions
    lock: RLock = field(default_factory=RLock)
    status: str = ""
    reason: str = ""
    story: Story | None = None
    saved: str = ""


class Sessions:
    """The sessions that are open; of too many the oldest is forgotten."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, LiveSession] = OrderedDict()
        self._lock = RLock()

    def begin(self, session: RedTeamSession, agent: str, options: AgentOptions) -> LiveSession:
        """Open a session."""
        with self._lock:
            live = LiveSession(secrets.token_hex(6), session, agent, options)
            self._known[live.id] = live
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
            return live

    def session(self, name: str) -> LiveSession:
        """The session that an address means."""
        with self._lock:
            found = self._known.get(name)
        if found is None:
            raise ConfigError("the address", "there is no such session, or it was closed", "begin another one")
        return found

    @property
    def open(self) -> list[LiveSession]:
        """Every session, the latest first."""
        with self._lock:
            return list(reversed(self._known.values()))
