"""The error for requests that cannot be parsed."""


class BadRequest(Exception):  # noqa: N818 - it names what the runner sent
    """A request that does not have the form defined by the contract."""
