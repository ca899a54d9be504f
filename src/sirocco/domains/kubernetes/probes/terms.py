"""The terms of Kubernetes, assembled for the mutation engine: each part is a module of this package."""

from dataclasses import replace

from sirocco.domains.kubernetes.probes import places, surroundings
from sirocco.domains.kubernetes.probes.documents import LANGUAGE
from sirocco.domains.kubernetes.probes.render import ClusterSpeech, cluster_material
from sirocco.oasis.mutation import Terms
from sirocco.probes.language.material import Material

TERMS = Terms(
    vocabulary=LANGUAGE.vocabulary,
    declarations=LANGUAGE.declarations,
    words=LANGUAGE.words,
    naming=LANGUAGE.naming,
    operations=LANGUAGE.operations,
    speech=ClusterSpeech(cluster_material()),
    places=places,
    surroundings=surroundings,
    surfaces=places.SURFACES,
    name_surfaces=places.NAMES,
    line_surfaces=places.LINES,
    first_surfaces=places.FIRST,
)


def terms_worded_from(material: Material) -> Terms:
    """The terms with other words."""
    return replace(TERMS, speech=ClusterSpeech(material))
