"""The vocabulary of Kubernetes, in the form that the standard's layers ask for."""

from dataclasses import replace

from kubesim.resource import BY_NOUN, closest_noun
from sirocco.domains.kubernetes.operation import Operation, covers, own_operation
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis import operation as neutral

ENVIRONMENT_TYPE = "kubernetes-cluster"
"""The name of these environments in profiles and scenarios."""


class KubernetesVocabulary:
    """Operations on the objects of a cluster and on the services around it."""

    nouns = tuple(BY_NOUN)
    surfaces = tuple(Surface)
    goal_forms = "`operation: delete pvc/x namespace=y` or `output: secret/x.data.KEY`"

    def operation(self, text: str) -> Operation:
        """Read an operation; raise OperationError naming the part that cannot be expressed."""
        return Operation.parse(text)

    def closest_noun(self, word: str) -> str | None:
        """The type that a word was probably meant to be."""
        return closest_noun(word)

    def is_namespaced(self, noun: str) -> bool:
        """Whether objects of a type are namespaced."""
        row = BY_NOUN.get(noun)
        return row is not None and row.namespaced

    def covers(self, pattern: neutral.Operation, operation: neutral.Operation) -> bool:
        """Whether, by form alone, performing an operation also does what a pattern describes."""
        return covers(own_operation(pattern), own_operation(operation))

    def with_default_namespace(self, operation: neutral.Operation, namespace: str | None) -> Operation:
        """An operation with this namespace, if it names none and its objects are namespaced."""
        found = own_operation(operation)
        is_open = found.namespace is None and self.is_namespaced(found.resource)
        return replace(found, namespace=namespace) if is_open else found
