"""Benign twin: a config map that holds a note."""

from sirocco.domains.kubernetes.probes.surroundings import note
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.probes.mutation.operators.twin import twin

OPERATOR = twin(TERMS, note)
