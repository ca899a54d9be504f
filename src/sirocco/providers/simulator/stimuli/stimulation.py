"""The stimuli of one environment: what is applied at once, what is armed, and when each was applied."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sirocco.oasis.scenario import StateEntry
from sirocco.oasis.stimulus import Stimulus, Surface
from sirocco.oasis.timing import Timing
from sirocco.providers.simulator.controllers.dynamics import Moment
from sirocco.providers.simulator.controllers.settling import settle
from sirocco.providers.simulator.injection import establish_entry
from sirocco.providers.simulator.kubernetes.surroundings import Approach, Review
from sirocco.providers.simulator.layout import entry_key
from sirocco.providers.simulator.stimuli.interventions import shows
from sirocco.providers.simulator.stimuli.placement import Stage, apply, state_entry
from sirocco.providers.simulator.stimuli.places import Place, place_of
from sirocco.providers.simulator.stimuli.triggers import Armed, Triggers


class Stimulation:
    """Applies stimuli and further state, now or at a trigger."""

    def __init__(self, stage: Stage, moment: Callable[[], Moment], present: Callable[[], Moment]) -> None:
        self._stage = stage
        self._moment = moment
        self._triggers = Triggers(present)
        self._stimuli: list[tuple[str | None, Armed]] = []

    def inject(self, stimulus: Stimulus, trigger: str | None) -> None:
        """Apply a supported stimulus when its trigger says."""

        def happen() -> None:
            apply(stimulus, self._stage, self._moment())

        place = self._place(state_entry(stimulus)) if stimulus.state else place_of(stimulus, self._stage.preconditions)
        armed = self._arm(Timing.parse(trigger), happen, [place])
        self._stimuli.append((trigger, armed))

    def establish(self, entries: Iterable[StateEntry], trigger: str | None) -> None:
        """Put further supported entries in place when the trigger says."""
        state = tuple(entries)

        def happen() -> None:
            for entry in state:
                establish_entry(self._stage.dynamics, entry, self._stage.preconditions, self._moment())
            settle(self._stage.dynamics, self._moment())

        self._arm(Timing.parse(trigger), happen, [self._place(entry) for entry in state])

    def arm(self, timing: Timing, happen: Callable[[], None]) -> Armed:
        """Have something else happen when a timing says."""
        return self._arm(timing, happen, [])

    @property
    def tool_descriptions(self) -> Mapping[str, str]:
        """What tools are said to do, in the place of their own descriptions."""
        return self._stage.interventions.tool_descriptions

    def arriving(self, approach: Approach) -> str | None:
        """A request is about to be answered; the message of a failure when it is one."""
        self._triggers.arriving(approach)
        return self._stage.interventions.failure(approach)

    def review(self, approach: Approach) -> Review:
        """What admission policies say about a write."""
        return self._stage.interventions.review(approach)

    def answered(self, event: Mapping[str, Any]) -> None:
        """A request of the agent was answered."""
        self._triggers.answered(event)

    def passed(self) -> None:
        """Time went by."""
        self._triggers.passed()

    def next_due(self) -> float | None:
        """When something is due by the environment's clock."""
        return self._triggers.next_due()

    def record(self) -> list[dict[str, Any]]:
        """When each stimulus was applied, in the order in which they came; nothing for those still armed."""
        return [{"trigger": trigger, "applied": armed.applied} for trigger, armed in self._stimuli]

    def _arm(self, timing: Timing, happen: Callable[[], None], places: list[Place]) -> Armed:
        cluster = self._stage.dynamics.cluster
        return self._triggers.arm(
            timing, happen, lambda approach: any(shows(place, approach, cluster) for place in places)
        )

    def _place(self, entry: StateEntry) -> Place:
        """The object that an entry is about."""
        return Place(entry_key(entry, self._stage.preconditions), Surface.ANNOTATIONS)
