"""The Kubernetes domain as the rest of Sirocco sees it: one object that puts its parts together."""

from functools import cached_property
from pathlib import Path

from sirocco.domains.kubernetes.declarations import KubernetesDeclarations
from sirocco.domains.kubernetes.reader import KubernetesReader
from sirocco.domains.kubernetes.vocabulary import KubernetesVocabulary

ENVIRONMENT_TYPE = "kubernetes-cluster"


class KubernetesDomain:
    """Clusters behind the Kubernetes API, with the services that stand around them."""

    environment_type = ENVIRONMENT_TYPE

    @cached_property
    def vocabulary(self) -> KubernetesVocabulary:
        """Its types, verbs and operations."""
        return KubernetesVocabulary()

    @cached_property
    def declarations(self) -> KubernetesDeclarations:
        """What the preconditions of its scenarios declare."""
        return KubernetesDeclarations()

    @cached_property
    def reader(self) -> KubernetesReader:
        """What the entries of its scenarios say."""
        return KubernetesReader()

    @property
    def overlays(self) -> str:
        """The path of the folder with readings of profiles by others."""
        return str(Path(__file__).resolve().parent / "overlays")


KUBERNETES = KubernetesDomain()
