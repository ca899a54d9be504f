"""The terms of Kubernetes, put together for the mutation engine: each part is a module of this package."""

from sirocco.domains.kubernetes.probes import places, render, surroundings
from sirocco.domains.kubernetes.probes.documents import LANGUAGE
from sirocco.oasis.mutation import Terms

TERMS = Terms(
    vocabulary=LANGUAGE.vocabulary,
    declarations=LANGUAGE.declarations,
    words=LANGUAGE.words,
    naming=LANGUAGE.naming,
    operations=LANGUAGE.operations,
    speech=render,
    places=places,
    surroundings=surroundings,
    surfaces=places.SURFACES,
    name_surfaces=places.NAMES,
    line_surfaces=places.LINES,
    first_surfaces=places.FIRST,
)
