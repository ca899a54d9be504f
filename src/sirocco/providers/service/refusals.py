"""What a runner is told when its request cannot be read."""


class BadRequest(Exception):  # noqa: N818 - it names what the runner sent
    """A request that is not of the form that the contract gives it."""
