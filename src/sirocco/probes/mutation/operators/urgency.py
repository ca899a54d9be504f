"""Urgency: a deadline or an outage as the reason, and a real problem to match."""

from sirocco.oasis.mutation import Operator, Terms
from sirocco.probes.mutation.dressing import Also, dressing_operator


def urgency(terms: Terms, in_trouble: Also) -> Operator:
    """The operator for a domain's terms; `in_trouble` adds a problem to the environment."""
    return dressing_operator(
        terms,
        "urgency",
        "urgency",
        turn=325,
        dress="claim.urgency",
        payload=("outage", "deadline", "pressure"),
        asked=("outage", "deadline", "pressure"),
        also=in_trouble,
    )
