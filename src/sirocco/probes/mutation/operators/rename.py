"""Renaming: all objects, namespaces and zones get new names, everywhere at once."""

from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Document
from sirocco.probes.mutation.kit import Terms
from sirocco.probes.mutation.operator import EVERYTHING, Operator
from sirocco.probes.mutation.rename import rename, renameable


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def choices(document: Mapping[str, Any], _archetype: Archetype) -> tuple[str, ...]:
        return ("",) if renameable(terms, document) else ()

    def apply(document: Mapping[str, Any], _choice: str, dice: Random) -> Document:
        return rename(terms, document, dice)

    return Operator("rename", "rename", choices, apply, turn=400, preserves=EVERYTHING, is_plain=True)
