"""The elements of an instant vector, and what their labels say."""

from collections.abc import Iterable
from typing import NamedTuple

from kubesim.services.prometheus.series import NAME, Labels

LabelKey = tuple[tuple[str, str], ...]


class Sample(NamedTuple):
    """One element: labels and a value."""

    labels: Labels
    value: float


def without_name(labels: Labels) -> dict[str, str]:
    """The labels of something that is no longer the metric itself."""
    return {label: value for label, value in labels.items() if label != NAME}


def key_of(labels: Labels, only: Iterable[str] | None = None, without: Iterable[str] = ()) -> LabelKey:
    """Labels in a form that can be compared: all but the name and those left out, or only some."""
    if only is not None:
        return tuple(sorted((label, labels[label]) for label in set(only) if label in labels))
    left_out = {NAME, *without}
    return tuple(sorted((label, value) for label, value in labels.items() if label not in left_out))
