"""The words of Kubernetes as the standard's layers ask for them."""

from kubesim.resource import BY_NOUN, closest_noun, resource_type
from sirocco.domains.kubernetes.operation import Operation

ENVIRONMENT_TYPE = "kubernetes-cluster"
"""What profiles and scenarios call these environments."""


class KubernetesVocabulary:
    """Operations on the objects of a cluster and on the services around it."""

    def operation(self, text: str) -> Operation:
        """Read an operation; raise OperationError naming the part that cannot be expressed."""
        return Operation.parse(text)

    @property
    def nouns(self) -> frozenset[str]:
        """The types of objects that operations can name."""
        return frozenset(BY_NOUN)

    def noun(self, word: str) -> str | None:
        """The type that a word means."""
        row = resource_type(word)
        return row.noun if row else None

    def closest_noun(self, word: str) -> str | None:
        """The type that a word was probably meant to be."""
        return closest_noun(word)
