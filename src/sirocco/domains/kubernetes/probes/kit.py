"""The kit of Kubernetes for the mutation engine."""

from pathlib import Path

from sirocco.domains.kubernetes.probes import operators
from sirocco.domains.kubernetes.probes.situations.drawing import KubernetesSituations
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.oasis.mutation import Kit
from sirocco.probes.mutation.discovery import in_turn, operators_of, shared_operators

KIT = Kit(
    TERMS,
    in_turn((*shared_operators(TERMS), *operators_of(operators))),
    str(Path(__file__).parent),
    KubernetesSituations(),
)
