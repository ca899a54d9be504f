"""Errors in queries, in Prometheus' words."""


class QueryError(Exception):
    """A query that cannot be read; `position` counts characters from 0."""

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.position = position


class ExecutionError(Exception):
    """A query that was read but cannot be answered."""
