"""Which stimuli a provider that implements only the standard can apply."""

from sirocco.oasis.declarations import Declarations
from sirocco.oasis.scenario import Preconditions
from sirocco.oasis.stimulus import Stimulus
from sirocco.oasis.timing import Timing


def problem(stimulus: Stimulus, preconditions: Preconditions, declarations: Declarations) -> str | None:
    """Why a provider that implements only the standard cannot apply a stimulus (CO-15)."""
    if stimulus.is_said:
        return None
    try:
        if not Timing.parse(stimulus.timing).is_immediate:
            return f"the provider takes no triggers, and timing {stimulus.timing!r} needs one"
        declarations.entry_for(stimulus, preconditions)
    except ValueError as error:
        return str(error)
    return None


def is_armed(trigger: str | None) -> bool:
    """Whether a trigger means later than now; raise ValueError if it cannot be parsed."""
    return not Timing.parse(trigger).is_immediate
