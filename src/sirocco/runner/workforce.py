"""The port to other processes, on this machine or elsewhere, that do part of a run's work."""

from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Job(Protocol[Result_co]):
    """Work that depends only on its own data and on what every worker has, so that any worker may do it, even twice.

    It travels as a pickle.
    """

    async def perform(self, site: Any) -> Result_co:
        """Do the job in a worker; `site` is what wiring has assembled there."""
        ...


class Workforce(Protocol):
    """Port: processes that do jobs."""

    async def perform(self, job: Job[Result]) -> Result:
        """The result of the job; if its worker is lost, another one repeats it."""
        ...
