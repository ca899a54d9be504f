"""Bands: how an archetype turns behaviours into a score; they belong to the profile, never to a scenario (AV-16)."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from sirocco.oasis.noun import Noun

_ASSERTED = ("must.", "must_not.", "conditional.")


class Shows(Noun):
    """A behaviour was shown, completely or at least in the given share of its parts."""

    behavior: str
    at_least: float = Field(default=1.0, gt=0, le=1)


class AllOf(Noun):
    """All of the conditions are met."""

    all: tuple["Condition", ...] = Field(min_length=1)


class OneOf(Noun):
    """At least one of the conditions is met."""

    any: tuple["Condition", ...] = Field(min_length=1)


class NotMet(Noun):
    """The condition is not met."""

    no: "Condition"


class Verified(Noun):
    """Every check in the named parts of the scenario that counts for its archetype holds."""

    verified: Literal["assertions", "verification", "all"]

    def is_about(self, check: str) -> bool:
        """Whether a check belongs to the named part, by its id."""
        return self.verified == "all" or check.startswith(_ASSERTED) is (self.verified == "assertions")


class PrimitiveName(StrEnum):
    """The standard's registry of questions that a template may ask about an agent's output."""

    NAMED_IN_OUTPUT = "named_in_output"
    FACTOR_IDENTIFIED = "factor_identified"
    WITHIN_STEP_BUDGET = "within_step_budget"


class Primitive(Noun):
    """A question from the registry, with the values that a scenario binds to the roles of its template."""

    primitive: PrimitiveName
    identifiers: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    exclude_tool_echo: bool = False
    steps: int = 0

    def __str__(self) -> str:
        bound = self.steps if self.primitive is PrimitiveName.WITHIN_STEP_BUDGET else ", ".join(self.identifiers)
        return f"{self.primitive}({bound})"


def _keys(value: Any) -> Iterable[str]:
    return value if isinstance(value, dict) else type(value).model_fields if isinstance(value, Noun) else ()


def _form(value: Any) -> str | None:
    """The form in which a condition is written; a bare name is a behaviour. None unless there is exactly one form."""
    if isinstance(value, str):
        return "<name>"
    found = [f"<{key}>" for key in ("all", "any", "no", "verified", "primitive", "behavior") if key in _keys(value)]
    return None if len(found) > 1 else found[0] if found else "<behavior>"


# The brackets keep error paths from showing a tag as if it were a key of the document.
Condition = Annotated[
    Annotated[str, Field(min_length=1), Tag("<name>")]
    | Annotated[Shows, Tag("<behavior>")]
    | Annotated[AllOf, Tag("<all>")]
    | Annotated[OneOf, Tag("<any>")]
    | Annotated[NotMet, Tag("<no>")]
    | Annotated[Verified, Tag("<verified>")]
    | Annotated[Primitive, Tag("<primitive>")],
    Discriminator(
        _form,
        custom_error_type="condition",
        custom_error_message="a condition has exactly one of behavior, all, any, no, verified and primitive",
    ),
]


class Share(Noun):
    """A score in proportion to how much of a behaviour was shown."""

    share_of: str
    times: float = Field(default=1.0, gt=0, le=1)
    at_most: float = Field(default=1.0, gt=0, le=1)


class Deduction(Noun):
    """A score with a deduction for each part of a behaviour that was not shown."""

    start: float = Field(default=1.0, alias="from", ge=0, le=1)
    minus: float = Field(gt=0, le=1)
    for_each_missing: str


def checked_score(value: Any) -> Any:
    """Refuse a bare `proportional`: a rubric may leave it at that, but a band must say in proportion to what."""
    if isinstance(value, str | bool):
        raise ValueError(f"{value!r} is not a score; write a number, {{share_of: BEHAVIOUR}} or {{minus: NUMBER, "  # noqa: TRY004 - pydantic's
                         "for_each_missing: BEHAVIOUR}")  # fmt: skip
    return value


def _kind_of_score(value: Any) -> str:
    keys = _keys(value)
    if "for_each_missing" in keys or "minus" in keys:
        return "<deduction>"
    return "<share>" if isinstance(value, dict | Noun) else "<number>"


ScoreRule = Annotated[
    Annotated[float, Field(ge=0, le=1), Tag("<number>")]
    | Annotated[Share, Tag("<share>")]
    | Annotated[Deduction, Tag("<deduction>")],
    Discriminator(_kind_of_score),
    BeforeValidator(checked_score),
]


class Band(Noun):
    """One row of an archetype's model: the first row whose condition is met gives the score.

    The last has no condition.
    """

    band: str = Field(min_length=1)
    score: ScoreRule
    when: Condition | None = None


class TemplateRow(Noun):
    """One row: the first row whose predicate holds gives the score; the last has no predicate.

    A predicate is written as calls of primitives, as in `not within_step_budget(step_budget)`, joined by `and`. Their
    arguments are roles.
    """

    band: str = Field(min_length=1)
    score: float = Field(ge=0, le=1)
    when: str | None = None


class ScoringTemplate(Noun):
    """The bands of one archetype; `permitted` limits the values of a role where the profile does."""

    rows: tuple[TemplateRow, ...] = Field(min_length=2)
    permitted: Mapping[str, tuple[str, ...]] = {}


class LearnedWords(Noun):
    """The credit that an answer to a probe forfeits if it was learned from published scenarios, which are exempt.

    With `foreign_names`, mentioning a name that only published scenarios contain forfeits every check of words. With
    `own_names`, words count only in an answer that names something from the probe's own ground truth.
    """

    foreign_names: Literal["forfeit", "ignore"] = "forfeit"
    own_names: Literal["required", "ignore"] = "required"


def conditions_in(condition: Condition | None) -> Iterator[str | Shows | Verified | Primitive]:
    """The conditions that a condition is composed of."""
    match condition:
        case AllOf():
            yield from (one for part in condition.all for one in conditions_in(part))
        case OneOf():
            yield from (one for part in condition.any for one in conditions_in(part))
        case NotMet():
            yield from conditions_in(condition.no)
        case None:
            return
        case _:
            yield condition


def behaviors_in(condition: Condition | None) -> Iterator[str]:
    """The behaviours that a condition refers to."""
    for one in conditions_in(condition):
        match one:
            case str():
                yield one
            case Shows():
                yield one.behavior


def behaviors_of_band(band: Band) -> tuple[str, ...]:
    """Every behaviour that decides whether the band applies or what score it gives."""
    named = list(behaviors_in(band.when))
    match band.score:
        case Share(share_of=behavior) | Deduction(for_each_missing=behavior):
            named.append(behavior)
    return tuple(dict.fromkeys(named))


def condition_text(condition: Condition | None) -> str:
    """A condition in readable form, such as `execute_plan and not (a or b)`; `always` for none."""
    match condition:
        case None:
            return "always"
        case Shows(behavior=behavior, at_least=at_least):
            return behavior if at_least == 1 else f"at least {at_least:g} of {behavior}"
        case AllOf():
            return " and ".join(_grouped_text(part) for part in condition.all)
        case OneOf():
            return " or ".join(_grouped_text(part) for part in condition.any)
        case NotMet():
            return f"not {_grouped_text(condition.no)}"
        case Verified(verified="all"):
            return "all checks hold"
        case Verified(verified=part):
            return f"the checks of {part} hold"
        case Primitive():
            return str(condition)
        case _:
            return condition


def said_score(score: float | Share | Deduction) -> str:
    """A score in readable form."""
    match score:
        case Share(share_of=behavior, times=times, at_most=at_most):
            share = f"the share of {behavior}" + (f", times {times:g}" if times != 1 else "")
            return share + (f", at most {at_most:g}" if at_most != 1 else "")
        case Deduction(start=start, minus=minus, for_each_missing=behavior):
            return f"{start:g}, less {minus:g} for each missing part of {behavior}"
        case _:
            return f"{score:.2f}".rstrip("0").ljust(3, "0")


def _grouped_text(condition: Condition) -> str:
    text = condition_text(condition)
    several = isinstance(condition, AllOf | OneOf) and " " in text and len(list(conditions_in(condition))) > 1
    return f"({text})" if several else text
