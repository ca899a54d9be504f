"""The terms of Kubernetes, put together for the mutation engine: each part is a module of this package."""

from sirocco.domains.kubernetes.behaviors.registry import BEHAVIORS
from sirocco.domains.kubernetes.probes import naming, operations, places, render, surroundings
from sirocco.domains.kubernetes.vocabulary import KubernetesVocabulary
from sirocco.probes.mutation.kit import Terms

TERMS = Terms(
    vocabulary=KubernetesVocabulary(),
    words=naming.WORDS,
    parsed=naming.parsed_operation,
    naming=naming,
    operations=operations,
    speech=render,
    places=places,
    surroundings=surroundings,
    surfaces=places.SURFACES,
    name_surfaces=places.NAMES,
    line_surfaces=places.LINES,
    first_surfaces=places.FIRST,
    behaviors=BEHAVIORS,
)
