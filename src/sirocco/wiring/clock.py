"""The clock, read here and passed in everywhere else."""

from datetime import UTC, datetime


def utc_now() -> str:
    """The time as RFC 3339 with microseconds, in UTC."""
    # A run asks dozens of times a unit, and strftime takes three times as long.
    return datetime.now(UTC).isoformat(timespec="microseconds")[:-6] + "Z"  # noqa: TID251 - this is the one place


def run_name() -> str:
    """A directory name for a run that starts now."""
    return datetime.now(UTC).strftime("%Y%m%d-%H%M%S")  # noqa: TID251 - this is the one place
