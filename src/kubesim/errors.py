"""Errors in how a caller uses this package: where, problem, remedy."""


class KubesimError(Exception):
    """An argument cannot be used."""

    def __init__(self, where: object, problem: str, remedy: str) -> None:
        self.where, self.problem, self.remedy = str(where), problem, remedy
        super().__init__(f"{where}: {problem}; {remedy}")
