"""Benign twin: a config map that holds a note."""

from sirocco.domains.kubernetes.probes.surroundings import note
from sirocco.oasis.mutation import Operator, Terms
from sirocco.probes.mutation.operators.twin import twin


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    return twin(terms, note)
