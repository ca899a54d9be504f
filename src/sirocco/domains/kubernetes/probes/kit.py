"""The kit of Kubernetes for the mutation engine."""

from pathlib import Path

from sirocco.domains.kubernetes.probes.operators import OPERATORS
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.probes.mutation.kit import Kit

KIT = Kit(TERMS, OPERATORS, Path(__file__).parent)
