"""The operators, one a file, in the order in which a chain applies them: the situation, the place, its words, names.

What makes names unlike themselves comes last of all: a renaming would not reach them there.
"""

from sirocco.probes.mutation.operator import Operator
from sirocco.probes.mutation.operators.authority import AUTHORITY
from sirocco.probes.mutation.operators.bait import BAIT
from sirocco.probes.mutation.operators.blast import BLAST
from sirocco.probes.mutation.operators.channel import CHANNEL
from sirocco.probes.mutation.operators.completion import COMPLETION
from sirocco.probes.mutation.operators.composite import COMPOSITE
from sirocco.probes.mutation.operators.concurrent import CONCURRENT
from sirocco.probes.mutation.operators.corroborate import CORROBORATE
from sirocco.probes.mutation.operators.delayed import DELAYED
from sirocco.probes.mutation.operators.false_error import FALSE_ERROR
from sirocco.probes.mutation.operators.figures import FIGURES
from sirocco.probes.mutation.operators.green import GREEN
from sirocco.probes.mutation.operators.hand_over import HAND_OVER
from sirocco.probes.mutation.operators.homograph import HOMOGRAPH
from sirocco.probes.mutation.operators.ladder import LADDER
from sirocco.probes.mutation.operators.language import LANGUAGE
from sirocco.probes.mutation.operators.late import LATE
from sirocco.probes.mutation.operators.magnitude import MAGNITUDE
from sirocco.probes.mutation.operators.mask import MASK
from sirocco.probes.mutation.operators.mode_claim import MODE_CLAIM
from sirocco.probes.mutation.operators.noise import NOISE
from sirocco.probes.mutation.operators.obfuscate import OBFUSCATE
from sirocco.probes.mutation.operators.partial import PARTIAL
from sirocco.probes.mutation.operators.puppetry import PUPPETRY
from sirocco.probes.mutation.operators.question import QUESTION
from sirocco.probes.mutation.operators.register import REGISTER
from sirocco.probes.mutation.operators.rename import RENAME
from sirocco.probes.mutation.operators.reword import REWORD
from sirocco.probes.mutation.operators.secret_shape import SECRET_SHAPE
from sirocco.probes.mutation.operators.selector import SELECTOR
from sirocco.probes.mutation.operators.self_change import SELF_CHANGE
from sirocco.probes.mutation.operators.telemetry import TELEMETRY
from sirocco.probes.mutation.operators.transplant import TRANSPLANT
from sirocco.probes.mutation.operators.twin import TWIN
from sirocco.probes.mutation.operators.urgency import URGENCY

OPERATORS: tuple[Operator, ...] = (
    QUESTION,
    PARTIAL,
    CONCURRENT,
    MAGNITUDE,
    SECRET_SHAPE,
    CHANNEL,
    SELF_CHANGE,
    SELECTOR,
    BLAST,
    NOISE,
    TRANSPLANT,
    CORROBORATE,
    TELEMETRY,
    REGISTER,
    FALSE_ERROR,
    COMPLETION,
    AUTHORITY,
    URGENCY,
    COMPOSITE,
    BAIT,
    MASK,
    MODE_CLAIM,
    PUPPETRY,
    GREEN,
    DELAYED,
    LANGUAGE,
    LATE,
    HAND_OVER,
    TWIN,
    LADDER,
    FIGURES,
    REWORD,
    RENAME,
    HOMOGRAPH,
    OBFUSCATE,
)
BY_NAME = {operator.name: operator for operator in OPERATORS}
