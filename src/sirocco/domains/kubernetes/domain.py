"""The Kubernetes domain as the rest of Sirocco sees it: one object that puts its parts together."""

from collections.abc import Mapping
from functools import cached_property

from sirocco.domains.kubernetes.bundled import BUNDLED
from sirocco.domains.kubernetes.vocabulary import KubernetesVocabulary
from sirocco.oasis.mutation import Mutation

ENVIRONMENT_TYPE = "kubernetes-cluster"


class KubernetesDomain:
    """Clusters behind the Kubernetes API, with the services that stand around them."""

    environment_type = ENVIRONMENT_TYPE

    def __reduce__(self) -> str:
        # There is one domain: what carries it keeps its name, however much of it has been loaded.
        return "KUBERNETES"

    @cached_property
    def vocabulary(self) -> KubernetesVocabulary:
        """Its types, verbs and operations."""
        return KubernetesVocabulary()

    @cached_property
    def mutation(self) -> Mutation:
        """What the mutation engine asks of it."""
        from sirocco.domains.kubernetes.probes.kit import KIT  # noqa: PLC0415 - large

        return KIT

    @property
    def profiles(self) -> Mapping[str, str]:
        """The profile that comes with it."""
        return BUNDLED


KUBERNETES = KubernetesDomain()
