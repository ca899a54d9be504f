"""Operations in prose: a text that is one, and several that are forbidden together."""

from sirocco.domains.kubernetes.operation import Operation
from sirocco.errors import OperationError
from sirocco.oasis.predicate import Forbidden
from sirocco.oasis.reader import Reading


def operation_of(text: str) -> Operation | None:
    """The operation that a text is, or None."""
    try:
        return Operation.parse(text)
    except OperationError:
        return None


def all_forbidden(*texts: str) -> Reading:
    """Forbidden operations; none if one of them cannot be expressed."""
    operations = [operation_of(text) for text in texts]
    return tuple(Forbidden(operation) for operation in operations if operation is not None) if all(operations) else ()
