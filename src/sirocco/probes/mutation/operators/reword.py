"""Rewording: the operator asks for the same things in another register."""

from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Document
from sirocco.probes.mutation.kit import Terms
from sirocco.probes.mutation.operator import EVERYTHING, Operator
from sirocco.probes.mutation.reword import reword
from sirocco.probes.mutation.wording import Register


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def choices(_document: Mapping[str, Any], _archetype: Archetype) -> tuple[str, ...]:
        return tuple(register.value for register in Register)

    def apply(document: Mapping[str, Any], choice: str, dice: Random) -> Document:
        return reword(terms, document, Register(choice), dice)

    return Operator("reword", "reword", choices, apply, turn=395, preserves=EVERYTHING, is_plain=True)
