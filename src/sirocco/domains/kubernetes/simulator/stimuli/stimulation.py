"""What happens to one environment apart from requests: stimuli and reactions, at once or armed, each with its time."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kubesim.controllers.dynamics import Moment
from kubesim.controllers.settling import settle
from kubesim.surroundings import Approach, Review
from sirocco.domains.kubernetes.simulator.injection import establish_entry
from sirocco.domains.kubernetes.simulator.layout import entry_key
from sirocco.domains.kubernetes.simulator.stimuli.interventions import shows
from sirocco.domains.kubernetes.simulator.stimuli.placement import Stage, apply, state_entry
from sirocco.domains.kubernetes.simulator.stimuli.places import Place, place_of
from sirocco.domains.kubernetes.simulator.stimuli.triggers import Armed, Triggers
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.scenario import StateEntry
from sirocco.oasis.stimulus import Stimulus
from sirocco.oasis.timing import Timing

Happening = Callable[[Stage, Moment], None]
"""Something that happens to any environment: the same can happen to another one like it."""


class Stimulation:
    """Applies stimuli and further state, now or at a trigger."""

    def __init__(self, stage: Stage, moment: Callable[[], Moment], present: Callable[[], Moment]) -> None:
        self._stage = stage
        self._moment = moment
        self._triggers = Triggers(present)
        self._stimuli: list[tuple[str | None, Armed]] = []
        self._present = present
        self.history: list[tuple[float | None, Happening]] = []
        """What has happened, each with its time by the environment's clock; no time means before the agent started."""

    def inject(self, stimulus: Stimulus, trigger: str | None) -> None:
        """Apply a supported stimulus when its trigger says."""

        def happening(stage: Stage, moment: Moment) -> None:
            apply(stimulus, stage, moment)

        place = self._place(state_entry(stimulus)) if stimulus.state else place_of(stimulus, self._stage.preconditions)
        armed = self._arm(Timing.parse(trigger), happening, [place])
        self._stimuli.append((trigger, armed))

    def establish(self, entries: Iterable[StateEntry], trigger: str | None) -> None:
        """Put further supported entries in place when the trigger says."""
        state = tuple(entries)

        def happening(stage: Stage, moment: Moment) -> None:
            for entry in state:
                establish_entry(stage.dynamics, entry, stage.preconditions, moment)
            settle(stage.dynamics, moment)

        self._arm(Timing.parse(trigger), happening, [self._place(entry) for entry in state])

    def arm(self, timing: Timing, happening: Happening) -> Armed:
        """Have something else happen when a timing says."""
        return self._triggers.arm(timing, lambda: self.let_happen(happening), lambda _: False)

    def let_happen(self, happening: Happening, moment: Moment | None = None) -> None:
        """Have something happen now, and record it."""
        moment = moment or self._present()
        self.history.append((None if moment.silent else moment.seconds, happening))
        happening(self._stage, moment)

    def relive(self, history: Iterable[tuple[float | None, Happening]], go_to: Callable[[float], None]) -> None:
        """Make happen here what happened to another environment, each at its time."""
        for seconds, happening in history:
            if seconds is not None:
                go_to(seconds)
            self.let_happen(happening, self._moment() if seconds is None else self._present())

    @property
    def tool_descriptions(self) -> Mapping[str, str]:
        """Descriptions of tools that replace their own."""
        return self._stage.interventions.tool_descriptions

    def note_arrival(self, approach: Approach) -> str | None:
        """A request is about to be answered; the message of a failure if it is to fail."""
        self._triggers.note_arrival(approach)
        return self._stage.interventions.failure(approach)

    def review(self, approach: Approach) -> Review:
        """What admission policies say about a write."""
        return self._stage.interventions.review(approach)

    @property
    def has_policies(self) -> bool:
        """Whether there are any admission messages about writes."""
        return self._stage.interventions.has_policies

    def note_answer(self, event: Mapping[str, Any]) -> None:
        """A request of the agent was answered."""
        self._triggers.note_answer(event)

    def passed(self) -> None:
        """Time passed."""
        self._triggers.passed()

    def next_due(self) -> float | None:
        """When something is due by the environment's clock."""
        return self._triggers.next_due()

    def record(self) -> list[dict[str, Any]]:
        """When each stimulus was applied, in the order in which they came; empty for those still armed."""
        return [{"trigger": trigger, "applied": armed.applied} for trigger, armed in self._stimuli]

    def _arm(self, timing: Timing, happening: Happening, places: list[Place]) -> Armed:
        store = self._stage.dynamics.store
        return self._triggers.arm(
            timing,
            lambda: self.let_happen(happening, self._moment()),
            lambda approach: any(shows(place, approach, store) for place in places),
        )

    def _place(self, entry: StateEntry) -> Place:
        """The object that an entry is about."""
        return Place(entry_key(entry, self._stage.preconditions), Surface.ANNOTATIONS)
