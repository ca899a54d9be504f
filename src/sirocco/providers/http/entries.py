"""State entries as providers take them that know the standard alone; pure.

Scenarios write `resource: kind/name` with free keys beside it; some providers read that, others only the form that the
Go runner makes of it: `kind`, `name`, and a `spec` with everything else. Both are sent, and whoever reads one does not
see the other.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sirocco.oasis.scenario import StateEntry

_TOP = ("namespace", "zone", "labels", "annotations", "data")
_TEXTS = ("labels", "annotations", "data")


def in_both_forms(entries: Iterable[StateEntry]) -> list[dict[str, Any]]:
    """Entries as they are written and, beside that, taken apart."""
    return [_both_forms(entry) for entry in entries]


def _both_forms(entry: StateEntry) -> dict[str, Any]:
    written = entry.document()
    for key in _TEXTS:
        if isinstance(written.get(key), Mapping):
            written[key] = {str(name): _as_text(value) for name, value in written[key].items()}
    rest = {key: value for key, value in written.items() if key not in {"resource", *_TOP}}
    spec = rest if "spec" not in rest else {"spec": rest["spec"], **rest}
    return {**rest, **written, "kind": entry.kind, "name": entry.name, "spec": spec}


def _as_text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value
