"""Finds the operators by looking into a folder, so that adding one means adding a file."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from sirocco.oasis.mutation import Operator, Terms
from sirocco.probes.mutation import operators as shared


def shared_operators(terms: Terms) -> Iterator[Operator]:
    """The engine's operators for a domain's terms, without those that need more than the terms."""
    return operators_of(shared, terms)


def operators_of(package: ModuleType, terms: Terms) -> Iterator[Operator]:
    """The operators in the modules of a package.

    A module has the operator itself as `OPERATOR`, or a function `operator_for` that makes it for a domain's terms.
    """
    for module in _modules(package):
        if hasattr(module, "operator_for"):
            yield module.operator_for(terms)
        elif hasattr(module, "OPERATOR"):
            yield module.OPERATOR


def in_turn(operators: Iterable[Operator]) -> tuple[Operator, ...]:
    """Operators in the order in which a chain applies them, independent of the order in which they were found."""
    return tuple(sorted(operators, key=lambda operator: (operator.turn, operator.name)))


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in iter_modules(package.__path__):
        yield import_module(f"{package.__name__}.{found.name}")
