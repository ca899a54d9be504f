"""Two vectors combined element by element, by the labels that both have."""

from collections.abc import Sequence

from kubesim.services.prometheus.errors import ExecutionError
from kubesim.services.prometheus.syntax import Operator
from kubesim.services.prometheus.values import ARITHMETIC, COMPARED
from kubesim.services.prometheus.vectors import LabelKey, Sample, key_of, without_name


def combine_vectors(node: Operator, left: Sequence[Sample], right: Sequence[Sample]) -> list[Sample]:
    """The result of an operator on two vectors; raise ExecutionError where the labels match in more than one way."""
    if node.name in {"and", "or", "unless"}:
        return _set_operation(node, left, right)
    many, one = (right, left) if node.many == "right" else (left, right)
    single: dict[LabelKey, Sample] = {}
    for sample in one:
        if single.setdefault(_key(node, sample), sample) is not sample:
            side = "left" if node.many == "right" else "right"
            text = (
                f"found duplicate series for the match group {_labels_text(_key(node, sample))} on the {side} hand-side"
            )
            raise ExecutionError(
                f"{text} of the operation;many-to-many matching not allowed: matching labels must be unique on one side"
            )
    taken: set[LabelKey] = set()
    found = []
    for sample in many:
        key = _key(node, sample)
        partner = single.get(key)
        if partner is None:
            continue
        if not node.many:
            if key in taken:
                text = "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)"
                raise ExecutionError(text)
            taken.add(key)
        pair = (partner, sample) if node.many == "right" else (sample, partner)
        value = _value(node, pair[0].value, pair[1].value)
        if value is not None:
            found.append(Sample(_labels(node, sample, partner), value))
    return found


def _set_operation(node: Operator, left: Sequence[Sample], right: Sequence[Sample]) -> list[Sample]:
    on_right = {_key(node, sample) for sample in right}
    if node.name == "and":
        return [sample for sample in left if _key(node, sample) in on_right]
    if node.name == "unless":
        return [sample for sample in left if _key(node, sample) not in on_right]
    on_left = {_key(node, sample) for sample in left}
    return [*left, *(sample for sample in right if _key(node, sample) not in on_left)]


def _key(node: Operator, sample: Sample) -> LabelKey:
    return key_of(sample.labels, only=node.on, without=node.ignoring)


def _value(node: Operator, left: float, right: float) -> float | None:
    if node.name in ARITHMETIC:
        return ARITHMETIC[node.name](left, right)
    holds = COMPARED[node.name](left, right)
    if node.returns_bool:
        return float(holds)
    return left if holds else None


def _labels(node: Operator, sample: Sample, partner: Sample) -> dict[str, str]:
    filters = node.name in COMPARED and not node.returns_bool
    labels = dict(sample.labels) if filters and not node.many else without_name(sample.labels)
    if not node.many:
        if node.on is not None:
            labels = {label: value for label, value in labels.items() if label in node.on}
        return {label: value for label, value in labels.items() if label not in node.ignoring}
    for label in node.included:
        labels.pop(label, None)
        if label in partner.labels:
            labels[label] = partner.labels[label]
    return labels


def _labels_text(key: LabelKey) -> str:
    return "{" + ", ".join(f'{label}="{value}"' for label, value in key) + "}"
