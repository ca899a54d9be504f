"""The form in which a type's validation rules are listed."""

from collections.abc import Callable

from kubesim.discovery.catalogue import Resource
from kubesim.status import Cause, Json

CreationRule = Callable[[Resource, Json], list[Cause]]
"""All that is wrong with a new object of the type."""
UpdateRule = Callable[[Resource, Json, Json], list[Cause]]
"""All that is wrong with a new state (first) of an old object (second)."""
