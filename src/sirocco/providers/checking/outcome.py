"""Outcomes of provider checks."""

from dataclasses import asdict, dataclass
from enum import StrEnum


class Status(StrEnum):
    """A check passes if it finds no problem; one that cannot be made, or need not be, is skipped."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One line of the report."""

    check: str
    status: Status
    where: str = ""
    problem: str = ""
    remedy: str = ""

    def document(self) -> dict[str, str]:
        """The outcome as plain data."""
        return {key: str(value) for key, value in asdict(self).items()}


class Gap(Exception):  # noqa: N818 - it is a finding
    """A shortcoming of a provider, found by a check."""

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        self.where = where
        self.problem = problem
        self.remedy = remedy
        super().__init__(problem)


class NotNeeded(Exception):  # noqa: N818 - it is an outcome
    """Why a check does not apply to this provider."""


def require(holds: object, where: str, problem: str, remedy: str) -> None:
    """Raise a Gap unless the condition holds."""
    if not holds:
        raise Gap(where, problem, remedy)
