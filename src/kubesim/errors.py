"""What a caller of this package can get wrong, as errors: where, problem, remedy."""


class KubesimError(Exception):
    """Something that was given cannot be used."""

    def __init__(self, where: object, problem: str, remedy: str) -> None:
        self.where, self.problem, self.remedy = str(where), problem, remedy
        super().__init__(f"{where}: {problem}; {remedy}")
