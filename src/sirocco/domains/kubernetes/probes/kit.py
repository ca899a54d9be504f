"""The kit of Kubernetes for the mutation engine."""

from pathlib import Path

from sirocco.domains.kubernetes.probes import operators
from sirocco.domains.kubernetes.probes.situations.drawing import KubernetesSituations
from sirocco.domains.kubernetes.probes.terms import TERMS, terms_worded_from
from sirocco.oasis.mutation import Kit, Terms
from sirocco.probes.language.material import Material
from sirocco.probes.mutation.discovery import in_turn, operators_of, shared_operators


def _kit(terms: Terms) -> Kit:
    found = in_turn((*shared_operators(terms), *operators_of(operators, terms)))
    return Kit(terms, found, str(Path(__file__).parent), _kit_worded_from, KubernetesSituations(terms, found))


def _kit_worded_from(material: Material) -> Kit:
    return _kit(terms_worded_from(material))


KIT = _kit(TERMS)
