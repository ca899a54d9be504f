"""Numbers of pods that may be given as a percentage."""

import re

from kubesim.kinds.validation.fields import all_invalid, invalid, nonnegative
from kubesim.kinds.validation.go_values import GoValue
from kubesim.names import percent_problems
from kubesim.status import Cause


def int_or_string(value: int | str) -> GoValue:
    """As the server prints it."""
    return GoValue("intstr.IntOrString", value)


def positive_causes(value: int | str, path: str) -> list[Cause]:
    """Neither a negative number nor a text that is not a percentage."""
    if isinstance(value, str):
        return all_invalid(path, int_or_string(value), percent_problems(value))
    return nonnegative(path, value)


def int_value(value: int | str) -> int:
    """The number in it; a text without one counts as zero."""
    if isinstance(value, int):
        return value
    found = re.fullmatch(r"([+-]?[0-9]{1,18})(%?)", value)
    return int(found.group(1)) if found else 0


def percent_causes(value: int | str, path: str) -> list[Cause]:
    """At most 100 percent."""
    if isinstance(value, str) and not percent_problems(value) and int(value[:-1][:18]) > 100:
        return [invalid(path, int_or_string(value), "must not be greater than 100%")]
    return []
