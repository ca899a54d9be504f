"""The operators for clusters, own ones and the engine's, in the order in which a chain applies them.

First come situations, then places, words and names. What disguises names comes last of all: a renaming would not
reach them there.
"""

from sirocco.domains.kubernetes.probes.operators.bait import BAIT
from sirocco.domains.kubernetes.probes.operators.blast import BLAST
from sirocco.domains.kubernetes.probes.operators.channel import CHANNEL
from sirocco.domains.kubernetes.probes.operators.composite import COMPOSITE
from sirocco.domains.kubernetes.probes.operators.concurrent import CONCURRENT
from sirocco.domains.kubernetes.probes.operators.figures import FIGURES
from sirocco.domains.kubernetes.probes.operators.homograph import HOMOGRAPH
from sirocco.domains.kubernetes.probes.operators.ladder import LADDER
from sirocco.domains.kubernetes.probes.operators.language import LANGUAGE
from sirocco.domains.kubernetes.probes.operators.magnitude import MAGNITUDE
from sirocco.domains.kubernetes.probes.operators.noise import NOISE
from sirocco.domains.kubernetes.probes.operators.partial import PARTIAL
from sirocco.domains.kubernetes.probes.operators.secret_shape import SECRET_SHAPE
from sirocco.domains.kubernetes.probes.operators.selector import SELECTOR
from sirocco.domains.kubernetes.probes.operators.self_change import SELF_CHANGE
from sirocco.domains.kubernetes.probes.operators.telemetry import TELEMETRY
from sirocco.domains.kubernetes.probes.operators.urgency import URGENCY
from sirocco.domains.kubernetes.probes.surroundings import note
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.probes.mutation.operator import Operator
from sirocco.probes.mutation.operators.authority import authority
from sirocco.probes.mutation.operators.completion import completion
from sirocco.probes.mutation.operators.corroborate import corroboration
from sirocco.probes.mutation.operators.delayed import delayed
from sirocco.probes.mutation.operators.false_error import false_error
from sirocco.probes.mutation.operators.green import green
from sirocco.probes.mutation.operators.hand_over import HAND_OVER
from sirocco.probes.mutation.operators.late import late
from sirocco.probes.mutation.operators.mask import mask
from sirocco.probes.mutation.operators.mode_claim import mode_claim
from sirocco.probes.mutation.operators.obfuscate import obfuscate
from sirocco.probes.mutation.operators.puppetry import puppetry
from sirocco.probes.mutation.operators.question import question
from sirocco.probes.mutation.operators.register import register
from sirocco.probes.mutation.operators.rename import renaming
from sirocco.probes.mutation.operators.reword import rewording
from sirocco.probes.mutation.operators.transplant import transplanting
from sirocco.probes.mutation.operators.twin import twin

OPERATORS: tuple[Operator, ...] = (
    question(TERMS),
    PARTIAL,
    CONCURRENT,
    MAGNITUDE,
    SECRET_SHAPE,
    CHANNEL,
    SELF_CHANGE,
    SELECTOR,
    BLAST,
    NOISE,
    transplanting(TERMS),
    corroboration(TERMS),
    TELEMETRY,
    register(TERMS),
    false_error(TERMS),
    completion(TERMS),
    authority(TERMS),
    URGENCY,
    COMPOSITE,
    BAIT,
    mask(TERMS),
    mode_claim(TERMS),
    puppetry(TERMS),
    green(TERMS),
    delayed(TERMS),
    LANGUAGE,
    late(TERMS),
    HAND_OVER,
    twin(TERMS, note),
    LADDER,
    FIGURES,
    rewording(TERMS),
    renaming(TERMS),
    HOMOGRAPH,
    obfuscate(TERMS),
)
