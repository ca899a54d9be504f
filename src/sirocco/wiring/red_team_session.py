"""A live red-team session: one situation at a time, edited, fired at agents, undone and saved (AV-07)."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sirocco.campaign.admission import Admission, Admitted, Rejection
from sirocco.campaign.findings import probe_text
from sirocco.campaign.probe_replay import fit_probe
from sirocco.errors import ConfigError
from sirocco.oasis.canonical import canonical_json, digest
from sirocco.oasis.deed import Deed
from sirocco.oasis.observation import Observation
from sirocco.oasis.probe import Author, Cell, Draft, GeneratorMethod, ProbeRequest, Reproducibility, Wording
from sirocco.oasis.profile import Profile
from sirocco.oasis.record import Record
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.oasis.stimulus import StimulusType
from sirocco.probes.mutation.bases import base_draft
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.probes.red_team import PersonsTexts, Team, filled_text
from sirocco.providers.watching import See, WatchedProvider
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.witnessing import Witnesses
from sirocco.wiring import plugins
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.assemble import witnesses
from sirocco.wiring.clock import utc_now
from sirocco.wiring.connection import connection

_SITUATIONS = 8
"""The number of situations drawn for a choice before giving up."""
_TEAM_LIVE = "texts and edits of a live session"


@dataclass(frozen=True, slots=True)
class Shot:
    """The result of firing, or why the draft is not a probe; whether a reader of ours recognized its request."""

    result: UnitResult | None = None
    refused: str = ""
    is_goal_recognised: bool = True


@dataclass
class RedTeamSession:
    """One team's work; `versions` are the situation's forms, the current one last."""

    profile: Profile
    team: Team
    seed: int
    versions: list[Draft] = field(default_factory=list)
    fired: Admitted | None = None
    """The probe as last fired."""
    _shots: int = 0

    @property
    def method(self) -> GeneratorMethod:
        """Who made the probes (AV-08): what people write is not reproducible."""
        made = PersonsTexts(self.profile, (_TEAM_LIVE,), self.team).method
        return made.model_copy(update={"reproducibility": Reproducibility.NON_REPRODUCIBLE, "description": _TEAM_LIVE})

    @property
    def draft(self) -> Draft:
        """The current situation."""
        if not self.versions:
            raise ConfigError("redteam", "no situation is chosen", "type: use ARCHETYPE SURFACE")
        return self.versions[-1]

    def take(self, scenario: str) -> Draft:
        """Start from a published scenario, given by its id or an unambiguous part of it."""
        found = [one for one in self.profile.scenarios if scenario and scenario in one.scenario.id]
        found = [one for one in found if one.scenario.id == scenario] or found
        if len(found) != 1:
            problem = f"{len(found)} published scenarios match {scenario!r}"
            raise ConfigError("base", problem, "type: bases, for their ids")
        published = found[0].scenario
        document = base_draft(found[0], self.profile.document).document()
        base = {
            "profile": self.profile.document.id,
            "version": self.profile.document.version,
            "digest": self.profile.digest(),
            "scenario": published.id,
        }
        self.versions.append(Draft(0, published.archetype, document, base=base))
        return self.draft

    async def clear(self, archetype: str, surface: str | None) -> Draft:
        """Start with an environment that contains only what the request, checks and texts mention."""
        drawn = await self.choose(archetype, surface)
        rest = {key: value for key, value in drawn.scenario.items() if key not in {"id", "preconditions"}}
        agent = drawn.scenario["preconditions"].get("agent", {})
        spoken_of = canonical_json([rest, agent])
        needed = [entry for entry in self._state if str(entry["resource"]).partition("/")[2] in spoken_of]
        self._edit_state(needed)
        del self.versions[-2]
        return self.draft

    async def choose(self, archetype: str, surface: str | None) -> Draft:
        """Draw a fresh situation of an archetype, with a text on a surface if one is named.

        Without an archetype, draw another situation of the current kind. A situation whose checks do not hold is
        skipped: the team would only learn of it on firing, and could not fix it.
        """
        if not archetype and self.versions:
            archetype, surface = self.draft.primary_archetype, self.draft.surface
        if archetype not in self.profile.archetypes:
            problem = f"the profile has no archetype {archetype!r}" if archetype else "no archetype is named"
            raise ConfigError("use", problem, "type: archetypes")
        words = self.profile.domain.vocabulary
        if surface is not None and surface not in words.surfaces:
            raise ConfigError("use", f"there is no surface {surface!r}", f"use {', '.join(map(str, words.surfaces))}")
        drawn: list[Draft] = []
        for number in range(_SITUATIONS):
            async for draft in self._situations(Cell(number, archetype, surface=surface)):
                drawn.append(draft)
                if await self._is_sound(draft):
                    self.versions.append(draft)
                    return self.draft
        if not drawn:
            raise ConfigError(
                "use", f"no situation of {archetype} has room for that", "choose another surface; type: archetypes"
            )
        self.versions.append(drawn[0])
        return self.draft

    async def _situations(self, cell: Cell) -> AsyncIterator[Draft]:
        """The engine's situations for a cell, attributed to nobody yet."""
        words, aims = self.profile.domain.vocabulary, (self.profile.archetypes[cell.archetype],)
        request = ProbeRequest(aims, words.nouns, words.surfaces, self.seed + len(self.versions), (cell,))
        async for draft in MutationGenerator(self.profile).propose(request):
            if isinstance(draft, Draft):
                yield replace(draft, lineage=(), base=None)

    async def _is_sound(self, draft: Draft) -> bool:
        settings = RunSettings(self.seed, utc_now)
        sound = witnesses(plugins.own_provider(self.profile), settings, self.profile.domain)
        decision = await self._admission(sound).decide_safely(_identified(draft), anew=True)
        return isinstance(decision, Admitted)

    def _admission(self, sound: Witnesses) -> Admission:
        aims = tuple(self.profile.archetypes.values())
        return Admission(self.profile, aims, sound, method=self.method, seed=self.seed)

    def say(self, text: str) -> None:
        """Replace the text that is placed in the environment."""
        self._replace_text(text, is_prompt=False)

    def ask(self, text: str) -> None:
        """Replace the operator's request."""
        self._replace_text(text, is_prompt=True)

    def _replace_text(self, text: str, *, is_prompt: bool) -> None:
        said = [stimulus for stimulus in self.draft.scenario["stimuli"] if _is_prompt(stimulus) is is_prompt]
        first = next((one for one in said if one.get("value")), None)
        if first is None:
            raise ConfigError("text", "this environment contains no text", "choose a surface: use ARCHETYPE SURFACE")
        terms = self.profile.domain.mutation.terms
        text = filled_text(terms, text, ScenarioDraft.parse(self.draft.scenario))
        stimuli = [{**one, "value": text} if one is first else one for one in self.draft.scenario["stimuli"]]
        self._edit(stimuli=stimuli)

    def declare(self, entry: Mapping[str, Any]) -> None:
        """Add one more object to the environment."""
        self._edit_state([*self._state, dict(entry)])

    def remove(self, number: int) -> None:
        """Remove an object from the environment, by its number from 1 up."""
        if not 1 <= number <= len(self._state):
            raise ConfigError("drop", f"there is no object {number}", "type: show")
        self._edit_state([entry for place, entry in enumerate(self._state, 1) if place != number])

    def change(self, number: int, entry: Mapping[str, Any]) -> None:
        """Replace an object by another, by its number from 1 up."""
        if not 1 <= number <= len(self._state):
            raise ConfigError("set", f"there is no object {number}", "type: show")
        self._edit_state([dict(entry) if place == number else one for place, one in enumerate(self._state, 1)])

    @property
    def _state(self) -> list[Any]:
        return list(self.draft.scenario["preconditions"]["environment"]["state"])

    def _edit_state(self, state: list[Any]) -> None:
        preconditions = self.draft.scenario["preconditions"]
        environment = {**preconditions["environment"], "state": state}
        self._edit(preconditions={**preconditions, "environment": environment})

    def _edit(self, **parts: Any) -> None:
        self.versions.append(replace(self.draft, scenario={**self.draft.scenario, **parts}))

    def roll_back(self) -> None:
        """Undo the last edit or choice."""
        if len(self.versions) < 2:
            raise ConfigError("back", "there is nothing to undo", "type: use ARCHETYPE SURFACE")
        self.versions.pop()

    async def fire(self, agent: str, options: AgentOptions, see: Callable[[Deed], None] = lambda _: None) -> Shot:
        """Admit the current situation and put it to an agent in a fresh environment; `see` gets each call.

        Calls of the agent's account are reported while they happen, as far as the agent leaves the process time.
        """
        connected, settings = connection(self.profile, agent, options), RunSettings(self.seed, utc_now)
        watched = WatchedProvider(connected.provider, _onlooker(self.profile.domain.record, see))
        execution = Execution(connected.agent, watched, settings)
        sound = witnesses(connected.witnesses, settings, self.profile.domain)
        author = Author("red_team", self.method, Wording.PERSON)
        decision = await self._admission(sound).decide(replace(_identified(self.draft), author=author), anew=True)
        if isinstance(decision, Rejection):
            return Shot(refused=f"{decision.reason}: {decision.detail}")
        self._shots += 1
        async with connected.open():
            fitted = fit_probe(decision.probe.bound, await connected.agent.describe(), self.profile, execution)
            if isinstance(fitted, str):
                return Shot(refused=fitted)
            result = await execution.execute(f"{decision.probe.id}.try-{self._shots}", fitted)
        self.fired = decision
        return Shot(result, is_goal_recognised=decision.is_goal_recognised)

    def save(self, folder: Path) -> Path:
        """Write the last probe fired to a file that can be run again."""
        if self.fired is None:
            raise ConfigError("save", "nothing has been fired yet", "type: fire")
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.fired.probe.id}.yaml"
        file.write_text(probe_text(self.fired.probe, self.profile.document.canary), encoding="utf-8")
        return file


def _identified(draft: Draft) -> Draft:
    """The draft under an id derived from its content, so that no probe overwrites another."""
    content = {key: value for key, value in draft.scenario.items() if key != "id"}
    mark = digest(content).removeprefix("sha256:")[:12]
    return replace(draft, scenario={**content, "id": f"probe-{draft.primary_archetype.lower()}-{mark}"})


def _onlooker(record: Record, see: Callable[[Deed], None]) -> See:
    """A callback that reports each call of the agent once."""
    told = set[int]()

    def look(log: Observation, principal: str) -> None:
        for deed in record.log(log):
            if deed.principal == principal and deed.sequence not in told:
                told.add(deed.sequence)
                see(deed)

    return look


def _is_prompt(stimulus: Mapping[str, Any]) -> bool:
    return bool(stimulus.get("type") == StimulusType.OPERATOR_PROMPT)


def agent_exists(spec: str, profile: Profile) -> None:
    """Raise ConfigError if there is no agent of that name."""
    plugins.agent(spec, profile)
