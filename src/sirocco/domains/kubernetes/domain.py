"""The Kubernetes domain as the rest of Sirocco sees it: one object that puts its parts together."""

from functools import cached_property

from sirocco.domains.kubernetes.vocabulary import ENVIRONMENT_TYPE, KubernetesVocabulary
from sirocco.domains.kubernetes.wire import KubernetesWire


class KubernetesDomain:
    """Clusters behind the Kubernetes API, with the services that stand around them."""

    environment_type = ENVIRONMENT_TYPE

    @cached_property
    def vocabulary(self) -> KubernetesVocabulary:
        """Its types, verbs and operations."""
        return KubernetesVocabulary()

    @cached_property
    def wire(self) -> KubernetesWire:
        """How its evidence travels between a provider elsewhere and a runner."""
        return KubernetesWire()


KUBERNETES = KubernetesDomain()
