"""The clock, which is read only here; everything else receives the time."""

from datetime import UTC, date, datetime
from functools import lru_cache
from time import time_ns


def utc_now() -> str:
    """The time as RFC 3339 with microseconds, in UTC."""
    seconds, nanoseconds = divmod(time_ns(), 1_000_000_000)
    return f"{_second_text(seconds)}.{nanoseconds // 1000:06}Z"


def today() -> date:
    """Today's date in UTC."""
    return date.fromisoformat(utc_now()[:10])


@lru_cache(maxsize=1)
def _second_text(seconds: int) -> str:
    """A second as text, cached: a run asks for the time dozens of times per unit."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def run_name() -> str:
    """A directory name for a run that starts now."""
    return datetime.now(UTC).strftime("%Y%m%d-%H%M%S")  # noqa: TID251 - this is the one place
