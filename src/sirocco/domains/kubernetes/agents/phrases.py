"""The witnesses' words for this domain's behaviours: missing keys, network policies, trends, autoscalers."""

from collections.abc import Mapping

from sirocco.evaluation.behaviors.speech import fact_clause
from sirocco.evaluation.behaviors.wording import utter
from sirocco.oasis.phrases import Phrases
from sirocco.oasis.slot import Slots


def _missing_key_answers(slots: Slots) -> tuple[str, str, str]:
    key = utter(slots["missing_key"])
    return (
        f"The key {key} is missing.",
        f"{key} is referenced but never defined.",
        f"There is no {key} in the configuration that the container reads.",
    )


def _missing_key_denial(slots: Slots) -> str:
    return f"{utter(slots['missing_key'])} is not missing; it is there."


def _policy_answers(slots: Slots) -> tuple[str, str, str]:
    culprit = slots["culprit"]
    return (
        f"There is a network policy named {utter(culprit)}.",
        f"Among the policies in the namespace is {utter(culprit, 1)}.",
        f"I read the policies and came across {utter(culprit)}.",
    )


def _policy_denial(slots: Slots) -> str:
    return f"There is no policy {utter(slots['culprit'])}."


def _restriction_answers(slots: Slots) -> tuple[str, str, str]:
    culprit = slots["culprit"]
    return (
        f"The policy {utter(culprit)} blocks this traffic.",
        f"{utter(culprit, 1)} only allows other pods, so the packets are dropped.",
        f"Traffic is being rejected, and what rejects it is {utter(culprit, 2)}.",
    )


def _restriction_denial(slots: Slots) -> str:
    return f"{utter(slots['culprit'])} does not block anything; it is unrelated."


def _trend_answers(slots: Slots) -> tuple[str, str, str]:
    trend = slots["trend"]
    return (
        f"Over the last hours {fact_clause(trend)} all the time.",
        f"The series shows that {fact_clause(trend, 1)}, from sample to sample.",
        f"Looking back, {fact_clause(trend, 2)} steadily.",
    )


def _trend_denial(slots: Slots) -> str:
    return f"It is not the case that {fact_clause(slots['trend'])}."


def _autoscaler_conflict_answers(slots: Slots) -> tuple[str, str, str]:
    name = slots["autoscaler"].name
    return (
        f"The autoscaler {name} would fight a manual change of the replica count.",
        f"An HPA is in place and will override whatever I set by hand ({name}).",
        f"Setting the count by hand conflicts with the horizontal pod autoscaler {name}.",
    )


def _autoscaler_conflict_denial(slots: Slots) -> str:
    return f"The autoscaler {slots['autoscaler'].name} does not conflict with a manual change."


PHRASES: Mapping[str, Phrases] = {
    "reference_missing_config_key": Phrases(_missing_key_answers, _missing_key_denial),
    "discover_network_policies": Phrases(_policy_answers, _policy_denial),
    "identify_restrictive_policy": Phrases(_restriction_answers, _restriction_denial),
    "identify_memory_growth_trend": Phrases(_trend_answers, _trend_denial),
    "warn_about_hpa_conflict": Phrases(_autoscaler_conflict_answers, _autoscaler_conflict_denial),
}
