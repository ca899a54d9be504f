"""State entries in the form for providers that implement only the standard; pure.

Scenarios write `resource: kind/name` with free keys next to it. Some providers read that, others only the form into
which the Go runner converts it: `kind`, `name`, and a `spec` with everything else. Both are sent, and a provider that
reads one form ignores the other.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sirocco.oasis.scenario import StateEntry

_TOP = ("namespace", "zone", "labels", "annotations", "data")
_TEXTS = ("labels", "annotations", "data")


def in_both_forms(entries: Iterable[StateEntry]) -> list[dict[str, Any]]:
    """Entries with both forms in one mapping: as written, and split into kind, name and spec."""
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
