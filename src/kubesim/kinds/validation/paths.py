"""What the server refuses in paths of files."""

from kubesim.kinds.validation.fields import invalid
from kubesim.status import Cause


def back_step_causes(target: str, path: str) -> list[Cause]:
    """A path that leads upwards."""
    return [invalid(path, target, "must not contain '..'")] if ".." in target.split("/") else []


def descending_causes(target: str, path: str) -> list[Cause]:
    """A path that must lead downwards from where it starts."""
    causes = [invalid(path, target, "must be a relative path")] if target.startswith("/") else []
    return [*causes, *back_step_causes(target, path)]


def unreserved_causes(target: str, path: str) -> list[Cause]:
    """A path that must lead downwards and must not begin with two dots."""
    causes = descending_causes(target, path)
    if target.startswith("..") and not target.startswith("../"):
        causes.append(invalid(path, target, "must not start with '..'"))
    return causes
