"""The real time: read only here, and passed in everywhere else."""

from datetime import UTC, datetime


def utc_now() -> str:
    """The time as RFC 3339 with microseconds, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")  # noqa: TID251 - this is the one place
