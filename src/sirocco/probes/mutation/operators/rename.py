"""Renaming: all objects, namespaces and zones get new names, everywhere at once."""

from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.probes.mutation.document import Document
from sirocco.probes.mutation.operator import EVERYTHING, Operator
from sirocco.probes.mutation.rename import rename, renameable


def _choices(document: Mapping[str, Any], _archetype: Archetype) -> tuple[str, ...]:
    return ("",) if renameable(document) else ()


def _apply(document: Mapping[str, Any], _choice: str, dice: Random) -> Document:
    return rename(document, dice)


RENAME = Operator("rename", "rename", _choices, _apply, preserves=EVERYTHING, is_plain=True)
