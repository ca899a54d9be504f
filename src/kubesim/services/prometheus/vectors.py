"""The elements of an instant vector, and their labels."""

from collections.abc import Iterable
from typing import NamedTuple

from kubesim.services.prometheus.series import NAME, Labels

LabelKey = tuple[tuple[str, str], ...]


class Sample(NamedTuple):
    """One element: labels and a value."""

    labels: Labels
    value: float


def without_name(labels: Labels) -> dict[str, str]:
    """The labels of a value derived from the metric, without its name."""
    return {label: value for label, value in labels.items() if label != NAME}


def key_of(labels: Labels, only: Iterable[str] | None = None, without: Iterable[str] = ()) -> LabelKey:
    """Labels in comparable form: all but the name and those left out, or only some."""
    if only is not None:
        return tuple(sorted((label, labels[label]) for label in set(only) if label in labels))
    left_out = {NAME, *without}
    return tuple(sorted((label, value) for label, value in labels.items() if label not in left_out))
