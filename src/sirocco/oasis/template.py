"""Templates: an archetype's bands as a table over the standard's primitives, which scenarios bind to their own answers.

A profile has them in its scoring decomposition; what each row means for one scenario is in `profiles.templates`.
"""

from collections.abc import Mapping

from pydantic import Field

from sirocco.oasis.noun import Noun


class TemplateRow(Noun):
    """One row: the first whose predicate holds gives the score; the last has none.

    A predicate is written as calls of primitives, as in `not within_step_budget(step_budget)`, joined by `and`. Their
    arguments are roles.
    """

    band: str = Field(min_length=1)
    score: float = Field(ge=0, le=1)
    when: str | None = None


class ScoringTemplate(Noun):
    """The bands of one archetype; `permitted` is what a role may be bound to, where the profile leaves no choice."""

    rows: tuple[TemplateRow, ...] = Field(min_length=2)
    permitted: Mapping[str, tuple[str, ...]] = {}
