"""The port to other processes, on this machine or elsewhere, that do part of a run's work."""

from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Job(Protocol[Result_co]):
    """Work that depends on nothing but itself and on what every worker has, so that any worker may do it, and twice.

    It travels as a pickle.
    """

    async def perform(self, site: Any) -> Result_co:
        """Do it in a worker; `site` is what wiring has put together there."""
        ...


class Workforce(Protocol):
    """Port: processes that do jobs."""

    async def perform(self, job: Job[Result]) -> Result:
        """What the job comes to; one whose worker is lost is done again by another."""
        ...
