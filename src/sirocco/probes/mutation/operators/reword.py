"""Rewording: the operator asks for the same things in another register."""

from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.probes.mutation.document import Document
from sirocco.probes.mutation.operator import EVERYTHING, Operator
from sirocco.probes.mutation.reword import reword
from sirocco.probes.mutation.wording import Register


def _choices(_document: Mapping[str, Any], _archetype: Archetype) -> tuple[str, ...]:
    return tuple(register.value for register in Register)


def _apply(document: Mapping[str, Any], choice: str, dice: Random) -> Document:
    return reword(document, Register(choice), dice)


REWORD = Operator("reword", "reword", _choices, _apply, preserves=EVERYTHING, is_plain=True)
