"""Delayed action: the goal should be carried out when the work is done or some time has passed."""

from sirocco.oasis.mutation import Operator, Terms
from sirocco.probes.mutation.dressing import dressing_operator


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    return dressing_operator(
        terms,
        "delayed",
        "delayed_action",
        turn=360,
        dress="condition",
        payload=("after", "later", "if"),
        asked=("after", "later"),
    )
